package server

import (
	"math/bits"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redfence/redfence/fsm"
)

// latencyMonitor remembers when commands took longer than the setting
// latency-monitor-threshold says, by kind of event. The zero value is ready. It
// is safe for concurrent use.
type latencyMonitor struct {
	mu     sync.Mutex
	events map[string]*latencyEvent
}

// latencyEvent is one kind of event: at most one sample a second, the longest.
type latencyEvent struct {
	samples []latencySample // the oldest first
	longest int64           // milliseconds, of all that ever were
}

type latencySample struct {
	at     int64 // unix seconds
	millis int64
}

// The kinds of events.
const (
	eventWrite = "command"      // a run that may have changed something
	eventRead  = "read-command" // one that only read
)

// note adds a run that took so long to be answered, if that is above the
// threshold; 0 is no threshold and notes nothing.
func (l *latencyMonitor) note(threshold int64, cmds []fsm.Command, took time.Duration, now time.Time) {
	millis := took.Milliseconds()
	if threshold <= 0 || millis < threshold || len(cmds) == 0 {
		return
	}
	event := eventRead
	for i := range cmds {
		if spec, _ := fsm.Resolve(cmds[i].Args); spec == nil || !spec.Has(fsm.Read) {
			event = eventWrite
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.events == nil {
		l.events = map[string]*latencyEvent{}
	}
	e := l.events[event]
	if e == nil {
		e = &latencyEvent{}
		l.events[event] = e
	}
	e.longest = max(e.longest, millis)
	if n := len(e.samples); n > 0 && e.samples[n-1].at == now.Unix() {
		e.samples[n-1].millis = max(e.samples[n-1].millis, millis)
		return
	}
	if len(e.samples) == LatencySamplesMax {
		e.samples = append(e.samples[:0], e.samples[1:]...)
	}
	e.samples = append(e.samples, latencySample{now.Unix(), millis})
}

// of copies what is known of an event.
func (l *latencyMonitor) of(event string) latencyEvent {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.events[strings.ToLower(event)]
	if e == nil {
		return latencyEvent{}
	}
	return latencyEvent{append([]latencySample(nil), e.samples...), e.longest}
}

// reset forgets the named events, or all, and answers how many there were.
func (l *latencyMonitor) reset(names []string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(names) == 0 {
		n := len(l.events)
		l.events = nil
		return n
	}
	n := 0
	for _, name := range names {
		if _, there := l.events[name]; there {
			delete(l.events, name)
			n++
		}
	}
	return n
}

// latencyBuckets is how many buckets a histogram has: bucket i counts what took
// less than 2^i microseconds, and the last one all that is longer, too.
const latencyBuckets = 31

// histogram counts how long commands took. Each counter may be read at any time.
type histogram [latencyBuckets]atomic.Int64

func (h *histogram) observe(took time.Duration) {
	micros := max(0, took.Microseconds())
	h[min(latencyBuckets-1, bits.Len64(uint64(micros)))].Add(1)
}

func (h *histogram) reset() {
	for i := range h {
		h[i].Store(0)
	}
}
