package fsm

import (
	"strings"

	"github.com/tidwall/btree"
)

// released remembers for a while who released what, so that a release whose
// reply was lost is answered as it was when its owner asks again.
type released struct {
	byName *btree.Map[string, *release] // by name, owner and database: see releaseID
	ends   *btree.BTreeG[*release]
	size   int64
}

type release struct {
	db         uint16
	key, owner string
	until      int64
}

// releaseBytes is what a kept release is taken to cost beside its texts.
const releaseBytes = 150

func (x *release) bytes() int64 { return releaseBytes + int64(len(x.key)+len(x.owner)) }

func newReleased() released {
	return released{
		byName: new(btree.Map[string, *release]),
		ends:   btree.NewBTreeGOptions(releaseEndsBefore, btree.Options{NoLocks: true}),
	}
}

func (t *released) copy() released {
	return released{byName: t.byName.Copy(), ends: t.ends.Copy(), size: t.size}
}

func releaseEndsBefore(a, b *release) bool {
	if a.until != b.until {
		return a.until < b.until
	}
	return releaseID(a.db, a.key, a.owner) < releaseID(b.db, b.key, b.owner)
}

// releaseID is one text for a database, a name and an owner: no two share one,
// since the length of the name is in it.
func releaseID(db uint16, key, owner string) string {
	n := len(key)
	return string([]byte{byte(db >> 8), byte(db), byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}) + key + owner
}

func (t *released) find(db uint16, key, owner string, now int64) bool {
	if t.byName.Len() == 0 {
		return false
	}
	x, ok := t.byName.Get(releaseID(db, key, owner))
	return ok && x.until > now
}

func (t *released) add(x *release) {
	t.byName.Set(releaseID(x.db, x.key, x.owner), x)
	t.ends.Set(x)
	t.size += x.bytes()
}

func (t *released) drop(x *release) {
	t.byName.Delete(releaseID(x.db, x.key, x.owner))
	t.ends.Delete(x)
	t.size -= x.bytes()
}

// keepRelease remembers that owner released key.
func (s *State) keepRelease(d *database, key, owner string) {
	s.forgetRelease(d, key, owner)
	x := &release{d.order, strings.Clone(key), strings.Clone(owner), s.clock.now + ReleaseKept}
	s.released.add(x)
	s.memory += x.bytes()
	s.undo = append(s.undo, change{revert: func() { s.released.drop(x); s.memory -= x.bytes() }})
	for s.released.byName.Len() > ReleasesMax || s.released.size > ReleasesBytesMax {
		oldest, _ := s.released.ends.Min()
		s.dropRelease(oldest)
	}
}

// forgetRelease forgets that owner released key: it has been granted it anew.
func (s *State) forgetRelease(d *database, key, owner string) {
	if s.released.byName.Len() == 0 {
		return
	}
	if x, ok := s.released.byName.Get(releaseID(d.order, key, owner)); ok {
		s.dropRelease(x)
	}
}

func (s *State) dropRelease(x *release) {
	s.released.drop(x)
	s.memory -= x.bytes()
	s.undo = append(s.undo, change{revert: func() { s.released.add(x); s.memory += x.bytes() }})
}

// forgetReleases forgets what is past its time, a bounded number in one entry.
func (s *State) forgetReleases() {
	for range ExpirePerEntry {
		x, ok := s.released.ends.Min()
		if !ok || x.until > s.clock.now {
			return
		}
		s.dropRelease(x)
	}
}

func (sn *Snapshot) writeReleased(sw *snapshotWriter) {
	sw.uint(uint64(sn.state.released.byName.Len()))
	sn.state.released.byName.Scan(func(_ string, x *release) bool {
		sw.uint(uint64(x.db))
		sw.text(x.key)
		sw.text(x.owner)
		sw.int(x.until)
		return sw.err == nil
	})
}

func (s *State) readReleased(sr *snapshotReader) {
	for n := sr.uint(); n > 0 && sr.err == nil; n-- {
		db := sr.uint()
		x := &release{uint16(db), sr.text(), sr.text(), sr.int()}
		if sr.err != nil {
			return
		}
		if db >= uint64(len(s.databases)) || s.released.find(x.db, x.key, x.owner, 0) {
			sr.fail("a release of no database, or one that is there twice")
			return
		}
		s.released.add(x)
		s.memory += x.bytes()
	}
}
