package fsm

// Count is how much one database of a keyspace holds. What has run out counts
// until an entry ends it.
type Count struct {
	Space  uint8
	DB     uint8
	Keys   int
	Leased int // those of Keys that have a lease: the others stay until somebody deletes them
}

// Counts lists the databases that hold something, in the order of space and number.
func (s *State) Counts() []Count {
	var out []Count
	for _, d := range s.databases {
		if n := d.keys.Len(); n > 0 {
			out = append(out, Count{Space: d.space, DB: d.num, Keys: n, Leased: d.leased})
		}
	}
	return out
}
