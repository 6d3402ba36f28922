package compare

import (
	"sync"
	"time"
)

// resource is what the locks protect. It counts what a lock should prevent.
type resource struct {
	mu      sync.Mutex
	holds   map[*hold]bool
	both    int           // how often somebody came in while another was in
	overlap time.Duration // for how long two could be in at once, the longest time
	highest int64         // token seen with a write
	late    int           // writes of holders whose lease had ended and that were accepted
	refused int           // such writes that were refused
}

// hold is one holder's time in the resource: until it leaves or its lease, as its
// own library counts it, ends.
type hold struct{ until time.Time }

func newResource() *resource { return &resource{holds: map[*hold]bool{}} }

// enter lets a holder in that has its lock until then.
func (r *resource) enter(until time.Time) *hold {
	now := time.Now()
	h := &hold{until}
	r.mu.Lock()
	defer r.mu.Unlock()
	for other := range r.holds {
		if !other.until.After(now) {
			delete(r.holds, other)
			continue
		}
		r.both++
		end := other.until
		if until.Before(end) {
			end = until
		}
		r.overlap = max(r.overlap, end.Sub(now))
	}
	r.holds[h] = true
	return h
}

func (r *resource) leave(h *hold) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.holds, h)
}

// write takes a write with the writer's token; 0 is none, and can't be checked.
// late says that the writer's lease had ended.
func (r *resource) write(token int64, late bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if token != 0 && token < r.highest {
		r.refused++
		return
	}
	r.highest = max(r.highest, token)
	if late {
		r.late++
	}
}
