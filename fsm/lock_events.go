package fsm

// lockEvent tells those who watch locks what became of a grant of the shared
// port, whichever command made it.
func (s *State) lockEvent(d *database, what, key, owner string, token uint64) {
	if d.space != SharedSpace {
		return
	}
	s.events = append(s.events, Event{
		Kind: LockChanged, Space: d.space, DB: d.num, Name: what, Key: key, Owner: cutText(owner, OwnerShown), Token: token,
	})
}

// nativeEvent tells those who watch keys, too, of what only native commands do.
func (s *State) nativeEvent(d *database, what, key, owner string, token uint64) {
	s.lockEvent(d, what, key, owner, token)
	s.keyEvent(d, lockClass, "lock."+what, key)
}

// tellOf tells both of what others than the owner did.
func (s *State) tellOf(d *database, e Event) {
	e.Kind, e.Space, e.DB = LockChanged, d.space, d.num
	s.events = append(s.events, e)
	s.keyEvent(d, lockClass, "lock."+e.Name, e.Key)
}

func cutText(s string, n int) string { return s[:min(n, len(s))] }
