package compare

import (
	"testing"
	"testing/synctest"
	"time"
)

// The resource counts who comes in while another's lease runs, by the shorter of the two.
func TestResourceCountsHolders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newResource()
		now := time.Now()
		r.enter(now.Add(time.Second))
		time.Sleep(400 * time.Millisecond)
		h := r.enter(now.Add(5 * time.Second))
		if r.both != 1 || r.overlap != 600*time.Millisecond {
			t.Errorf("%d at once, %v; want 1, 600ms", r.both, r.overlap)
		}
		r.leave(h)
		time.Sleep(600 * time.Millisecond)
		r.enter(now.Add(3 * time.Second))
		if r.both != 1 {
			t.Error("who came after the first one's lease and the second one's leaving was counted")
		}
	})
}

// A late write is refused by its token, and accepted where there are none.
func TestResourceChecksTokens(t *testing.T) {
	r := newResource()
	r.write(8, false)
	r.write(7, true)
	if r.late != 0 || r.refused != 1 {
		t.Errorf("with tokens %d late writes were accepted and %d refused", r.late, r.refused)
	}
	r = newResource()
	r.write(0, false)
	r.write(0, true)
	if r.late != 1 || r.refused != 0 {
		t.Errorf("without tokens %d late writes were accepted and %d refused", r.late, r.refused)
	}
}
