package fsm

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/redfence/redfence/fsm/reply"
)

// lockModel is one name as LOCK.* must treat it, as plainly as can be said.
type lockModel struct {
	mode     string // "", "shared" or "permits n", while somebody holds it
	holders  map[string]*modelHolder
	delayed  int64
	released map[string]int64 // until when a release is remembered
}

type modelHolder struct {
	token   int64
	ends    int64 // 0 for the session's
	session int64
	delay   int64
}

// nativeModel is all of them, with the sessions.
type nativeModel struct {
	now      int64
	tokens   int64
	locks    map[string]*lockModel
	sessions map[int64]*modelSession
}

type modelSession struct{ ttl, ends int64 }

func (m *nativeModel) lock(name string) *lockModel {
	if m.locks[name] == nil {
		m.locks[name] = &lockModel{holders: map[string]*modelHolder{}, released: map[string]int64{}}
	}
	return m.locks[name]
}

func (m *nativeModel) ends(h *modelHolder) int64 {
	if h.session != 0 {
		return m.sessions[h.session].ends
	}
	return h.ends
}

// pass ends what has run out.
func (m *nativeModel) pass(now int64) {
	m.now = now
	for _, l := range m.locks {
		for owner, h := range l.holders {
			if end := m.ends(h); end <= now {
				delete(l.holders, owner)
				if h.delay > 0 {
					l.delayed = max(l.delayed, end+h.delay)
				}
			}
		}
	}
	for id, s := range m.sessions {
		if s.ends <= now {
			delete(m.sessions, id)
		}
	}
}

func millisLeft(ends, now int64) int64 { return (ends - now + 999) / 1000 }

func (m *nativeModel) acquire(name, owner, mode string, ttl, session, delay int64) string {
	l := m.lock(name)
	if session != 0 && m.sessions[session] == nil {
		return "error"
	}
	h := l.holders[owner]
	if len(l.holders) > 0 && l.mode != mode {
		if h != nil || l.mode != "" && mode != "" {
			return "error"
		}
		return "nil"
	}
	if h != nil {
		if h.session != session {
			return "error"
		}
		h.ends = max(h.ends, m.now+ttl*1000)
		if delay >= 0 {
			h.delay = delay * 1000
		}
		return m.granted(h)
	}
	most := 1
	if _, err := fmt.Sscanf(mode, "permits %d", &most); mode == "shared" || err != nil && mode != "" {
		most = 1 << 30
	}
	if len(l.holders) >= most || l.delayed > m.now {
		return "nil"
	}
	m.tokens++
	h = &modelHolder{token: m.tokens, ends: m.now + ttl*1000, session: session, delay: max(0, delay) * 1000}
	l.mode, l.holders[owner], l.delayed = mode, h, 0
	delete(l.released, owner)
	return m.granted(h)
}

func (m *nativeModel) granted(h *modelHolder) string {
	return fmt.Sprintf("[%d, %d]", h.token, millisLeft(m.ends(h), m.now))
}

func (m *nativeModel) release(name, owner string) string {
	l := m.lock(name)
	if l.holders[owner] == nil {
		if l.released[owner] > m.now {
			return "1"
		}
		return "0"
	}
	delete(l.holders, owner)
	l.released[owner] = m.now + ReleaseKept
	return "1"
}

func (m *nativeModel) extend(name, owner string, ttl int64) string {
	h := m.lock(name).holders[owner]
	switch {
	case h == nil:
		return "0"
	case h.session != 0:
		return "error"
	}
	h.ends = m.now + ttl*1000
	return "1"
}

func (m *nativeModel) token(name, owner string) string {
	if h := m.lock(name).holders[owner]; h != nil {
		return strconv.FormatInt(h.token, 10)
	}
	return "nil"
}

func (m *nativeModel) breakLock(name string) string {
	l := m.lock(name)
	held := len(l.holders) > 0 || l.delayed > m.now
	l.holders, l.delayed = map[string]*modelHolder{}, 0
	return spelled(reply.Truth(held))
}

// pttl is what an ordinary client sees.
func (m *nativeModel) pttl(name string) string {
	l := m.lock(name)
	last := l.delayed
	for _, h := range l.holders {
		last = max(last, m.ends(h))
	}
	if last <= m.now {
		return "-2"
	}
	return strconv.FormatInt(millisLeft(last, m.now), 10)
}

func (m *nativeModel) keepAlive(id int64) string {
	s := m.sessions[id]
	if s != nil {
		s.ends = m.now + s.ttl*1000
	}
	return spelled(reply.Truth(s != nil))
}

func (m *nativeModel) closeSession(id int64) string {
	for _, l := range m.locks {
		for owner, h := range l.holders {
			if h.session == id {
				delete(l.holders, owner)
			}
		}
	}
	was := m.sessions[id] != nil
	delete(m.sessions, id)
	return spelled(reply.Truth(was))
}

