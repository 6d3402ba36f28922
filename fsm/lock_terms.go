package fsm

// terms are what a lock made by LOCK.ACQUIRE has beside its owner and its lease.
// They never change once a record or a holding has them; nil stands for none.
type terms struct {
	session uint64 // whose lease is the lock's, 0 for none
	delay   int64  // microseconds for which nobody gets the lock after its lease has ended
	note    string // for people
}

// termsBytes is what terms are taken to cost beside their note.
const termsBytes = 64

func (t *terms) bytes() int64 {
	if t == nil {
		return 0
	}
	return termsBytes + int64(len(t.note))
}

func (t *terms) sessionID() uint64 {
	if t == nil {
		return 0
	}
	return t.session
}

func (t *terms) delayMicros() int64 {
	if t == nil {
		return 0
	}
	return t.delay
}

func (t *terms) noteText() string {
	if t == nil {
		return ""
	}
	return t.note
}

// orNil is t, or nil if it says nothing.
func (t terms) orNil() *terms {
	if t == (terms{}) {
		return nil
	}
	return &t
}

func (t *terms) write(sw *snapshotWriter) {
	sw.uint(uint64(flag(t != nil)))
	if t != nil {
		sw.uint(t.session)
		sw.int(t.delay)
		sw.text(t.note)
	}
}

// readTerms reads what write wrote. The sessions were read before.
func (s *State) readTerms(sr *snapshotReader) *terms {
	if sr.uint() == 0 {
		return nil
	}
	t := &terms{session: sr.uint(), delay: sr.int(), note: sr.text()}
	if t.session != 0 {
		if _, ok := s.sessions.find(t.session); !ok {
			sr.fail("a lock of a session that is not there")
		}
	}
	if t.delay < 0 || t.delay > LockDelayMax*1000 || len(t.note) > NoteMax {
		sr.fail("a lock with terms over their limits")
	}
	return t
}
