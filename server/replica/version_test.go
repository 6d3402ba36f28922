package replica

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/raft"

	"github.com/redfence/redfence/fsm"
)

// B65: an entry that this binary can't read stops the node with the place and
// the kind; nothing after it is applied.
func TestEntryOfANewerVersionStopsTheNode(t *testing.T) {
	said := make(chan error, 1)
	cfg := testConfig(t, "n1", t.TempDir())
	cfg.Fatal = func(err error) { said <- err }
	cfg.NoLeaderWait, cfg.AnswerWait = 100*time.Millisecond, 100*time.Millisecond
	n := start(t, cfg)
	ready(t, n)
	term := n.serving.Load()
	// Written around the proposer, as a newer leader would have.
	e := fsm.AppendEntry(nil, &fsm.Entry{Kind: fsm.Batches})
	e[0] = fsm.EntryVersion + 1
	future := term.raft.ApplyLog(raft.Log{Data: e}, 0)
	select {
	case err := <-said:
		for _, want := range []string{"log index", "kind 1", fmt.Sprint("version ", fsm.EntryVersion+1), "upgrade the binary"} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%q does not say %q", err, want)
			}
		}
	case <-time.After(5 * time.Second):
		t.Fatal("the node goes on")
	}
	if n.Ready() == nil {
		t.Error("it calls itself ready")
	}
	if _, err := n.Do(t.Context(), client("x"), cmds("incr", "c")); err != ErrClosed {
		t.Errorf("got %v, want %v", err, ErrClosed)
	}
	n.Close()
	// The error is that of the closed node; the index is known all the same.
	_ = future.Error()
	if applied := n.machine.applied.Load(); applied >= future.Index() {
		t.Errorf("applied up to %d: the entry at %d was skipped", applied, future.Index())
	}
}