// drawn is one command of a run, and what the model says to it.
func (m *nativeModel) drawn(t *rapid.T) (args []string, want string) {
	name := rapid.SampledFrom([]string{"a", "b"}).Draw(t, "name")
	owner := rapid.SampledFrom([]string{"x", "y", "z"}).Draw(t, "owner")
	ttl := rapid.Int64Range(1, 100).Draw(t, "ttl")
	id := rapid.SampledFrom(append(m.openSessions(), 1<<40)).Draw(t, "session")
	number := func(n int64) string { return strconv.FormatInt(n, 10) }
	switch op := rapid.SampledFrom([]string{"acquire", "acquire", "acquire", "release", "extend", "token", "break", "pttl", "open", "keepalive", "close", "all"}).Draw(t, "op"); op {
	case "acquire":
		return m.drawnAcquire(t, name, owner, ttl, id)
	case "release":
		return []string{"lock.release", name, owner}, m.release(name, owner)
	case "extend":
		return []string{"lock.extend", name, owner, number(ttl)}, m.extend(name, owner, ttl)
	case "token":
		return []string{"lock.token", name, owner}, m.token(name, owner)
	case "break":
		return []string{"lock.break", name}, m.breakLock(name)
	case "pttl":
		return []string{"pttl", name}, m.pttl(name)
	case "open":
		m.tokens++
		m.sessions[m.tokens] = &modelSession{ttl, m.now + ttl*1000}
		return []string{"session.open", number(ttl)}, number(m.tokens)
	case "keepalive":
		return []string{"session.keepalive", number(id)}, m.keepAlive(id)
	case "close":
		return []string{"session.close", number(id)}, m.closeSession(id)
	}
	return []string{"lock.acquireall", owner, number(ttl), "2", name, "c"}, m.acquireAll(owner, ttl, name, "c")
}

func (m *nativeModel) drawnAcquire(t *rapid.T, name, owner string, ttl, id int64) ([]string, string) {
	mode := rapid.SampledFrom([]string{"", "", "shared", "permits 1", "permits 2"}).Draw(t, "mode")
	delay := rapid.SampledFrom([]int64{-1, -1, 0, 30}).Draw(t, "delay")
	args, session := []string{"lock.acquire", name, owner, strconv.FormatInt(ttl, 10)}, int64(0)
	if rapid.IntRange(0, 2).Draw(t, "by session") == 0 {
		session, ttl, args[3] = id, 0, "0"
		args = append(args, "session", strconv.FormatInt(id, 10))
	}
	switch mode {
	case "shared":
		args = append(args, "shared")
	case "permits 1", "permits 2":
		args = append(args, "permits", mode[len(mode)-1:])
	}
	if delay >= 0 {
		args = append(args, "delay", strconv.FormatInt(delay, 10))
	}
	return args, m.acquire(name, owner, mode, ttl, session, delay)
}

func (m *nativeModel) openSessions() []int64 {
	var ids []int64
	for id := range m.sessions {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// acquireAll tries on a copy, so that a name that is not to be had changes nothing.
func (m *nativeModel) acquireAll(owner string, ttl int64, names ...string) string {
	tokens, left := make([]int64, len(names)), int64(never)
	trial := m.copy()
	for i, name := range names {
		got := trial.acquire(name, owner, "", ttl, 0, -1)
		var millis int64
		if _, err := fmt.Sscanf(got, "[%d, %d]", &tokens[i], &millis); err != nil {
			return got
		}
		left = min(left, millis)
	}
	*m = *trial
	return fmt.Sprintf("[[%d, %d], %d]", tokens[0], tokens[1], left)
}

func (m *nativeModel) copy() *nativeModel {
	c := *m
	c.locks = map[string]*lockModel{}
	for name, l := range m.locks {
		x := lockModel{l.mode, map[string]*modelHolder{}, l.delayed, map[string]int64{}}
		for owner, h := range l.holders {
			own := *h
			x.holders[owner] = &own
		}
		for owner, until := range l.released {
			x.released[owner] = until
		}
		c.locks[name] = &x
	}
	return &c
}

// TestNativeLocks: P1, P2, P3, P9. Any native commands at any times answer as the
// model does: an owner-aware mutex, a shared one, a semaphore, with delays and sessions.
func TestNativeLocks(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		m := newMachine(t, 3)
		want := &nativeModel{locks: map[string]*lockModel{}, sessions: map[int64]*modelSession{}}
		for i := range 100 {
			m.pass(time.Duration(rapid.Int64Range(0, 30_000).Draw(rt, "pass")) * time.Microsecond)
			want.pass(m.now)
			args, expected := want.drawn(rt)
			got := plain(m.one(args))
			if got != expected {
				rt.Fatalf("step %d at %v: %q answers %s, must %s", i, time.Duration(m.now)*time.Microsecond, args, got, expected)
			}
			checkState(rt, m.state)
			if i%25 == 10 {
				m.state = restored(t, m.state)
			}
		}
		if replayed := m.replay(); replayed.Hash() != m.state.Hash() {
			rt.Fatal("the log played again gives another state")
		}
	})
}

// plain is an answer without what the model doesn't say.
func plain(got string) string {
	got, _, _ = strings.Cut(got, " (granted")
	if strings.HasPrefix(got, "error") {
		return "error"
	}
	return got
}
