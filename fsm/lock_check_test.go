package fsm

import "pgregory.net/rapid"

// checkLock looks at what a native record must be, notes its places in sessions,
// and answers how many holders it has beside the record's own.
func checkLock(t *rapid.T, s *State, d *database, r *record, in map[sessionLock]bool) int {
	if id := r.terms.sessionID(); id != 0 {
		in[sessionLock{id, d.order, r.key, ""}] = true
	}
	h, several := holdingsOf(r)
	if !several {
		return 0
	}
	var size int64
	offers := 0
	h.owners.Scan(func(owner string, x *holding) bool {
		size += x.bytes()
		if x.offered {
			offers++
		} else if y, ok := h.tokens.Get(x.token); !ok || y != x || x.owner != owner || x.token > r.token {
			t.Fatalf("%q: token %d of %q leads to %v", r.key, x.token, owner, y)
		}
		if id := x.terms.sessionID(); id != 0 {
			in[sessionLock{id, d.order, r.key, owner}] = true
		}
		return true
	})
	if size != h.size || h.ends.Len() != h.len() || h.tokens.Len() != h.len()-offers || h.whole && (offers != 1 || h.len() != 1) || r.deadline != h.lastEnd() {
		t.Fatalf("%q: %d holders, %d ends, %d tokens, %d bytes are %d", r.key, h.len(), h.ends.Len(), h.tokens.Len(), h.size, size)
	}
	if h.permits > 0 && int64(h.len()) > h.permits || h.len() == 0 && h.delayed == 0 {
		t.Fatalf("%q: %d holders of %d permits, delay until %d", r.key, h.len(), h.permits, h.delayed)
	}
	return h.len()
}

// checkSessions compares the sessions with the locks that the records say they
// have, and answers the bytes of sessions and kept releases.
func checkSessions(t *rapid.T, s *State, in map[sessionLock]bool) int64 {
	var memory, released int64
	s.released.byName.Scan(func(_ string, x *release) bool { released += x.bytes(); return true })
	if s.released.ends.Len() != s.released.byName.Len() || released != s.released.size {
		t.Fatalf("%d kept releases, %d ends", s.released.byName.Len(), s.released.ends.Len())
	}
	locks := map[uint64]int{}
	for l := range in {
		locks[l.session]++
		if _, ok := s.sessions.locks.Get(l); !ok {
			t.Fatalf("%+v is not in its session", l)
		}
	}
	if len(in) != s.sessions.locks.Len() {
		t.Fatalf("sessions have %d locks, records say %d", s.sessions.locks.Len(), len(in))
	}
	s.sessions.byID.Scan(func(id uint64, x *session) bool {
		memory += x.bytes()
		if x.locks != locks[id] {
			t.Fatalf("session %d counts %d locks of %d", id, x.locks, locks[id])
		}
		delete(locks, id)
		return true
	})
	if len(locks) > 0 || s.sessions.ends.Len() != s.sessions.byID.Len() {
		t.Fatalf("locks of sessions that are not there: %v; %d sessions, %d ends", locks, s.sessions.byID.Len(), s.sessions.ends.Len())
	}
	return memory + released
}
