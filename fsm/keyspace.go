package fsm

import "github.com/tidwall/btree"

// database is one database number of one keyspace: the records by key.
type database struct {
	order uint16 // space*Databases + number
	space uint8
	num   uint8
	keys  *btree.Map[string, *record]
	// leased counts the records with a lease.
	leased int
}

func newDatabase(order int) *database {
	return &database{
		order: uint16(order), space: uint8(order / Databases), num: uint8(order % Databases),
		keys: new(btree.Map[string, *record]),
	}
}

// db finds a database of a keyspace that this cluster has, else nil.
func (s *State) db(space, num uint8) *database {
	i := int(space)*Databases + int(num)
	if i >= len(s.databases) || num >= Databases {
		return nil
	}
	return s.databases[i]
}

// get finds a record whose lease has not run out at the machine's time.
func (s *State) get(d *database, key string) *record {
	r, ok := d.keys.Get(key)
	if ok && r.native() {
		return s.seen(r)
	}
	if !ok || r.gone(s.clock.now) {
		return nil
	}
	return r
}

// put makes r the record of its key and remembers the one it replaces in the
// undo list. It is the only place, with drop, where a keyspace changes.
func (s *State) put(d *database, r *record) {
	old, _ := d.keys.Set(r.key, r)
	s.swap(d, old, r)
	s.undo = append(s.undo, change{db: d, key: r.key, old: old})
	s.waiters.note(d, r)
}

// drop removes a record that is there.
func (s *State) drop(d *database, r *record) {
	d.keys.Delete(r.key)
	s.swap(d, r, nil)
	s.removedAt(d, r.key)
	s.noteFreed(d, r.key)
	s.undo = append(s.undo, change{db: d, key: r.key, old: r})
}

// swap keeps what is derived from the records in step: deadlines, memory,
// holders, sessions. Either side may be nil.
func (s *State) swap(d *database, old, new *record) {
	sameHolder := old != nil && new != nil && old.holder == new.holder
	if old != nil {
		if at := old.dueAt(); at != never {
			s.deadlines.Delete(due{at, d, old})
		}
		if old.leased() {
			d.leased--
		}
		s.memory -= old.bytes()
		if !sameHolder {
			s.releaseHolder(old.holder)
		}
	}
	if new != nil {
		if at := new.dueAt(); at != never {
			s.deadlines.Set(due{at, d, new})
		}
		if new.leased() {
			d.leased++
		}
		s.memory += new.bytes()
		if !sameHolder {
			s.retainHolder(new.holder)
		}
	}
	if old != nil && old.native() || new != nil && new.native() {
		s.swapNative(d, old, new)
	}
}

// change is one step of the undo list: what key had before, nil for nothing; or
// how to take back what is no record.
type change struct {
	db     *database
	key    string
	old    *record
	revert func()
}

// mark is a point to which undoTo can return. It holds what a command may move
// beside the records.
type mark struct {
	changes int
	events  int
	tokens  uint64
	ready   int // of waiters.ready
	ended   int // of waiters.ended
}

func (s *State) mark() mark {
	return mark{len(s.undo), len(s.events), s.tokens, len(s.waiters.ready), len(s.waiters.ended)}
}

// undoTo takes back all changes since m, the newest first. Versions and removal
// buckets stay as they are: a version used twice could hide a change from WATCH.
func (s *State) undoTo(m mark) {
	for len(s.undo) > m.changes {
		c := s.undo[len(s.undo)-1]
		s.undo = s.undo[:len(s.undo)-1]
		if c.revert != nil {
			c.revert()
			continue
		}
		current, _ := c.db.keys.Get(c.key)
		if c.old == nil {
			c.db.keys.Delete(c.key)
		} else {
			c.db.keys.Set(c.key, c.old)
		}
		s.swap(c.db, current, c.old)
	}
	s.events = s.events[:m.events]
	s.tokens = m.tokens
	s.waiters.unnote(m.ready)
	s.waiters.ended = s.waiters.ended[:m.ended]
}

// removedAt notes that key went away at this version, in a bucket that many
// keys share: see versionOf.
func (s *State) removedAt(d *database, key string) {
	s.version++
	s.removed[bucketOf(d, key)] = s.version
}

// versionOf is what WATCH compares: the record's version, or for a key that is
// not there the version at which a key of its bucket was last removed. It can
// change without a change of the key, which makes EXEC fail and the client try
// again; it can't stay the same through one.
func (s *State) versionOf(d *database, key string) uint64 {
	if r := s.get(d, key); r != nil {
		return r.version<<1 | 1
	}
	return s.removed[bucketOf(d, key)] << 1
}

func bucketOf(d *database, key string) uint32 {
	h := uint32(2166136261) ^ uint32(d.order)*16777619
	for i := 0; i < len(key); i++ {
		h = (h ^ uint32(key[i])) * 16777619
	}
	return h % WatchBuckets
}
