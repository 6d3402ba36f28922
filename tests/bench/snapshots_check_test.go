package bench_test

import (
	"testing"
	"time"
)

// TestSnapshotsAreFoundInTheLog: one that was begun before the log or had no end yet
// is none, and an acquire belongs to a snapshot that it met at any moment.
func TestSnapshotsAreFoundInTheLog(t *testing.T) {
	got := snapshotWindows(`time=2026-01-01T00:00:00.000Z level=DEBUG msg="raft: snapshot complete up to" node=n1 index=1
time=2026-01-01T00:00:01.000Z level=DEBUG msg="raft: starting snapshot up to" node=n1 part=raft index=1
gc 1 @0.012s 2%
time=2026-01-01T00:00:01.500Z level=DEBUG msg="raft: compacting logs" node=n1
time=2026-01-01T00:00:02.000Z level=DEBUG msg="raft: snapshot complete up to" node=n1 index=1
time=2026-01-01T00:00:03.000Z level=DEBUG msg="raft: starting snapshot up to" node=n1 part=raft index=1
`)
	if len(got) != 1 || got[0].to.Sub(got[0].from) != time.Second {
		t.Fatalf("%v", got)
	}
	for _, c := range []struct {
		began, took time.Duration
		want        bool
	}{
		{-2, 1, false}, {-2, 3, true}, {200, 1, true}, {-2, 5000, true}, {999, 50, true}, {1001, 1, false},
	} {
		x := timed{got[0].from.Add(c.began * time.Millisecond), c.took * time.Millisecond}
		if x.overlaps(got) != c.want {
			t.Errorf("begun at %d for %d ms: want %v", c.began, c.took, c.want)
		}
	}
}
