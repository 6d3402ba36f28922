package server

import (
	"maps"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redfence/redfence/fsm"
	"github.com/redfence/redfence/fsm/reply"
)

// stats counts what this node's edge has done. Each counter may be read at any time.
type stats struct {
	connections    atomic.Int64 // accepted, refused ones included
	rejected       atomic.Int64 // refused, because there were too many
	acceptErrors   atomic.Int64
	protocolErrors atomic.Int64
	authFailures   atomic.Int64
	lateGrants     atomic.Int64 // grants that had run out before they could be answered
	messages       atomic.Int64 // handed to listeners
	slowListeners  atomic.Int64 // messages for connections that were too far behind
	inputBytes     atomic.Int64
	outputBytes    atomic.Int64
	commands       map[*fsm.Spec]*commandStat // never changes after init
	words          errorWords
}

// errorWords counts errors by their first word. Scripts choose their own, so
// the words are bounded.
type errorWords struct {
	mu     sync.Mutex
	counts map[string]int64
}

// note counts an error.
func (e *errorWords) note(v reply.Value) {
	word, _, _ := strings.Cut(v.Str, " ")
	e.mu.Lock()
	defer e.mu.Unlock()
	if _, known := e.counts[word]; !known {
		if len(e.counts) >= ErrorWordsMax || len(word) > ErrorWordMax {
			word = "OTHER"
		}
		word = strings.Clone(word)
	}
	e.counts[word]++
}

func (e *errorWords) all() map[string]int64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	return maps.Clone(e.counts)
}

func (e *errorWords) reset() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.counts = map[string]int64{}
}

// commandStat counts one row's commands.
type commandStat struct {
	calls    atomic.Int64
	micros   atomic.Int64 // until answered
	rejected atomic.Int64 // before execution
	failed   atomic.Int64 // answered with an error
	took     histogram    // of those that were executed
}

// ran counts an execution that was answered after so long.
func (c *commandStat) ran(took time.Duration) {
	c.micros.Add(took.Microseconds())
	c.took.observe(took)
}

func (s *stats) init() {
	s.words.reset()
	s.commands = map[*fsm.Spec]*commandStat{}
	for _, spec := range fsm.Table() {
		s.commands[spec] = &commandStat{}
	}
}

func (s *stats) of(spec *fsm.Spec) *commandStat { return s.commands[spec] }

// processed is how many commands were executed.
func (s *stats) processed() int64 {
	var n int64
	for _, c := range s.commands {
		n += c.calls.Load()
	}
	return n
}

// errors is how many commands were answered with an error.
func (s *stats) errors() int64 {
	var n int64
	for _, count := range s.words.all() {
		n += count
	}
	return n
}

// rate tells how many commands a second were executed since it was last asked.
type rate struct {
	mu   sync.Mutex
	at   time.Time
	seen int64
	last int64
}

// perSecond takes the number of commands so far. Asked again within a second it
// answers the same.
func (r *rate) perSecond(total int64) int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	if passed := now.Sub(r.at); passed >= time.Second {
		if !r.at.IsZero() {
			r.last = max(0, int64(float64(total-r.seen)/passed.Seconds()))
		}
		r.at, r.seen = now, total
	}
	return r.last
}

// reset is CONFIG RESETSTAT.
func (s *stats) reset() {
	for _, n := range []*atomic.Int64{
		&s.connections, &s.rejected, &s.acceptErrors, &s.protocolErrors, &s.authFailures,
		&s.lateGrants, &s.messages, &s.slowListeners, &s.inputBytes, &s.outputBytes,
	} {
		n.Store(0)
	}
	s.words.reset()
	for _, c := range s.commands {
		c.calls.Store(0)
		c.micros.Store(0)
		c.rejected.Store(0)
		c.failed.Store(0)
		c.took.reset()
	}
}
