package replica

import (
	"sync"

	"github.com/redfence/redfence/fsm"
)

// feed hands events to this node's subscribers in log order, once each. They
// come from the node's own machine, or before that as a push of the leader: a
// follower's machine learns of a commit with the next entry (see commitTimeout).
type feed struct {
	mu        sync.Mutex
	delivered uint64 // up to this index everything was handed out
	last      uint64 // index of the last entry of the own machine that had events
	sink      func([]fsm.Event)
	stats     *Stats
}

// applied hands out what the own machine made at index, if it is not out yet.
// It returns the entry with events before this one.
func (f *feed) applied(index uint64, events []fsm.Event) (prev uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	prev = f.last
	if len(events) > 0 {
		f.last = index
	}
	if index <= f.delivered {
		return prev
	}
	f.delivered = index
	if len(events) > 0 {
		f.stats.EventsApplied.Add(uint64(len(events)))
		f.sink(events)
	}
	return prev
}

// pushed hands out what the leader sent, unless something before it is missing
// here: then the own machine will bring both.
func (f *feed) pushed(p *eventsPush, wantKeys bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if p.index <= f.delivered || f.delivered < p.prev || wantKeys && !p.keyEvents {
		return
	}
	f.delivered = p.index
	f.stats.EventsPushed.Add(uint64(len(p.events)))
	f.sink(p.events)
}

// skipTo says that the machine was restored up to index: events before it are
// not known here.
func (f *feed) skipTo(index uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.delivered, f.last = max(f.delivered, index), max(f.last, index)
}
