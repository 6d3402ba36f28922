package fsm

// tell tells those who watch locks what became of a name, whichever command made
// it so and through whichever kind of port.
func (s *State) tell(num uint8, what, key, owner string, token uint64) {
	s.events = append(s.events, Event{
		Kind: LockChanged, Space: SharedSpace, DB: num, Name: what, Key: key, Owner: cutText(owner, OwnerShown), Token: token,
	})
}

// grantEvent tells of a new record: on the shared port it is a grant by itself, on
// a seat it may be the vote that makes a majority.
func (s *State) grantEvent(d *database, r *record) {
	if d.space == SharedSpace || r.grant == r.token {
		s.tell(d.num, "grant", r.key, r.str, r.token)
	}
}

// endEvent tells of the end of r, which is gone.
func (s *State) endEvent(d *database, r *record, what string) {
	if d.space == SharedSpace {
		s.tell(d.num, what, r.key, r.str, r.token)
		return
	}
	s.voteLost(d, r, what)
}

// voteLost tells of the end of a grant of the seats if r, which d no longer has,
// was the vote that its majority can't do without. Votes that are due and not ended
// yet still count: of several that are due at once one is the last straw.
func (s *State) voteLost(d *database, r *record, what string) {
	if r == nil || r.grant == 0 {
		return
	}
	left := 0
	for seat := uint8(1); seat <= s.cluster.Seats; seat++ {
		if x, ok := s.db(seat, d.num).keys.Get(r.key); ok && x.grant == r.grant {
			left++
		}
	}
	if left == s.majority()-1 {
		s.tell(d.num, what, r.key, r.str, r.grant)
	}
}

// nativeEvent tells those who watch keys, too, of what only native commands do.
func (s *State) nativeEvent(d *database, what, key, owner string, token uint64) {
	s.tell(d.num, what, key, owner, token)
	s.keyEvent(d, lockClass, "lock."+what, key)
}

// tellOf tells both of what others than the owner did.
func (s *State) tellOf(d *database, e Event) {
	e.Kind, e.Space, e.DB = LockChanged, d.space, d.num
	s.events = append(s.events, e)
	s.keyEvent(d, lockClass, "lock."+e.Name, e.Key)
}

func cutText(s string, n int) string { return s[:min(n, len(s))] }
