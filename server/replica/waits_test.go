package replica

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redfence/redfence/fsm"
	"github.com/redfence/redfence/fsm/reply"
)

// blocked is a command that waits, as a connection sees it.
type blocked struct {
	Waiting
	woken chan struct{}
}

// block starts a blocking command, which must wait.
func block(t *testing.T, n *Node, args ...string) *blocked {
	t.Helper()
	b := &blocked{woken: make(chan struct{}, 1)}
	answers, w, err := n.Block(t.Context(), fsm.Client{}, []fsm.Command{command(args...)}, n.Replies().Share(), func() { b.woken <- struct{}{} })
	if err != nil || w == nil {
		t.Fatalf("%q does not wait: %+v %v", args, answers, err)
	}
	b.Waiting = w
	return b
}

// gets waits for the answer.
func (b *blocked) gets(t *testing.T, want reply.Value) {
	t.Helper()
	select {
	case <-b.woken:
	case <-time.After(10 * time.Second):
		t.Fatal("nobody has answered the command that waits")
	}
	a, ok := b.Answer()
	if !ok {
		t.Fatal("it was woken without an answer")
	}
	wantReply(t, a.Value, want)
}

func (b *blocked) waits(t *testing.T) {
	t.Helper()
	if a, ok := b.Answer(); ok {
		t.Fatalf("it was answered %+v", a)
	}
}

func popped(key, text string) reply.Value { return reply.List(reply.String(key), reply.String(text)) }

func waiting(c *cluster, n int) func() bool {
	return func() bool {
		for _, node := range c.nodes {
			if node == nil {
				continue
			}
			got := 0
			node.machine.look(func(s *fsm.State) { got = s.Waiting() })
			if got != n {
				return false
			}
		}
		return true
	}
}

// Who waits on any node is served in the order of arrival, by a push on any
// other, and the machine forgets replies that were delivered.
func TestWaitersOnEveryNodeAreServedInOrder(t *testing.T) {
	c := newCluster(t, 3)
	var line []*blocked
	for i := range 9 {
		line = append(line, block(t, c.nodes[i%3], "blpop", "l", "0"))
	}
	for i := range line {
		do(t, c.nodes[(i+1)%3], "rpush", "l", fmt.Sprint(i))
		line[i].gets(t, popped("l", fmt.Sprint(i)))
		if i+1 < len(line) {
			line[i+1].waits(t)
		}
	}
	for _, n := range c.nodes {
		do(t, n, "incr", "c") // brings what is settled
	}
	eventually(t, 5*time.Second, "no reply is kept", func() bool {
		kept := 0
		c.nodes[0].machine.look(func(s *fsm.State) { kept = s.KeptReplies() })
		return kept == 0
	})
}

// Promise 6: who waits on a node that survives is answered once, whatever
// happens to the leader between the wait and the push.
func TestWaitersOutliveTheLeader(t *testing.T) {
	c := newCluster(t, 3)
	leader := c.leader()
	survivor := c.another(leader)
	other := c.another(leader, survivor)
	first, second := block(t, c.nodes[survivor], "blpop", "l", "0"), block(t, c.nodes[other], "brpop", "l", "0")
	c.kill(leader)
	wantReply(t, do(t, c.nodes[other], "rpush", "l", "a", "b", "c"), reply.Integer(3))
	first.gets(t, popped("l", "a"))
	second.gets(t, popped("l", "c"))
	wantReply(t, do(t, c.nodes[survivor], "lrange", "l", "0", "-1"), reply.List(reply.String("b")))
}

// A reply that is too large to be pushed needn't wait for somebody's next write.
func TestLargeReplyComesAtOnce(t *testing.T) {
	c := newCluster(t, 3)
	leader := c.leader()
	large := strings.Repeat("x", 2*wokenPushMax)
	best := time.Hour
	for range 3 {
		line := block(t, c.nodes[c.another(leader)], "blpop", "l", "0")
		eventually(t, 5*time.Second, "it waits", waiting(c, 1))
		began := time.Now()
		do(t, c.nodes[leader], "rpush", "l", large)
		line.gets(t, popped("l", large))
		best = min(best, time.Since(began))
	}
	if best > commitTimeout*4/5 {
		t.Errorf("it came after %v", best)
	}
}

// The waits of a node that is gone end within a few seconds, those of the others
// keep their order.
func TestWaitsOfADeadNodeEnd(t *testing.T) {
	c := newCluster(t, 3)
	leader := c.leader()
	dies := c.another(leader)
	block(t, c.nodes[dies], "blpop", "l", "0")
	alive := block(t, c.nodes[c.another(leader, dies)], "blpop", "l", "0")
	eventually(t, 5*time.Second, "two wait", waiting(c, 2))
	c.kill(dies)
	eventually(t, 10*time.Second, "one waits", waiting(c, 1))
	do(t, c.nodes[leader], "rpush", "l", "x")
	alive.gets(t, popped("l", "x"))
}

// A wait that ends by itself is over for good; what came first decides.
func TestWaitEndsByAnEntry(t *testing.T) {
	c := newCluster(t, 3)
	n := c.nodes[c.another(c.leader())]
	first, second, third := block(t, n, "blpop", "l", "0"), block(t, n, "blpop", "l", "0"), block(t, n, "blpop", "l", "0")
	if unserved, err := first.End(context.Background()); !unserved || err != nil {
		t.Fatalf("the end of a wait: %v %v", unserved, err)
	}
	second.Leave()
	eventually(t, 5*time.Second, "one waits", waiting(c, 1))
	do(t, n, "rpush", "l", "x")
	third.gets(t, popped("l", "x"))
	if unserved, err := third.End(context.Background()); unserved || err != nil {
		t.Fatalf("the end of a wait that was served: %v %v", unserved, err)
	}
	first.waits(t)
}

