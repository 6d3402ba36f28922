package server

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/redfence/redfence/fsm"
	"github.com/redfence/redfence/fsm/reply"
)

// trackers knows which connections keep values in a cache of their own (CLIENT
// TRACKING) and tells them when a key changes. It errs to one side only: a
// client may be told of a change that was none for it, and is never left with a
// stale value. So keys count by name, whatever their keyspace and database.
//
// A key is remembered before its read is sent, and while the reply is not
// written what is to be told waits behind it: else a client could take the
// reply for newer than the change. While a connection's own write is under way it
// waits, too: take puts it behind the reply to that. It is safe for concurrent use and never
// waits for a client.
type trackers struct {
	mu    sync.Mutex
	all   map[*session]*tracked
	keys  map[string]map[*session]bool
	bytes int          // what keys take, and that connections have them
	count atomic.Int64 // of all, for a quick look
}

// tracked is what the trackers know of one connection; their lock guards it.
type tracked struct {
	mode    trackMode
	keys    map[string]bool
	holding bool          // a reply is due
	held    []reply.Value // what waits behind it
	bytes   int           // of held
}

// trackMode is what CLIENT TRACKING ON asked for.
type trackMode struct {
	broadcast bool
	prefixes  []string // of a broadcast
	optIn     bool     // only what follows CLIENT CACHING YES
	optOut    bool     // all but what follows CLIENT CACHING NO
}

func (t *trackers) init() {
	t.all = map[*session]*tracked{}
	t.keys = map[string]map[*session]bool{}
}

// turnOn begins, or goes on in another mode.
func (t *trackers) turnOn(c *session, mode trackMode) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if old := t.all[c]; old != nil {
		old.mode = mode
		return
	}
	t.all[c] = &tracked{mode: mode, keys: map[string]bool{}}
	t.count.Add(1)
}

// turnOff forgets a connection. It answers false if it was not known.
func (t *trackers) turnOff(c *session) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	own := t.all[c]
	if own == nil {
		return false
	}
	for key := range own.keys {
		t.drop(key, c)
	}
	delete(t.all, c)
	t.count.Add(-1)
	return true
}

// drop forgets that c has key. The lock is held.
func (t *trackers) drop(key string, c *session) {
	delete(t.keys[key], c)
	t.bytes -= entryBytes
	if len(t.keys[key]) == 0 {
		t.forget(key)
	}
}

// forget drops a key. The lock is held.
func (t *trackers) forget(key string) {
	if who, known := t.keys[key]; known {
		t.bytes -= entryBytes*(1+len(who)) + len(key)
		delete(t.keys, key)
	}
}

// remember notes the keys that c is about to read. Beyond TrackedKeysMax or
// TrackedBytesMax some other key is told to have changed.
func (t *trackers) remember(c *session, keys []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	own := t.all[c]
	own.holding = true
	for _, key := range keys {
		if own.keys[key] {
			continue
		}
		for len(t.keys) >= TrackedKeysMax || t.bytes > TrackedBytesMax {
			for other := range t.keys {
				t.tell(other)
				break
			}
		}
		key = strings.Clone(key)
		own.keys[key] = true
		if t.keys[key] == nil {
			t.keys[key] = map[*session]bool{}
			t.bytes += entryBytes + len(key)
		}
		t.keys[key][c] = true
		t.bytes += entryBytes
	}
}

// release lets out what waited behind replies that are written now.
func (t *trackers) release(c *session) {
	t.mu.Lock()
	defer t.mu.Unlock()
	own := t.all[c]
	if own == nil || !own.holding {
		return
	}
	own.holding = false
	for _, v := range own.held {
		c.out.push(spell(3, v))
	}
	own.held, own.bytes = nil, 0
}

// hold makes what is to be told to c wait until release, and says whether c has
// one of the keys.
func (t *trackers) hold(c *session, keys []string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	own := t.all[c]
	if own == nil {
		return false
	}
	own.holding = true
	return slices.ContainsFunc(keys, func(key string) bool { return own.keys[key] })
}

// take hands out what waits to be told of the keys, and with all that everything went.
func (t *trackers) take(c *session, keys []string, all bool) (told []reply.Value) {
	t.mu.Lock()
	defer t.mu.Unlock()
	own := t.all[c]
	if own == nil || own.mode.broadcast {
		return nil
	}
	own.held = slices.DeleteFunc(own.held, func(v reply.Value) bool {
		names := v.Elems[1]
		if names.Kind == reply.Nil && all || len(names.Elems) == 1 && slices.Contains(keys, names.Elems[0].Str) {
			told = append(told, v)
			return true
		}
		return false
	})
	return told
}

// changed takes events of the machine. One change of a key can be several
// events in a row ("new", "set", "expire"): it is told once.
func (t *trackers) changed(events []fsm.Event) {
	if t.count.Load() == 0 {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	var last *fsm.Event
	for i := range events {
		e := &events[i]
		switch {
		case e.Kind == fsm.Flushed:
			t.tellAll()
			last = nil
		case e.Kind != fsm.KeyChanged || e.Class == 'm': // a miss changes nothing
		case last == nil || last.Key != e.Key:
			t.keyChanged(e)
			last = e
		}
	}
}

func (t *trackers) keyChanged(e *fsm.Event) {
	t.tell(e.Key)
	for c, own := range t.all {
		if own.mode.broadcast && hasPrefix(e.Key, own.mode.prefixes) {
			own.push(c, invalidation(e.Key))
		}
	}
}

func hasPrefix(key string, prefixes []string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(key, p) {
			return true
		}
	}
	return len(prefixes) == 0
}

// tell tells those who have key, who then don't have it any more. The lock is held.
func (t *trackers) tell(key string) {
	v := invalidation(key)
	for c := range t.keys[key] {
		own := t.all[c]
		delete(own.keys, key)
		own.push(c, v)
	}
	t.forget(key)
}

// tellAll tells everybody who has keys that all of them went. The lock is held.
func (t *trackers) tellAll() {
	for c, own := range t.all {
		if len(own.keys) > 0 || own.mode.broadcast {
			clear(own.keys)
			own.push(c, invalidateAll)
		}
	}
	clear(t.keys)
	t.bytes = 0
}

// push tells one connection, at once or behind the reply that is due. The lock is held.
func (own *tracked) push(c *session, v reply.Value) {
	switch {
	case !own.holding:
		c.out.push(spell(3, v))
	case len(own.held) >= TrackedHeldMax || own.bytes > TrackedHeldBytesMax:
		// Everything is the shorter message.
		own.held, own.bytes = []reply.Value{invalidateAll}, 0
	default:
		own.held = append(own.held, v)
		own.bytes += v.Size()
	}
}

func invalidation(key string) reply.Value {
	return reply.Value{Kind: reply.Push, Elems: []reply.Value{
		reply.String("invalidate"), reply.List(reply.String(key)),
	}}
}

var invalidateAll = reply.Value{Kind: reply.Push, Elems: []reply.Value{reply.String("invalidate"), reply.Null}}

// sizes counts connections and keys.
func (t *trackers) sizes() (connections, keys int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.all), len(t.keys)
}

// everybody lists the connections that track.
func (t *trackers) everybody() []*session {
	t.mu.Lock()
	defer t.mu.Unlock()
	var out []*session
	for c := range t.all {
		out = append(out, c)
	}
	return out
}
