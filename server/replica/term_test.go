package replica

import (
	"testing"
	"time"

	"github.com/redfence/redfence/fsm"
)

// A node that comes back under full load must get its origin at once: orders
// are not starved by batches.
func TestOrdersPassUnderFullLoad(t *testing.T) {
	n := start(t, testConfig(t, "n1", t.TempDir()))
	ready(t, n)
	var total count
	wg := total.increment(t, n, "c", 64, 200)
	for total.acked.Load() < 6400 {
		began := time.Now()
		if _, err := n.serving.Load().order(fsm.Entry{Kind: fsm.Batches}); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took > time.Second {
			t.Fatalf("an order waited %v behind batches", took)
		}
	}
	wg.Wait()
}
