package fsm

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// goldenStory is a machine with something of each kind that a snapshot holds.
func goldenStory(t *testing.T) *machine {
	m := newMachine(t, 3)
	for _, command := range []string{
		"set lock owner nx px 5000", "set plain value", "incr number", "hset hash f v g w", "rpush list a b c",
		"sadd set x y", "zadd zset 1.5 m -inf n", "pexpire hash 9000", "del plain", "script load return(1)",
		"eval return(redis.call('incr',KEYS[1])) 1 number", "session.open 60000 name worker",
		"lock.acquire native o1 7000 delay 500 note text", "lock.acquire read o1 7000 shared", "lock.acquire read o2 8000 shared",
		"lock.acquire pool o1 7000 permits 2", "lock.acquire gone o1 7000", "lock.release gone o1",
	} {
		m.pass(10 * time.Millisecond)
		m.do(command)
	}
	votes := m.batch("set vote v nx px 4000", "set vote v nx px 4000")
	votes.Commands[0].Space, votes.Commands[1].Space, votes.Commands[1].DB = 1, 2, 0
	m.apply(&Entry{Kind: Batches, Seed: 7, Batches: []Batch{votes}})
	waits := m.batch("blpop nothing 0", "lock.acquire native o2 7000 wait 60000")
	waits.Commands[0].Ticket, waits.Commands[1].Ticket = 1, 2
	m.apply(&Entry{Kind: Batches, Seed: 8, Batches: []Batch{waits}})
	m.do("rpush nothing reply-that-is-kept")
	return m
}

// TestGoldenSnapshot: the bytes of the version that is written may never change,
// and a node that starts from them holds what the log holds.
func TestGoldenSnapshot(t *testing.T) {
	var got bytes.Buffer
	state := goldenStory(t).state
	if _, err := state.Snapshot().WriteTo(&got); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join("testdata", "snapshots", fmt.Sprintf("v%d.bin", SnapshotVersion))
	want, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) && os.Getenv("REWRITE") != "" {
		want = got.Bytes()
		err = os.WriteFile(path, want, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Bytes(), want) {
		t.Errorf("the same state is now written as other bytes: that is a new SnapshotVersion")
	}
	back, err := Restore(bytes.NewReader(want))
	if err != nil {
		t.Fatal(err)
	}
	if back.Hash() != state.Hash() {
		t.Error("the snapshot gives another state")
	}
}
