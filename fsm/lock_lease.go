package fsm

// How the leases of native locks end. A plain record's lease is its deadline; a
// native one may be a session's, may be followed by a delay, and may be one of
// several under one name.

// native says whether a record's end is more than its deadline.
func (r *record) native() bool { return r.terms != nil || r.kind == lockKind }

// dueAt is when the machine has to look at a record next: never if nothing of
// its own ends.
func (r *record) dueAt() int64 {
	if h, ok := r.obj.(*holdings); ok {
		return h.nextEnd()
	}
	return r.deadline
}

// leased says whether a record goes by itself.
func (r *record) leased() bool {
	return r.deadline != never || r.kind == lockKind || r.terms.sessionID() != 0
}

// endOf is when a record's lease ends, its own or its session's; of what several
// hold the last one or the delay.
func (s *State) endOf(r *record) int64 {
	if h, ok := r.obj.(*holdings); ok {
		end := h.delayed
		h.ends.Reverse(func(x *holding) bool {
			end = max(end, s.endOfHolding(x))
			return x.deadline == never
		})
		return end
	}
	return s.leaseEnd(r.deadline, r.terms)
}

func (s *State) endOfHolding(x *holding) int64 { return s.leaseEnd(x.deadline, x.terms) }

func (s *State) leaseEnd(deadline int64, t *terms) int64 {
	if id := t.sessionID(); id != 0 {
		return min(deadline, s.sessions.end(id))
	}
	return deadline
}

// seen is a native record as every command sees it: nil once it is gone. One that
// is past its end but not ended yet (see ExpirePerEntry) shows what it will
// become: a name in its delay, or nothing.
func (s *State) seen(r *record) *record {
	h, several := r.obj.(*holdings)
	if several && s.held(h) {
		return r
	}
	if !several && s.endOf(r) > s.clock.now {
		return r
	}
	until := s.delayAfter(r.terms, s.endOf(r))
	if several {
		until = s.delayOf(h)
	}
	if until <= s.clock.now {
		return nil
	}
	return delayedRecord(r, until)
}

// gone says whether no command sees a record any more.
func (s *State) gone(r *record) bool {
	if r.native() {
		return s.seen(r) == nil
	}
	return r.gone(s.clock.now)
}

// held says whether anybody of a lock's holders has a lease that runs.
func (s *State) held(h *holdings) bool {
	found := false
	h.ends.Reverse(func(x *holding) bool {
		found = s.endOfHolding(x) > s.clock.now
		return !found && x.deadline == never
	})
	return found
}

// delayOf is up to when nobody else is granted the lock: the delays of leases
// that are past their end count, whether they were ended yet or not.
func (s *State) delayOf(h *holdings) int64 {
	until := h.delayed
	h.ends.Scan(func(x *holding) bool {
		end := s.endOfHolding(x)
		if end <= s.clock.now && !x.offered {
			until = max(until, s.delayAfter(x.terms, end))
		}
		return true
	})
	return until
}

// delayAfter is the end of the delay that follows a lease, 0 if none does.
func (s *State) delayAfter(t *terms, end int64) int64 {
	d := t.delayMicros()
	if d == 0 || end > never-1-d {
		return 0
	}
	return end + d
}

// delayedRecord is what becomes of r's name while nobody gets it.
func delayedRecord(r *record, until int64) *record {
	h := newHoldings(0)
	h.delayed = until
	fresh := *r
	fresh.kind, fresh.str, fresh.obj, fresh.terms, fresh.deadline = lockKind, "", h, nil, until
	return &fresh
}

// endDue ends what is due of a record and answers how many leases that were.
func (s *State) endDue(d *database, r *record) int {
	h, several := r.obj.(*holdings)
	switch {
	case !several:
		s.endLock(d, r, true)
		return 1
	case h.len() == 0:
		s.drop(d, r)
		s.nativeEvent(d, "free", r.key, "", r.token)
		return 1
	case h.delayed > 0 && h.delayed <= s.clock.now:
		h = h.copy()
		h.delayed = 0
		s.putHoldings(d, r, h, nil, nil)
		return 1
	}
	return s.endHoldings(d, r)
}

// endLock ends the lease of a record of one owner.
func (s *State) endLock(d *database, r *record, expired bool) {
	if until := s.delayAfter(r.terms, s.endOf(r)); expired && until > s.clock.now {
		s.putNew(d, delayedRecord(r, until))
	} else {
		s.drop(d, r)
	}
	if expired {
		s.keyEvent(d, 'x', "expired", r.key)
	} else {
		s.keyEvent(d, 'g', "del", r.key)
	}
	s.endEvent(d, r, ended(expired))
	if r.native() {
		s.keyEvent(d, lockClass, "lock."+ended(expired), r.key)
	}
}

