package sim

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/redfence/redfence/tests/internal/linear"
)

// TestNativeLocksUnderFaults: promises 1, 3 and 6. Fenced, owner-aware mutexes and a
// semaphore of 2 permits, some of whose clients wait in line, judged by porcupine.
func TestNativeLocksUnderFaults(t *testing.T) {
	granted, waited := 0, 0
	for s := *seed; s < *seed+uint64(max(1, *runs/4)); s++ {
		t.Run(fmt.Sprintf("seed=%d", s), func(t *testing.T) {
			var h linear.History
			var f *faults
			synctest.Test(t, func(t *testing.T) { f = linearRun(t, s, nativeClient, &h) })
			h.Each(func(in linear.Request, out linear.Answer, took time.Duration) {
				if in.Op != "release" && out.Text != "" {
					granted++
					if in.Op == "wait" && took > 50*time.Millisecond {
						waited++
					}
				}
			})
			h.Check(t, linear.Native, fmt.Sprint("sim-native-", s), f.again(s))
		})
	}
	t.Logf("%d grants, %d of them after a wait", granted, waited)
	if granted == 0 {
		t.Error("nothing was granted")
	}
}

func nativeClient(ctx context.Context, id int, conn *redis.Client, rng *rand.Rand, h *linear.History) {
	linear.NativeClient(ctx, id, conn, rng, 150*time.Millisecond, h)
}
