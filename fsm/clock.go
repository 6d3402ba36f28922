package fsm

// clock is the machine's time. It moves only when an entry is applied.
type clock struct {
	now  int64 // microseconds of leases since the cluster's birth
	wall int64 // microseconds since 1970, for those who ask for wall time
}

// wallSlack: the wall clock runs at most one part in a hundred faster than the
// lease clock, so that a jump of a leader's wall clock can't end what a
// client's script timed by TIME.
const wallSlack = 100

// advance moves the clock by an entry's stamp. A stamp of another term than the
// entry's was made by a leader that had lost its term when the entry was
// appended: its time may be ahead of what the cluster has seen, so it is ignored.
//
// The wall clock follows the leader's and never goes back. It may step forward
// only while no key exists, as after a long stop: then nothing can end by it.
func (c *clock) advance(st Stamp, term uint64, empty bool) (gap int64) {
	if st.Term != term {
		return 0
	}
	next := c.at(st.Now, st.Wall, empty)
	gap = st.Wall - next.wall
	*c = next
	return gap
}

// at is what the clock would show if an entry with this stamp were applied now.
func (c *clock) at(now, wall int64, empty bool) clock {
	next := *c
	next.now = max(c.now, now)
	if empty {
		next.wall = max(c.wall, wall)
		return next
	}
	passed := next.now - c.now
	next.wall = max(c.wall, min(wall, c.wall+passed+passed/wallSlack))
	return next
}

// deadlineAfter is the end of a lease of ttl milliseconds that begins now.
func (c *clock) deadlineAfter(ttlMillis int64) int64 {
	if ttlMillis > (never-1-c.now)/1000 {
		return never - 1
	}
	return c.now + ttlMillis*1000
}

// leftMillis is what a lease has left at now, at least 1 while it is not gone.
func leftMillis(deadline, now int64) int64 {
	left := deadline - now
	return max(1, left/1000+min(1, left%1000))
}
