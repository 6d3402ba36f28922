package replica

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redfence/redfence/fsm"
)

// P8. A share that is small is never counted; a large one waits in turn, holding
// nothing, and is told when that takes too long.
func TestBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBudget(1 << 20)
		holder, small, second := b.Share(), b.Share(), b.Share()
		if !holder.Add(1 << 20) {
			t.Fatal("an empty budget has no room")
		}
		if !small.Add(ReplyFree) || small.Counted() {
			t.Error("a small reply is counted")
		}
		if second.Add(1 << 20) {
			t.Error("there was room for twice as much as there is")
		}
		began := time.Now()
		if err := second.Wait(t.Context(), 1<<20); !errors.Is(err, ErrRepliesFull) || time.Since(began) != replyWait {
			t.Errorf("%v after %v", err, time.Since(began))
		}
		granted := make(chan error, 1)
		go func() { granted <- second.Wait(t.Context(), 1<<20) }()
		synctest.Wait()
		if third := b.Share(); third.Add(ReplyFree + 1) {
			t.Error("who came later was served first")
		}
		holder.Release()
		if err := <-granted; err != nil {
			t.Error(err)
		}
		if !second.Add(1 << 19) {
			t.Error("what was waited for is not there")
		}
		second.Trim()
		if used := b.Used(); used != 1<<19-ReplyFree {
			t.Errorf("%d bytes are in use", used)
		}
		second.Release()
		holder.Force(5 << 20)
		if !b.Full() || b.Used() != 5<<20-ReplyFree {
			t.Errorf("%d bytes are in use", b.Used())
		}
		holder.Release()
		if err := second.Wait(t.Context(), 9<<20); err != nil { // larger than all there is: alone
			t.Error(err)
		}
		second.Release()
		if used := b.Used(); used != 0 {
			t.Errorf("%d bytes are never given back", used)
		}
	})
}

// large makes a list of some 1.3 MB as replies go.
func large(t *testing.T, n *Node) { bigList(t, n, 20_000) }

// P8. A pipeline is answered as far as there is room, on the leader and through a
// follower, with reads alone and behind a write; what is held comes back.
func TestPipelineIsCutByItsReplies(t *testing.T) {
	c := newCluster(t, 3)
	leader := c.leader()
	large(t, c.nodes[leader])
	for _, n := range []*Node{c.nodes[leader], c.nodes[c.another(leader)]} {
		for _, first := range [][]string{{"lrange", "l", "0", "-1"}, {"set", "x", "1"}} {
			pipeline := []fsm.Command{{Args: first}}
			for range 50 {
				pipeline = append(pipeline, fsm.Command{Args: []string{"lrange", "l", "0", "-1"}})
			}
			share, rounds := n.Replies().Share(), 0
			for left := pipeline; len(left) > 0; rounds++ {
				answers, err := n.DoSome(t.Context(), client("x"), left, share)
				if err != nil || len(answers) == 0 {
					t.Fatalf("%d answers, %v", len(answers), err)
				}
				for i := range answers {
					if left[i].Args[0] == "lrange" && len(answers[i].Value.Elems) != 20_000 {
						t.Fatalf("%.100v", answers[i].Value)
					}
				}
				if used := n.Replies().Used(); used > 60<<20 {
					t.Errorf("replies of %d MB at once", used>>20)
				}
				left = left[len(answers):]
				share.Release()
			}
			if rounds < 3 {
				t.Errorf("%s: everything was answered in %d rounds", strings.Join(first, " "), rounds)
			}
			if used := n.Replies().Used(); used != 0 {
				t.Errorf("%d bytes are never given back", used)
			}
		}
	}
}

// P8, P9. While nobody reads what was made, large replies are refused, in lone reads
// and in the log, and change nothing; small ones and writes are served.
func TestWithoutRoomForReplies(t *testing.T) {
	c := newCluster(t, 3, func(cfg *Config) { cfg.NoLeaderWait, cfg.AnswerWait = time.Second, time.Second })
	leader := c.leader()
	large(t, c.nodes[leader])
	for _, n := range []*Node{c.nodes[leader], c.nodes[c.another(leader)]} {
		greedy := n.Replies().Share()
		greedy.Force(RepliesMax + ReplyFree)
		for _, commands := range [][]string{{"lrange l 0 -1"}, {"set x 1", "lrange l 0 -1"}} {
			var pipeline []fsm.Command
			for _, words := range commands {
				pipeline = append(pipeline, fsm.Command{Args: strings.Fields(words)})
			}
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			if _, err := n.Do(ctx, client("x"), pipeline); !errors.Is(err, ErrRepliesFull) && !errors.Is(err, ErrTooBusy) {
				t.Errorf("%q: %v", commands, err)
			}
			cancel()
		}
		if v := do(t, n, "exists", "x"); v.Int != 0 {
			t.Error("what was refused was executed")
		}
		do(t, n, "set", "y", "1")
		if v := do(t, n, "get", "y"); v.Str != "1" {
			t.Errorf("a small read got %v", v)
		}
		greedy.Release()
		if v := do(t, n, "lrange", "l", "0", "-1"); len(v.Elems) != 20_000 {
			t.Errorf("with room again: %.100v", v)
		}
	}
}
