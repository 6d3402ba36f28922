package fsm

import "github.com/tidwall/btree"

// session is one lease over many locks: when it ends, all of them are let go in
// the same entry. A session never changes: what changes one puts a new one.
type session struct {
	id       uint64 // from the counter of fencing tokens: never given twice
	name     string
	ttl      int64 // microseconds that a keep-alive gives
	deadline int64
	since    int64
	holder   *holder // who opened it
	locks    int     // how many locks are in it: counted from the records
}

// sessionBytes is what a session is taken to cost beside its name.
const sessionBytes = 300

func (x *session) bytes() int64 { return sessionBytes + int64(len(x.name)) }

// sessionLock is a lock's place in its session; owner tells the holders of one
// that several hold apart, and is empty for a record of one owner.
type sessionLock struct {
	session    uint64
	db         uint16
	key, owner string
}

func sessionLockBefore(a, b sessionLock) bool {
	switch {
	case a.session != b.session:
		return a.session < b.session
	case a.db != b.db:
		return a.db < b.db
	case a.key != b.key:
		return a.key < b.key
	}
	return a.owner < b.owner
}

func sessionEndsBefore(a, b *session) bool {
	if a.deadline != b.deadline {
		return a.deadline < b.deadline
	}
	return a.id < b.id
}

// sessions are all sessions, by id and by their ends, and the locks in them.
type sessions struct {
	byID  *btree.Map[uint64, *session]
	ends  *btree.BTreeG[*session]
	locks *btree.BTreeG[sessionLock]
}

func newSessions() sessions {
	return sessions{
		byID:  new(btree.Map[uint64, *session]),
		ends:  btree.NewBTreeGOptions(sessionEndsBefore, btree.Options{NoLocks: true}),
		locks: btree.NewBTreeGOptions(sessionLockBefore, btree.Options{NoLocks: true}),
	}
}

func (t *sessions) copy() sessions {
	return sessions{byID: t.byID.Copy(), ends: t.ends.Copy(), locks: t.locks.Copy()}
}

// find finds a session, also one whose end has passed.
func (t *sessions) find(id uint64) (*session, bool) { return t.byID.Get(id) }

// live finds a session whose lease has not ended at now.
func (t *sessions) live(id uint64, now int64) *session {
	x, ok := t.byID.Get(id)
	if !ok || x.deadline <= now {
		return nil
	}
	return x
}

// end is when a session ends, 0 if there is none.
func (t *sessions) end(id uint64) int64 {
	if x, ok := t.byID.Get(id); ok {
		return x.deadline
	}
	return 0
}

// replace puts a session in another's place; either may be nil.
func (t *sessions) replace(old, fresh *session) {
	if old != nil {
		t.byID.Delete(old.id)
		t.ends.Delete(old)
	}
	if fresh != nil {
		t.byID.Set(fresh.id, fresh)
		t.ends.Set(fresh)
	}
}

// join and leave keep the list of a session's locks in step with the records.
func (t *sessions) join(l sessionLock)  { t.locks.Set(l); t.count(l.session, 1) }
func (t *sessions) leave(l sessionLock) { t.locks.Delete(l); t.count(l.session, -1) }

func (t *sessions) count(id uint64, by int) {
	x, ok := t.byID.Get(id)
	if !ok {
		return
	}
	fresh := *x
	fresh.locks += by
	t.replace(x, &fresh)
}

// locksOf lists a session's locks by database and name.
func (t *sessions) locksOf(id uint64) []sessionLock {
	var out []sessionLock
	t.locks.Ascend(sessionLock{session: id}, func(l sessionLock) bool {
		if l.session == id {
			out = append(out, l)
		}
		return l.session == id
	})
	return out
}

// putSession puts fresh in old's place, either may be nil, so that it can be undone.
func (s *State) putSession(old, fresh *session) {
	s.swapSession(old, fresh)
	s.undo = append(s.undo, change{revert: func() { s.swapSession(fresh, old) }})
}

func (s *State) swapSession(old, fresh *session) {
	s.sessions.replace(old, fresh)
	if fresh != nil {
		s.memory += fresh.bytes()
		s.retainHolder(fresh.holder)
	}
	if old != nil {
		s.memory -= old.bytes()
		s.releaseHolder(old.holder)
	}
}

// endSession lets all locks of a session go, and the session with them. An ended
// one counts as expired: its locks' delays begin. It answers how many there were.
func (s *State) endSession(x *session, expired bool) int {
	locks := s.sessions.locksOf(x.id)
	for _, l := range locks {
		d := s.databases[l.db]
		r, ok := d.keys.Get(l.key)
		switch {
		case !ok:
		case r.kind == lockKind:
			s.endHolding(d, r, l.owner, expired)
		default:
			s.endLock(d, r, expired)
		}
	}
	s.endSessionWaits(x.id)
	if last, ok := s.sessions.find(x.id); ok {
		s.putSession(last, nil)
	}
	return len(locks)
}

func (sn *Snapshot) writeSessions(sw *snapshotWriter) {
	sw.uint(uint64(sn.state.sessions.byID.Len()))
	sn.state.sessions.byID.Scan(func(_ uint64, x *session) bool {
		sw.uint(x.id)
		sw.text(x.name)
		sw.int(x.ttl)
		sw.int(x.deadline)
		sw.int(x.since)
		sw.holder(x.holder)
		return sw.err == nil
	})
}

func (s *State) readSessions(sr *snapshotReader) {
	for n := sr.uint(); n > 0 && sr.err == nil; n-- {
		x := &session{id: sr.uint(), name: sr.text(), ttl: sr.int(), deadline: sr.int(), since: sr.int(), holder: sr.holder()}
		if _, twice := s.sessions.find(x.id); sr.err == nil && (twice || x.id == 0) {
			sr.fail("a session that is there twice or has no id")
		}
		if sr.err == nil {
			s.swapSession(nil, x)
		}
	}
}
