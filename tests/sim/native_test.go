package sim

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/redis/go-redis/v9"
)

// nativeState is one lock as a stranger would describe it: who holds it with which
// token, and who has let it go. Owners are used once, leases don't end.
type nativeState struct {
	holders string // "owner=token owner=token", sorted; token ? where nobody was told
	last    int64  // the highest token that anybody was told
	gone    string // owners that released, each with a blank behind it
}

func (s nativeState) tokenOf(owner string) (token string, holds bool) {
	for _, h := range strings.Fields(s.holders) {
		if name, token, _ := strings.Cut(h, "="); name == owner {
			return token, true
		}
	}
	return "", false
}

// with is s with another token of an owner, "" for none.
func (s nativeState) with(owner, token string) nativeState {
	fields := slices.DeleteFunc(strings.Fields(s.holders), func(h string) bool { return strings.HasPrefix(h, owner+"=") })
	if token != "" {
		fields = append(fields, owner+"="+token)
	}
	slices.Sort(fields)
	s.holders = strings.Join(fields, " ")
	if n, err := strconv.ParseInt(token, 10, 64); err == nil {
		s.last = max(s.last, n)
	}
	return s
}

// acquire is LOCK.ACQUIRE for at most so many holders. A new token is above all
// that the lock has had; who holds it is told its own again.
func (s nativeState) acquire(owner string, most int, out answer) []any {
	token, holds := s.tokenOf(owner)
	free := len(strings.Fields(s.holders)) < most
	switch {
	case out.unknown && (holds || !free):
		return []any{s}
	case out.unknown:
		return []any{s, s.with(owner, "?")}
	case out.text == "":
		// Also while it is free: it may be offered to one who waits.
		if holds {
			return nil
		}
		return []any{s}
	case holds && token != "?":
		if out.text != token {
			return nil
		}
		return []any{s}
	case !holds && !free:
		return nil
	}
	// A grant that nobody was told of may have come before others that were.
	if n, _ := strconv.ParseInt(out.text, 10, 64); n <= s.last && token != "?" {
		return nil
	}
	return []any{s.with(owner, out.text)}
}

// release is LOCK.RELEASE, which answers 1 again when it is asked again.
func (s nativeState) release(owner string, out answer) []any {
	_, holds := s.tokenOf(owner)
	after, reply := s, "0"
	switch {
	case holds:
		after, reply = s.with(owner, ""), "1"
		after.gone += owner + " "
	case strings.Contains(s.gone, owner+" "):
		reply = "1"
	}
	switch {
	case out.unknown:
		return []any{s, after}
	case out.text != reply:
		return nil
	}
	return []any{after}
}

var nativeModel = porcupine.NondeterministicModel{
	Partition: lockModel.Partition,
	Init:      func() []any { return []any{nativeState{}} },
	Step: func(state, input, output any) []any {
		s, in, out := state.(nativeState), input.(request), output.(answer)
		if in.op == "release" {
			return s.release(in.value, out)
		}
		most := 1
		if strings.HasPrefix(in.key, "pool") {
			most = 2
		}
		return s.acquire(in.value, most, out)
	},
	DescribeOperation: lockModel.DescribeOperation,
}

// TestNativeLocksUnderFaults: promises 1, 3 and 6. Fenced, owner-aware mutexes and a
// semaphore of 2 permits, some of whose clients wait in line, judged by porcupine.
func TestNativeLocksUnderFaults(t *testing.T) {
	granted, waited := 0, 0
	for s := *seed; s < *seed+uint64(max(1, *runs/4)); s++ {
		t.Run(fmt.Sprintf("seed=%d", s), func(t *testing.T) {
			var h history
			var f *faults
			synctest.Test(t, func(t *testing.T) { f = nativeRun(t, s, &h) })
			for _, o := range h.operations {
				if in := o.Input.(request); in.op != "release" && o.Output.(answer).text != "" {
					granted++
					if in.op == "wait" && o.Return-o.Call > int64(50*time.Millisecond) {
						waited++
					}
				}
			}
			model := nativeModel.ToModel()
			result, info := porcupine.CheckOperationsVerbose(model, h.operations, time.Minute)
			if result != porcupine.Ok {
				picture := filepath.Join(os.TempDir(), fmt.Sprintf("redfence-sim-native-%d.html", s))
				if err := porcupine.VisualizePath(model, info, picture); err != nil {
					t.Error(err)
				}
				t.Errorf("%v; the picture is %s; repeat with: make sim SEED=%d RUNS=1\nfaults:\n%s", result, picture, s, strings.Join(f.log, "\n"))
			}
		})
	}
	t.Logf("%d grants, %d of them after a wait", granted, waited)
	if granted == 0 {
		t.Error("nothing was granted")
	}
}

func nativeRun(t *testing.T, s uint64, h *history) *faults {
	rng := rand.New(rand.NewPCG(s, 8))
	c := newCluster(t, rng)
	c.start()
	defer c.stop()
	ctx, cancel := context.WithCancel(t.Context())
	var clients sync.WaitGroup
	var conns []*redis.Client
	for i := range 6 {
		conn := c.redis(fmt.Sprintf("10.0.1.%d", i+1), c.nodes[i%3])
		conns = append(conns, conn)
		own := rand.New(rand.NewPCG(s, uint64(i+1)))
		clients.Go(func() { nativeClient(ctx, i, conn, own, h) })
	}
	f := &faults{c: c, rng: rand.New(rand.NewPCG(s, 1000))}
	f.run(runTime / 2)
	c.ready()
	cancel()
	clients.Wait()
	for _, conn := range conns {
		conn.Close()
	}
	return f
}

// nativeClient takes locks and lets them go. What it was not told it asks again,
// with the same owner.
func nativeClient(ctx context.Context, id int, conn *redis.Client, rng *rand.Rand, h *history) {
	pause := func() {
		select {
		case <-time.After(time.Duration(rng.IntN(150)) * time.Millisecond):
		case <-ctx.Done():
		}
	}
	ask := func(in request, args ...any) answer {
		for {
			out := h.do(id, in, func() (string, error) {
				v, err := conn.Do(ctx, args...).Result()
				if list, ok := v.([]any); ok && err == nil {
					v = list[0]
				}
				if v == nil {
					return "", err
				}
				return fmt.Sprint(v), err
			})
			if !out.unknown || ctx.Err() != nil {
				return out
			}
			pause()
		}
	}
	for round := 0; ctx.Err() == nil; round++ {
		key, owner := []string{"door", "gate", "pool"}[rng.IntN(3)], fmt.Sprintf("c%d-%d", id, round)
		in, args := request{key, "acquire", owner}, []any{"LOCK.ACQUIRE", key, owner, 3_600_000}
		if key == "pool" {
			args = append(args, "PERMITS", 2)
		}
		if rng.IntN(2) == 0 {
			in.op, args = "wait", append(args, "WAIT", 500)
		}
		if out := ask(in, args...); out.text != "" && !out.unknown {
			pause()
			ask(request{key, "release", owner}, "LOCK.RELEASE", key, owner)
		}
		pause()
	}
}
