package bench_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redfence/redfence/tests/internal/process"
)

// floor is what one acquire takes that nothing else goes on beside, and the least
// that raft on the same kind of log and a client's round trip take, in turn.
type floor struct {
	Acquire   []float64 `json:"acquire_ms"`    // SET NX PX through the leader of three nodes
	Apply     []float64 `json:"raft_apply_ms"` // bare raft, three processes
	RoundTrip []float64 `json:"round_trip_ms"` // PING to that leader
}

// ratio is the median acquire over the medians of the two.
func (f *floor) ratio() float64 {
	least := spreadOf(f.Apply).median + spreadOf(f.RoundTrip).median
	if least == 0 {
		return 0
	}
	return spreadOf(f.Acquire).median / least
}

// measureFloor takes the three in turn, block by block.
func measureFloor(t *testing.T, r *report, size scale) {
	leader, bare := process.Start(t, 3).Leader(), startBare(t)
	client := redisClient(leader.Client, 1)
	defer client.Close()
	ctx := context.Background()
	if _, err := bare.apply(); err != nil { // until it leads, and as a warm-up
		t.Errorf("floor: %v", err)
		return
	}
	for range size.FloorBlocks {
		took, err := bare.apply()
		if err != nil {
			t.Errorf("floor: %v", err)
			return
		}
		r.Floor.Apply = append(r.Floor.Apply, took...)
		for i := range floorBlock {
			began := time.Now()
			if err := client.Ping(ctx).Err(); err != nil {
				t.Errorf("floor: %v", err)
				return
			}
			r.Floor.RoundTrip = append(r.Floor.RoundTrip, millis(time.Since(began)))
			name := fmt.Sprintf("floor:%d:%d", len(r.Floor.Acquire), i)
			began = time.Now()
			if err := client.Do(ctx, "SET", name, "v", "NX", "PX", lease.Milliseconds()).Err(); err != nil {
				t.Errorf("floor: %v", err)
				return
			}
			r.Floor.Acquire = append(r.Floor.Acquire, millis(time.Since(began)))
		}
	}
}

func (r *report) floors(b *strings.Builder) {
	f := &r.Floor
	if len(f.Acquire) == 0 {
		return
	}
	met := "met"
	if f.ratio() > floorMost {
		met = "not met"
	}
	fmt.Fprintf(b, "\n## One acquire and its floor\n\nMilliseconds, medians of %d, in turn: SET NX PX through the leader of three nodes %.3f; raft's Apply of a command as long, on the same kind of log,\n"+
		"three processes, %.3f; a round trip of the client %.3f. The first is %.2f times the sum of the others: at most %.2f is the target, %s.\n",
		len(f.Acquire), spreadOf(f.Acquire).median, spreadOf(f.Apply).median, spreadOf(f.RoundTrip).median, f.ratio(), floorMost, met)
}
