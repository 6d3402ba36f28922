package sim

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/redis/go-redis/v9"
)

// request is one command on one lock: take (SET NX), free (compare-and-delete) or look (GET).
type request struct{ key, op, value string }

// answer is what it came to; unknown stands for every error.
type answer struct {
	text    string
	unknown bool
}

// lockModel is one lock without a lease, as a stranger would describe it. A
// command of unknown outcome may or may not have had its effect.
var lockModel = porcupine.NondeterministicModel{
	Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
		byKey := map[string][]porcupine.Operation{}
		for _, o := range history {
			k := o.Input.(request).key
			byKey[k] = append(byKey[k], o)
		}
		var parts [][]porcupine.Operation
		for _, part := range byKey {
			parts = append(parts, part)
		}
		return parts
	},
	Init: func() []any { return []any{""} },
	Step: func(state, input, output any) []any {
		holder, in, out := state.(string), input.(request), output.(answer)
		after, reply := holder, holder
		switch {
		case in.op == "take" && holder == "":
			after, reply = in.value, "OK"
		case in.op == "take":
			reply = ""
		case in.op == "free" && holder == in.value:
			after, reply = "", "1"
		case in.op == "free":
			reply = "0"
		}
		if out.unknown {
			return []any{holder, after}
		}
		if out.text != reply {
			return nil
		}
		return []any{after}
	},
	DescribeOperation: func(input, output any) string {
		in, out := input.(request), output.(answer)
		if out.unknown {
			return fmt.Sprintf("%s %s %s -> unknown", in.op, in.key, in.value)
		}
		return fmt.Sprintf("%s %s %s -> %q", in.op, in.key, in.value, out.text)
	},
}

// history is what all clients asked and were told.
type history struct {
	mu         sync.Mutex
	operations []porcupine.Operation
}

func (h *history) do(id int, in request, call func() (string, error)) answer {
	sent := time.Now().UnixNano()
	text, err := call()
	out := answer{text: text, unknown: err != nil && err != redis.Nil}
	returned := time.Now().UnixNano()
	if out.unknown {
		returned = math.MaxInt64 // it may take effect at any later time
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if !out.unknown || in.op != "look" && !notExecuted(err) {
		h.operations = append(h.operations, porcupine.Operation{ClientId: id, Input: in, Output: out, Call: sent, Return: returned})
	}
	return out
}

// notExecuted says whether an error means that the command was certainly not executed.
func notExecuted(err error) bool {
	text := err.Error()
	return strings.HasPrefix(text, "CLUSTERDOWN") || strings.HasPrefix(text, "LOADING") || strings.Contains(text, "connection refused")
}

// TestLinearizableUnderFaults: promises 1, 4, 5 and 6, judged by porcupine.
func TestLinearizableUnderFaults(t *testing.T) {
	var known, unknown int
	for s := *seed; s < *seed+uint64(max(1, *runs/4)); s++ {
		t.Run(fmt.Sprintf("seed=%d", s), func(t *testing.T) {
			var h history
			var f *faults
			synctest.Test(t, func(t *testing.T) { f = linearRun(t, s, &h) })
			for _, o := range h.operations {
				if o.Output.(answer).unknown {
					unknown++
				} else {
					known++
				}
			}
			model := lockModel.ToModel()
			result, info := porcupine.CheckOperationsVerbose(model, h.operations, time.Minute)
			if result != porcupine.Ok {
				picture := filepath.Join(os.TempDir(), fmt.Sprintf("redfence-sim-%d.html", s))
				if err := porcupine.VisualizePath(model, info, picture); err != nil {
					t.Error(err)
				}
				t.Errorf("%v; the picture is %s; repeat with: make sim SEED=%d RUNS=1\nfaults:\n%s", result, picture, s, strings.Join(f.log, "\n"))
			}
		})
	}
	t.Logf("%d commands of known and %d of unknown outcome", known, unknown)
	if known == 0 {
		t.Error("nothing was done")
	}
}

func linearRun(t *testing.T, s uint64, h *history) *faults {
	rng := rand.New(rand.NewPCG(s, 7))
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
		clients.Go(func() { linearClient(ctx, i, conn, own, h) })
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

func linearClient(ctx context.Context, id int, conn *redis.Client, rng *rand.Rand, h *history) {
	held := map[string]string{}
	for round := 0; ctx.Err() == nil; round++ {
		key := fmt.Sprintf("k%d", rng.IntN(3))
		value := fmt.Sprintf("c%d-%d", id, round)
		switch {
		case held[key] != "":
			value = held[key]
			out := h.do(id, request{key, "free", value}, func() (string, error) {
				n, err := conn.Eval(ctx, releaseScript, []string{key}, value).Int()
				return strconv.Itoa(n), err
			})
			if !out.unknown {
				delete(held, key)
			}
		case rng.IntN(2) == 0:
			h.do(id, request{key, "look", ""}, func() (string, error) { return conn.Get(ctx, key).Result() })
		default:
			out := h.do(id, request{key, "take", value}, func() (string, error) {
				return conn.Do(ctx, "SET", key, value, "NX").Text()
			})
			if out.unknown || out.text == "OK" {
				held[key] = value
			}
		}
		select {
		case <-time.After(time.Duration(rng.IntN(40)) * time.Millisecond):
		case <-ctx.Done():
		}
	}
}
