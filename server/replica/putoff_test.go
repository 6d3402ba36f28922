package replica

import (
	"strconv"
	"testing"
	"time"

	"github.com/redfence/redfence/fsm"
	"github.com/redfence/redfence/fsm/reply"
)

// bigList pushes n texts to the list l.
func bigList(t *testing.T, n *Node, texts int) {
	t.Helper()
	args := []string{"rpush", "l"}
	for i := range texts {
		args = append(args, strconv.Itoa(i))
	}
	do(t, n, args...)
}

// P8, P6. A pipeline of costly commands takes several entries, so that others
// come between; each of its commands is executed once and in order.
func TestCostlyPipelineTakesSeveralEntries(t *testing.T) {
	c := newCluster(t, 3)
	node := c.nodes[c.another(c.leader())]
	bigList(t, node, 50_000)
	before := c.nodes[c.leader()].Stats().EntriesApplied.Load()
	var pipeline []fsm.Command
	for i := range 100 {
		pipeline = append(pipeline, fsm.Command{Args: []string{"lrem", "l", "0", "none"}}, fsm.Command{Args: []string{"append", "order", string(rune('a' + i%26))}})
	}
	answers, err := node.Do(t.Context(), client("x"), pipeline)
	if err != nil || len(answers) != len(pipeline) {
		t.Fatalf("%d answers, %v", len(answers), err)
	}
	for i := range answers {
		want := reply.Integer(0)
		if i%2 == 1 {
			want = reply.Integer(int64(i/2 + 1))
		}
		wantReply(t, answers[i].Value, want)
	}
	order := do(t, node, "get", "order").Str
	for i := range order {
		if order[i] != byte('a'+i%26) {
			t.Fatalf("executed in the order %s", order)
		}
	}
	if n := c.nodes[c.leader()].Stats().EntriesApplied.Load() - before; n < 4 {
		t.Errorf("it took %d entries: each carried too much", n)
	}
}

// P5, P8. Reads that take long are answered whole, as of one moment, and do not
// hold the lock under which entries are applied.
func TestHeavyReadsLeaveTheLockAlone(t *testing.T) {
	n := newCluster(t, 1, func(cfg *Config) { cfg.NoLeaderWait, cfg.AnswerWait = 2*time.Second, 2*time.Second }).nodes[0]
	bigList(t, n, 50_000)
	n.machine.heavy <- struct{}{} // no heavy read is answered until this one is
	got := make(chan []fsm.Answer, 1)
	go func() {
		answers, err := n.Do(t.Context(), client("x"), cmds("lrange", "l", "0", "-1"))
		if err != nil {
			t.Error(err)
		}
		got <- answers
	}()
	do(t, n, "rpush", "l", "x") // writes go on meanwhile
	select {
	case <-got:
		t.Fatal("a read of 50,000 elements was answered under the lock")
	default:
	}
	<-n.machine.heavy
	if answers := <-got; len(answers) != 1 || len(answers[0].Value.Elems) < 50_000 {
		t.Fatalf("%.100v", answers)
	}
	// What it can't be answered in time is not executed, and says so.
	n.machine.heavy <- struct{}{}
	answers, err := n.Do(t.Context(), client("x"), cmds("lrange", "l", "0", "-1"))
	if err != nil || len(answers) != 1 || !fsm.PutOff(&answers[0]) {
		t.Fatalf("%.100v, %v", answers, err)
	}
}
