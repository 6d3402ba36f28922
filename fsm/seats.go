package fsm

// One name is one lock, whichever door one comes through. No key comes into
// being on one side (shared port, seats) while the other side has it.

// other is the record that the other kind of port has for key: a seat sees the
// shared port's; the shared port sees the value with a majority of seats, else
// that of the lowest seat that has one.
func (s *State) other(d *database, key string) *record {
	if d.space != SharedSpace {
		return s.get(s.db(SharedSpace, d.num), key)
	}
	var lowest *record
	for seat := uint8(1); seat <= s.cluster.Seats; seat++ {
		r := s.get(s.db(seat, d.num), key)
		if r == nil {
			continue
		}
		if s.votes(r, d.num) >= s.majority() {
			return r
		}
		if lowest == nil {
			lowest = r
		}
	}
	return lowest
}

// majority is how many seats make a grant.
func (s *State) majority() int { return int(s.cluster.Seats)/2 + 1 }

// grantFor is the grant of the seats that r will belong to as a record of d, 0 if
// none. A value that comes to hold a majority is granted with r's token, which is
// noted in all its votes; a vote that joins a majority that stands belongs to its
// grant. So the token stays while the majority does, whichever votes run out and
// are won again, and a majority that was lost gets a new one.
func (s *State) grantFor(d *database, r *record) uint64 {
	if d.space == SharedSpace || r.kind != stringKind {
		return 0
	}
	stood, standing := 0, uint64(0)
	type vote struct {
		db  *database
		rec *record
	}
	var others []vote
	for seat := uint8(1); seat <= s.cluster.Seats; seat++ {
		db := s.db(seat, d.num)
		x := s.get(db, r.key)
		if x == nil || !sameValue(x, r) {
			continue
		}
		stood, standing = stood+1, x.grant
		if db != d {
			others = append(others, vote{db, x})
		}
	}
	switch {
	case len(others)+1 < s.majority():
		return 0
	case stood >= s.majority():
		return standing
	}
	for _, v := range others {
		joined := *v.rec
		joined.grant = r.token
		s.put(v.db, &joined)
	}
	return r.token
}

// votes counts the seats that hold the same value under the same key as r.
func (s *State) votes(r *record, num uint8) int {
	n := 0
	for seat := uint8(1); seat <= s.cluster.Seats; seat++ {
		if x := s.get(s.db(seat, num), r.key); x != nil && sameValue(x, r) {
			n++
		}
	}
	return n
}

// refusedByOther says whether a write of key would bring it into being on this
// side while the other side has it. The command then ends with an error and is undone.
func (c *call) refusedByOther(key string) bool {
	if c.s.get(c.db, key) != nil || c.s.other(c.db, key) == nil {
		return false
	}
	c.held = errHeldSeats
	if c.db.space != SharedSpace {
		c.held = errHeldShared
	}
	return true
}

// watchVersion is what WATCH answers and EXEC compares: it changes when either
// side's key changes.
func (s *State) watchVersion(d *database, key string) uint64 {
	v := s.versionOf(d, key)
	if d.space != SharedSpace {
		return mix(v, s.versionOf(s.db(SharedSpace, d.num), key))
	}
	for seat := uint8(1); seat <= s.cluster.Seats; seat++ {
		v = mix(v, s.versionOf(s.db(seat, d.num), key))
	}
	return v
}

// mix folds two versions into one number that changes when either does.
func mix(a, b uint64) uint64 { return (a ^ b>>32 ^ b<<32) * 0x9E3779B97F4A7C15 }

// noteQuorumAsked tells the nodes when r, which refuses a SET NX on the shared
// port, has the very value that is asked for and came through another node: so ask
// clients that take the nodes for masters of their own.
func (c *call) noteQuorumAsked(r *record, value string) {
	if r == nil || c.db.space != SharedSpace || r.kind != stringKind || r.str != value || r.holder.Node == c.client.Node {
		return
	}
	if c.s.get(c.db, r.key) != r {
		return // a seat's record: its client knows about seats
	}
	c.s.events = append(c.s.events, Event{Kind: QuorumAsked, DB: c.db.num, Name: c.client.describe(), Key: r.key, Payload: c.client.Node})
}