// endHoldings ends those leases of a lock that are past their end.
func (s *State) endHoldings(d *database, r *record) int {
	first, ok := s.sessions.ends.Min()
	overdue := ok && first.deadline <= s.clock.now // some are later in the order
	var due []string
	r.obj.(*holdings).ends.Scan(func(x *holding) bool {
		if s.endOfHolding(x) <= s.clock.now {
			due = append(due, x.owner)
		}
		return x.deadline <= s.clock.now || overdue
	})
	for _, owner := range due {
		if r, _ = d.keys.Get(r.key); r != nil {
			s.endHolding(d, r, owner, true)
		}
	}
	return len(due)
}

// endHolding takes one holder out of a lock that several hold.
func (s *State) endHolding(d *database, r *record, owner string, expired bool) {
	h := r.obj.(*holdings)
	x, ok := h.owners.Get(owner)
	if !ok {
		return
	}
	h = h.copy()
	if expired && !x.offered {
		h.delayed = max(h.delayed, s.delayAfter(x.terms, s.endOfHolding(x)))
	}
	h.remove(owner)
	if h.len() == 0 && h.delayed <= s.clock.now {
		s.drop(d, r)
	} else {
		s.putHoldings(d, r, h, x, nil)
	}
	if x.offered {
		return // nobody was granted anything
	}
	s.nativeEvent(d, ended(expired), r.key, owner, x.token)
}

func ended(expired bool) string {
	if expired {
		return "expire"
	}
	return "release"
}

// putNew puts a record that is a change for WATCH.
func (s *State) putNew(d *database, r *record) {
	s.version++
	r.version = s.version
	s.put(d, r)
}

// putHoldings puts r with other holdings, in which fresh took old's place; either
// may be nil.
func (s *State) putHoldings(d *database, r *record, h *holdings, old, fresh *holding) {
	next := *r
	next.obj, next.deadline = h, h.lastEnd()
	s.noteFreed(d, r.key)
	if fresh != nil {
		next.token = max(next.token, fresh.token)
	}
	s.putNew(d, &next)
	s.swapHolding(d, r.key, old, fresh)
	s.undo = append(s.undo, change{revert: func() { s.swapHolding(d, r.key, fresh, old) }})
}

// swapHolding keeps sessions and holders in step with one holding. Those of a
// whole record that comes or goes are swapped by swapHoldings.
func (s *State) swapHolding(d *database, key string, old, fresh *holding) {
	if fresh != nil {
		s.retainHolder(fresh.holder)
		if id := fresh.terms.sessionID(); id != 0 {
			s.sessions.join(sessionLock{id, d.order, key, fresh.owner})
		}
	}
	if old == nil {
		return
	}
	s.releaseHolder(old.holder)
	if id := old.terms.sessionID(); id != 0 && (fresh == nil || fresh.terms.sessionID() != id) {
		s.sessions.leave(sessionLock{id, d.order, key, old.owner})
	} else if id != 0 {
		s.sessions.count(id, -1) // it was counted twice
	}
}

// swapNative keeps sessions and holders in step when a record comes, goes or is
// replaced. Between two records of holdings putHoldings does it.
func (s *State) swapNative(d *database, old, fresh *record) {
	was, several := holdingsOf(old)
	is, stillSeveral := holdingsOf(fresh)
	if !several || !stillSeveral {
		eachHolding(was, func(x *holding) { s.swapHolding(d, old.key, x, nil) })
		eachHolding(is, func(x *holding) { s.swapHolding(d, fresh.key, nil, x) })
	}
	from, to := sessionOf(old), sessionOf(fresh)
	if from == to {
		return
	}
	if from != 0 {
		s.sessions.leave(sessionLock{from, d.order, old.key, ""})
	}
	if to != 0 {
		s.sessions.join(sessionLock{to, d.order, fresh.key, ""})
	}
}

func holdingsOf(r *record) (*holdings, bool) {
	if r == nil {
		return nil, false
	}
	h, ok := r.obj.(*holdings)
	return h, ok
}

func eachHolding(h *holdings, visit func(*holding)) {
	if h != nil {
		h.owners.Scan(func(_ string, x *holding) bool { visit(x); return true })
	}
}

func sessionOf(r *record) uint64 {
	if r == nil {
		return 0
	}
	return r.terms.sessionID()
}