// What can be served at once does not wait, and what is wrong is told.
func TestBlockThatNeedNotWait(t *testing.T) {
	n := newCluster(t, 1).nodes[0]
	do(t, n, "rpush", "l", "x")
	wake := func() { t.Error("nothing waits") }
	answers, w, err := n.Block(t.Context(), fsm.Client{}, []fsm.Command{command("get", "k"), command("blpop", "l", "0")}, n.Replies().Share(), wake)
	if err != nil || w != nil {
		t.Fatal(w, err)
	}
	wantReply(t, answers[1].Value, popped("l", "x"))
	answers, w, err = n.Block(t.Context(), fsm.Client{}, []fsm.Command{command("blpop", "l", "x")}, n.Replies().Share(), wake)
	if err != nil || w != nil || !answers[0].Value.IsError() {
		t.Fatal(answers, w, err)
	}
}

// A part whose caller has given up may begin to wait afterwards: the machine is
// told with the next batch, even if nothing else is sent.
func TestSettledTicketsTravelAlone(t *testing.T) {
	b := newBench(t)
	w := b.beginWait(nil, func() {})
	p := newPart(context.Background(), cmds("blpop", "l", "0"))
	p.cmds[0].Ticket = w.ticket
	if err := b.submit(p); err != nil {
		t.Fatal(err)
	}
	b.sees("1:l")
	b.endWait(w, true)
	x := b.take("leader", fsm.BatchBytes)
	if x == nil || x.Number != 2 || x.Cancel || len(x.Settled) != 1 || x.Settled[0] != w.ticket {
		t.Fatalf("the leader sees %+v", x)
	}
	b.sees("")
	b.aim(nil, nil)
	b.aim("leader", nil)
	b.sees("1:l")
	if again := b.take("leader", fsm.BatchBytes); len(again.Settled) != 1 || again.Cancel {
		t.Fatalf("the second time the leader sees %+v", again)
	}
}

// An origin that is closed knows no more what became of its waits.
func TestWaitsOfAClosedOrigin(t *testing.T) {
	b := newBench(t)
	woken := 0
	w := b.beginWait(nil, func() { woken++ })
	p := newPart(context.Background(), cmds("blpop", "l", "0"))
	p.cmds[0].Ticket = w.ticket
	if err := b.submit(p); err != nil {
		t.Fatal(err)
	}
	b.sees("1:l")
	b.resolve(&fsm.BatchResult{Origin: 9, Number: 1, Answers: []fsm.Answer{{Value: fsm.Waits}}})
	b.put("a")
	b.sees("2:a")
	b.result(2, fsm.Closed, 0)
	if a, ok := w.Answer(); !ok || a.Value.Str != fsm.ErrUnknownOutcome.Str || woken != 1 {
		t.Fatalf("got %+v %v, woken %d times", a, ok, woken)
	}
	b.woken(&fsm.Woken{Origin: 9, Ticket: w.ticket})
	if woken != 1 {
		t.Error("it was woken twice")
	}
}

// A node that gets a snapshot in place of the entries that served who waits here
// finds the replies in it.
func TestWaitsOfARestoredMachine(t *testing.T) {
	c := newCluster(t, 1)
	n := c.nodes[0]
	served, lost, still := block(t, n, "blpop", "l", "0"), block(t, n, "blpop", "m", "0"), block(t, n, "blpop", "k", "0")
	n.machine.mu.Lock()
	var b bytes.Buffer
	_, err := n.machine.state.Snapshot().WriteTo(&b)
	n.machine.mu.Unlock()
	if err != nil {
		t.Fatal(err)
	}
	ahead, err := fsm.Restore(&b)
	if err != nil {
		t.Fatal(err)
	}
	// What this node has not applied: both are served, and the reply to one is settled.
	index := ahead.Applied()
	apply := func(e fsm.Entry) {
		index++
		if _, err := ahead.Apply(index, 99, fsm.AppendEntry(nil, &e)); err != nil {
			t.Fatal(err)
		}
	}
	apply(fsm.Entry{Kind: fsm.OpenOrigin, Open: fsm.Open{Node: "n1", Disk: n.identity.get().Disk, Boot: 1}}) // too old: ignored
	id, next := n.origin.id, n.origin.next
	push := fsm.Batch{Origin: id, Number: next, Clients: []fsm.Client{{}}, Commands: []fsm.Command{command("rpush", "l", "x"), command("rpush", "m", "x")}}
	apply(fsm.Entry{Kind: fsm.Batches, Batches: []fsm.Batch{push}})
	settled := fsm.Batch{Origin: id, Number: next + 1, Settled: []uint64{lost.Waiting.(*wait).ticket}}
	apply(fsm.Entry{Kind: fsm.Batches, Batches: []fsm.Batch{settled}})

	n.machine.mu.Lock()
	n.machine.install(ahead, false)
	n.machine.mu.Unlock()
	n.waitsRestored()
	served.gets(t, popped("l", "x"))
	lost.gets(t, fsm.ErrUnknownOutcome)
	still.waits(t)
}
