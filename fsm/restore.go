package fsm

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"

	"github.com/redfence/redfence/fsm/reply"
	"github.com/redfence/redfence/fsm/script"
)

// ErrSnapshot is returned, wrapped with what was wrong, for bytes that are no
// whole snapshot: torn, changed, or not one at all.
var ErrSnapshot = errors.New("fsm: damaged snapshot")

// Restore reads a snapshot and makes a State of it. It returns a State only
// after the checksum at the end was right. One of another format, or one that needs
// what a newer binary knows, gives a VersionError.
func Restore(r io.Reader) (*State, error) {
	sr := &snapshotReader{r: bufio.NewReaderSize(r, 64<<10)}
	if magic := sr.raw(len(snapshotMagic)); sr.err == nil && magic != snapshotMagic {
		return nil, fmt.Errorf("%w: it does not begin as a snapshot", ErrSnapshot)
	}
	for _, v := range []struct {
		what     string
		min, max int
	}{
		{"snapshot", SnapshotVersion, SnapshotVersion},
		{"feature level of the snapshot", 0, featureLevel},
		{"script engine of the snapshot", 0, script.Version},
	} {
		got := sr.uint()
		if sr.err == nil && (got < uint64(v.min) || got > uint64(v.max)) {
			return nil, &VersionError{What: v.what, Got: int(min(got, math.MaxInt32)), Max: v.max}
		}
	}
	s := New()
	s.readHead(sr)
	s.readOrigins(sr)
	s.readScripts(sr)
	s.readSessions(sr)
	s.readReleased(sr)
	s.readRecords(sr)
	s.readWaiters(sr)
	s.waiters.ready = s.readPlaces(sr, s.waiters.isReady)
	s.waiters.freed = s.readPlaces(sr, s.waiters.isFreed)
	sum := sr.crc
	if tail := sr.raw(4); sr.err == nil && binary.BigEndian.Uint32([]byte(tail)) != sum {
		return nil, fmt.Errorf("%w: its checksum does not fit its content", ErrSnapshot)
	}
	if sr.err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSnapshot, sr.err)
	}
	return s, nil
}

func (s *State) readHead(sr *snapshotReader) {
	s.applied = sr.uint()
	s.clock = clock{now: sr.int(), wall: sr.int()}
	s.tokens = sr.uint()
	s.version = sr.uint()
	s.cluster = BirthRecord{Cluster: sr.text(), Seats: uint8(min(sr.uint(), SeatsMax))}
	s.addSpaces(int(s.cluster.Seats))
	s.voters = Membership{Index: sr.uint(), Voters: sr.texts(), Others: sr.texts()}
	for n := sr.uint(); n > 0 && sr.err == nil; n-- {
		m := &Member{Node: sr.text(), Disk: sr.text(), Raft: sr.text(), Client: sr.text(), HTTP: sr.text(), Version: sr.text()}
		m.Seats = sr.texts()
		m.Removed = sr.uint() == 1
		s.members[m.Node] = m
	}
	for i := range s.removed {
		s.removed[i] = sr.uint()
	}
}

func (s *State) readOrigins(sr *snapshotReader) {
	for n := sr.uint(); n > 0 && sr.err == nil; n-- {
		o := newOrigin(sr.uint(), sr.text(), sr.text(), sr.uint())
		o.last = sr.uint()
		for k := sr.uint(); k > 0 && sr.err == nil; k-- {
			o.kept = append(o.kept, sr.kept())
			o.size += o.kept[len(o.kept)-1].size
		}
		if uint64(len(o.kept)) > o.last {
			sr.fail("an origin keeps more replies than it had batches")
		}
		for k := sr.uint(); k > 0 && sr.err == nil; k-- {
			ticket, a := sr.uint(), sr.answer()
			o.woken.Set(ticket, a)
			o.wokenSize += a.Value.Size()
		}
		s.origins[o.node] = o
		s.byID[o.id] = o
	}
}

func (s *State) readScripts(sr *snapshotReader) {
	for n := sr.uint(); n > 0 && sr.err == nil; n-- {
		loaded := sr.uint() == 1
		c := compileScript(sr.text())
		if sr.err == nil && c.fault != "" {
			sr.fail("a script that does not compile")
			return
		}
		c.loaded = loaded
		s.scripts.add(c)
	}
}

func (s *State) readRecords(sr *snapshotReader) {
	if n := sr.uint(); sr.err == nil && n != uint64(len(s.databases)) {
		sr.fail("a number of databases that does not fit the seats")
	}
	for _, d := range s.databases {
		for n := sr.uint(); n > 0 && sr.err == nil; n-- {
			r := &record{
				kind: valueKind(sr.uint()), key: sr.text(), str: sr.text(), deadline: sr.int(),
				token: sr.uint(), grant: sr.uint(), version: sr.uint(), since: sr.int(),
			}
			r.holder, r.terms = sr.holder(), s.readTerms(sr)
			switch {
			case kindNames[r.kind] == "":
				sr.fail("a record of an unknown kind")
			case r.kind == lockKind:
				r.obj = s.readHoldings(sr)
			case r.kind != stringKind:
				r.obj = readObject(r.kind, sr)
			}
			if sr.err != nil {
				return
			}
			s.put(d, r)
			s.undo = s.undo[:0]
		}
	}
}

