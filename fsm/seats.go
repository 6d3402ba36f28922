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
		if s.votes(r, d.num)*2 > int(s.cluster.Seats) {
			return r
		}
		if lowest == nil {
			lowest = r
		}
	}
	return lowest
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
