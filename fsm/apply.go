package fsm

import "strings"

// usualEvents bounds the room that is made for an entry's events beforehand.
const usualEvents = 1024

// Apply applies the log's entry at index, of the given term. An error means
// that this binary can't read the entry: nothing was changed, and the node must
// stop rather than skip it. Entries must come in the order of the log; one at
// or below Applied is not applied again.
func (s *State) Apply(index, term uint64, data []byte) (Result, error) {
	if index <= s.applied {
		return Result{Index: index}, nil
	}
	e, err := DecodeEntry(data)
	if err != nil {
		return Result{}, err
	}
	res := Result{Index: index}
	s.applied = index
	s.seed, s.memoryMax = e.Seed, e.MemoryMax
	// The last entry's events are somebody else's by now; this one will have about as many.
	s.events = make([]Event, 0, min(len(s.events), usualEvents))
	s.woken, s.faults, s.spent, s.replied, s.served = nil, nil, 0, 0, served{}
	if e.Kind != TermStart {
		res.WallGap = s.clock.advance(e.Stamp, term, s.empty())
		s.expire()
		s.serve()
		s.serveLocks()
	}
	switch e.Kind {
	case Batches:
		res.Batches = make([]BatchResult, len(e.Batches))
		for i := range e.Batches {
			res.Batches[i] = s.runBatch(&e.Batches[i])
		}
	case OpenOrigin:
		res.Origin = s.open(&e.Open, index)
	case RecordMember:
		s.record(&e.Member)
	case Birth:
		s.bear(&e.Birth)
	case LoseWaits:
		if o := s.byID[e.Lost]; o != nil {
			s.loseWaits(o)
		}
	}
	s.serveLocks()
	SetPlaces(s.events, index)
	res.Events, res.Woken, res.Faults, res.Steps = s.events, s.woken, s.faults, s.spent
	return res, nil
}

// bear gives the machine its cluster. A second birth changes nothing.
func (s *State) bear(b *BirthRecord) {
	if s.cluster.Cluster != "" {
		return
	}
	s.cluster = BirthRecord{Cluster: strings.Clone(b.Cluster), Seats: min(b.Seats, SeatsMax)}
	s.addSpaces(int(s.cluster.Seats))
}

// expire ends what is due at the machine's time, in order of (deadline, key),
// a bounded number of leases in one entry; a session's end is one whatever its size.
func (s *State) expire() {
	for left := ExpirePerEntry; left > 0; {
		d, ok := s.deadlines.Min()
		x, opened := s.sessions.ends.Min()
		if opened && x.deadline <= s.clock.now && (!ok || x.deadline < d.deadline) {
			left -= 1 + s.endSession(x, true)
			continue
		}
		if !ok || d.deadline > s.clock.now {
			break
		}
		left -= s.endDue(d.db, d.rec)
	}
	s.forgetReleases()
	s.undo = s.undo[:0]
}

// keyEvent tells subscribers of this node about a change, if they asked.
func (s *State) keyEvent(d *database, class byte, name, key string) {
	if s.KeyEvents {
		s.events = append(s.events, Event{Kind: KeyChanged, Space: d.space, DB: d.num, Class: class, Name: name, Key: key})
	}
}