func (s *State) readWaiters(sr *snapshotReader) {
	s.waiters.arrivals = sr.uint()
	for n := sr.uint(); n > 0 && sr.err == nil; n-- {
		arrival, origin, ticket, db, client, args := sr.uint(), sr.uint(), sr.uint(), sr.uint(), sr.texts(), sr.texts()
		o := s.byID[origin]
		if sr.err != nil || o == nil || db >= uint64(len(s.databases)) || len(client) != 4 || arrival > s.waiters.arrivals {
			sr.fail("a command that waits for nobody or nowhere")
			return
		}
		w := &waiter{
			arrival: arrival, origin: origin, ticket: ticket, db: s.databases[db], args: args,
			client: Client{Name: client[0], Addr: client[1], Library: client[2], Node: client[3]},
		}
		spec, bad := (*Spec)(nil), reply.Null
		if len(args) > 0 {
			spec = byName[args[0]]
		}
		if spec != nil && spec.want != nil && spec.ArityFits(len(args)) {
			w.want, bad = spec.want(args)
		}
		if len(w.want.keys) == 0 || bad.IsError() {
			sr.fail("a command that waits and can't")
			return
		}
		s.waiters.add(w)
		o.waiting.Set(ticket, w)
	}
}

// readPlaces reads places, none of them twice, which known then has.
func (s *State) readPlaces(sr *snapshotReader, known map[place]bool) (out []place) {
	for n := sr.uint(); n > 0 && sr.err == nil; n-- {
		db, key := sr.uint(), sr.text()
		p := place{uint16(db), key}
		if db >= uint64(len(s.databases)) || known[p] {
			sr.fail("a key that waits to be looked at twice, or in no database")
			return nil
		}
		known[p] = true
		out = append(out, p)
	}
	return out
}

// snapshotReader reads and sums. After the first error every read gives zero
// values.
type snapshotReader struct {
	r       *bufio.Reader
	crc     uint32
	err     error
	holders []*holder
}

// holder reads what the writer's holder wrote.
func (sr *snapshotReader) holder() *holder {
	number := sr.uint()
	if number == uint64(len(sr.holders)) {
		if t := sr.texts(); len(t) == 4 {
			sr.holders = append(sr.holders, &holder{Client: Client{Name: t[0], Addr: t[1], Library: t[2], Node: t[3]}})
		}
	}
	if number >= uint64(len(sr.holders)) {
		sr.fail("an unknown holder")
		return nil
	}
	return sr.holders[number]
}

func (sr *snapshotReader) fail(what string) {
	if sr.err == nil {
		sr.err = errors.New(what)
	}
}

// ReadByte makes the reader fit binary.ReadUvarint.
func (sr *snapshotReader) ReadByte() (byte, error) {
	b, err := sr.r.ReadByte()
	if err != nil {
		return 0, err
	}
	sr.crc = crc32.Update(sr.crc, castagnoli, []byte{b})
	return b, nil
}

func (sr *snapshotReader) uint() uint64 {
	if sr.err != nil {
		return 0
	}
	x, err := binary.ReadUvarint(sr)
	if err != nil {
		sr.err = err
		return 0
	}
	return x
}

func (sr *snapshotReader) int() int64 {
	u := sr.uint()
	return int64(u>>1) ^ -int64(u&1)
}

// float reads a double that is a number.
func (sr *snapshotReader) float() float64 {
	b := sr.raw(8)
	if sr.err != nil {
		return 0
	}
	f := math.Float64frombits(binary.BigEndian.Uint64([]byte(b)))
	if f != f {
		sr.fail("a score that is no number")
	}
	return f
}

func (sr *snapshotReader) text() string {
	n := sr.uint()
	if n > CommandMax {
		sr.fail("a text over the limit")
		return ""
	}
	return sr.raw(int(n))
}

// raw reads n bytes, in steps, so that a forged length reserves little.
func (sr *snapshotReader) raw(n int) string {
	const step = 64 << 10
	var b []byte
	for n > 0 && sr.err == nil {
		k := min(n, step)
		from := len(b)
		b = append(b, make([]byte, k)...)
		if _, err := io.ReadFull(sr.r, b[from:]); err != nil {
			sr.err = err
			return ""
		}
		n -= k
	}
	sr.crc = crc32.Update(sr.crc, castagnoli, b)
	return string(b)
}

func (sr *snapshotReader) texts() []string {
	var out []string
	for n := sr.uint(); n > 0 && sr.err == nil; n-- {
		out = append(out, sr.text())
	}
	return out
}

func (sr *snapshotReader) kept() kept {
	k := kept{status: BatchStatus(sr.uint())}
	for n := sr.uint(); n > 0 && sr.err == nil; n-- {
		a := sr.answer()
		k.answers = append(k.answers, a)
		k.size += a.Value.Size()
	}
	return k
}

func (sr *snapshotReader) answer() Answer {
	a := Answer{Grant: sr.int(), Cost: sr.int()}
	v, rest, err := reply.Decode([]byte(sr.text()))
	if sr.err == nil && (err != nil || len(rest) > 0) {
		sr.fail("a kept reply that can't be read")
	}
	a.Value = v
	return a
}
