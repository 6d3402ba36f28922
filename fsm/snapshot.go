package fsm

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"hash/crc32"
	"io"
	"math"
	"slices"

	"github.com/tidwall/btree"

	"github.com/redfence/redfence/fsm/reply"
	"github.com/redfence/redfence/fsm/script"
)

// SnapshotVersion is the version of the snapshot format that this binary writes
// and reads. docs/format.md has the bytes.
const SnapshotVersion = 3

// featureLevel says which behaviour the members of a cluster have agreed on.
// Limits and the script engine's version change with it.
const featureLevel = 1

const snapshotMagic = "REDFENCE"

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Snapshot is a State as it was at one entry. It doesn't change, and may be
// written while the State goes on.
type Snapshot struct {
	state     State // only plain fields and copies
	databases []*btree.Map[string, *record]
	origins   []origin
	members   []Member
	scripts   []*cached // the least recently used first, EVAL's before loaded ones
	arrivals  uint64
	waiters   *btree.Map[uint64, *waiter]
	ready     []place
	freed     []place
}

// Snapshot captures the state. It takes time for the origins and scripts, not
// for the records, whose trees are shared until one side changes.
func (s *State) Snapshot() *Snapshot {
	sn := &Snapshot{
		state: State{
			applied: s.applied, clock: s.clock, tokens: s.tokens, version: s.version,
			cluster: s.cluster, removed: slices.Clone(s.removed),
			sessions: s.sessions.copy(), released: s.released.copy(),
			voters: Membership{s.voters.Index, slices.Clone(s.voters.Voters), slices.Clone(s.voters.Others)},
		},
		members:  s.Members(),
		scripts:  s.scripts.oldestFirst(),
		arrivals: s.waiters.arrivals,
		waiters:  s.waiters.all.Copy(),
		ready:    slices.Clone(s.waiters.ready),
		freed:    slices.Clone(s.waiters.freed),
	}
	for _, d := range s.databases {
		sn.databases = append(sn.databases, d.keys.Copy())
	}
	for _, o := range s.origins {
		c := *o
		c.kept = slices.Clone(o.kept)
		c.waiting, c.woken = nil, o.woken.Copy()
		sn.origins = append(sn.origins, c)
	}
	slices.SortFunc(sn.origins, func(a, b origin) int { return int(int64(a.id - b.id)) })
	return sn
}

// Index is the index of the last entry that the snapshot has.
func (sn *Snapshot) Index() uint64 { return sn.state.applied }

// Hash is a digest of the whole state: equal on replicas that agree.
func (s *State) Hash() [32]byte {
	h := sha256.New()
	// A hash accepts every write.
	_, _ = s.Snapshot().WriteTo(h)
	return [32]byte(h.Sum(nil))
}

// WriteTo writes the snapshot with a checksum at its end.
func (sn *Snapshot) WriteTo(w io.Writer) (int64, error) {
	sw := &snapshotWriter{w: bufio.NewWriterSize(w, 64<<10), holders: map[Client]uint64{}}
	sw.raw(snapshotMagic)
	sw.uint(SnapshotVersion)
	sw.uint(featureLevel)
	sw.uint(script.Version)
	sn.writeHead(sw)
	sn.writeOrigins(sw)
	sn.writeScripts(sw)
	sn.writeSessions(sw)
	sn.writeReleased(sw)
	sn.writeRecords(sw)
	sn.writeWaiters(sw)
	sum := sw.crc
	sw.buf = binary.BigEndian.AppendUint32(sw.buf, sum)
	sw.flush()
	if sw.err == nil {
		sw.err = sw.w.Flush()
	}
	return sw.n, sw.err
}

func (sn *Snapshot) writeHead(sw *snapshotWriter) {
	s := &sn.state
	sw.uint(s.applied)
	sw.int(s.clock.now)
	sw.int(s.clock.wall)
	sw.uint(s.tokens)
	sw.uint(s.version)
	sw.text(s.cluster.Cluster)
	sw.uint(uint64(s.cluster.Seats))
	sw.uint(s.voters.Index)
	sw.texts(s.voters.Voters)
	sw.texts(s.voters.Others)
	sw.uint(uint64(len(sn.members)))
	for i := range sn.members {
		sw.buf = appendMember(sw.buf, &sn.members[i])
		sw.flush()
	}
	for _, v := range s.removed {
		sw.uint(v)
	}
}

func (sn *Snapshot) writeOrigins(sw *snapshotWriter) {
	sw.uint(uint64(len(sn.origins)))
	for i := range sn.origins {
		o := &sn.origins[i]
		sw.uint(o.id)
		sw.text(o.node)
		sw.text(o.disk)
		sw.uint(o.boot)
		sw.uint(o.last)
		sw.uint(uint64(len(o.kept)))
		for _, k := range o.kept {
			sw.uint(uint64(k.status))
			sw.uint(uint64(len(k.answers)))
			for i := range k.answers {
				sw.answer(&k.answers[i])
			}
		}
		sw.uint(uint64(o.woken.Len()))
		o.woken.Scan(func(ticket uint64, a Answer) bool {
			sw.uint(ticket)
			sw.answer(&a)
			return sw.err == nil
		})
	}
}

func (sw *snapshotWriter) answer(a *Answer) {
	sw.int(a.Grant)
	sw.int(a.Cost)
	sw.text(string(reply.Append(nil, a.Value)))
}

// writeWaiters writes those who wait by arrival, from which the queues follow, and
// where somebody is left to be served.
func (sn *Snapshot) writeWaiters(sw *snapshotWriter) {
	sw.uint(sn.arrivals)
	sw.uint(uint64(sn.waiters.Len()))
	sn.waiters.Scan(func(arrival uint64, w *waiter) bool {
		sw.uint(arrival)
		sw.uint(w.origin)
		sw.uint(w.ticket)
		sw.uint(uint64(w.db.order))
		sw.texts([]string{w.client.Name, w.client.Addr, w.client.Library, w.client.Node})
		sw.texts(w.args)
		return sw.err == nil
	})
	sw.places(sn.ready)
	sw.places(sn.freed)
}

func (sw *snapshotWriter) places(places []place) {
	sw.uint(uint64(len(places)))
	for _, p := range places {
		sw.uint(uint64(p.db))
		sw.text(p.key)
	}
}

func (sn *Snapshot) writeScripts(sw *snapshotWriter) {
	sw.uint(uint64(len(sn.scripts)))
	for _, c := range sn.scripts {
		sw.uint(uint64(flag(c.loaded)))
		sw.text(c.text)
	}
}

// writeRecords writes each database's records by key.
func (sn *Snapshot) writeRecords(sw *snapshotWriter) {
	sw.uint(uint64(len(sn.databases)))
	for _, keys := range sn.databases {
		sw.uint(uint64(keys.Len()))
		keys.Scan(func(_ string, r *record) bool {
			sw.uint(uint64(r.kind))
			sw.text(r.key)
			sw.text(r.str)
			sw.int(r.deadline)
			sw.uint(r.token)
			sw.uint(r.grant)
			sw.uint(r.version)
			sw.int(r.since)
			sw.holder(r.holder)
			r.terms.write(sw)
			if r.obj != nil {
				r.obj.write(sw)
			}
			return sw.err == nil
		})
	}
}

// snapshotWriter writes and sums. After the first error it does nothing more.
type snapshotWriter struct {
	w   *bufio.Writer
	buf []byte
	crc uint32
	n   int64
	err error
	// holders are the numbers of those that were written.
	holders map[Client]uint64
}

// holder writes who holds something: in full where it is met first, by its
// number afterwards.
func (sw *snapshotWriter) holder(h *holder) {
	number, met := sw.holders[h.Client]
	if !met {
		number = uint64(len(sw.holders))
		sw.holders[h.Client] = number
	}
	sw.uint(number)
	if !met {
		sw.texts([]string{h.Name, h.Addr, h.Library, h.Node})
	}
}

func (sw *snapshotWriter) flush() {
	if sw.err == nil {
		sw.crc = crc32.Update(sw.crc, castagnoli, sw.buf)
		var n int
		n, sw.err = sw.w.Write(sw.buf)
		sw.n += int64(n)
	}
	sw.buf = sw.buf[:0]
}

func (sw *snapshotWriter) raw(s string) {
	sw.buf = append(sw.buf, s...)
	sw.flush()
}

func (sw *snapshotWriter) uint(x uint64) {
	sw.buf = binary.AppendUvarint(sw.buf, x)
	sw.flush()
}

func (sw *snapshotWriter) int(x int64) {
	sw.buf = binary.AppendVarint(sw.buf, x)
	sw.flush()
}

// float writes the bits of a double, the high ones first.
func (sw *snapshotWriter) float(f float64) {
	sw.buf = binary.BigEndian.AppendUint64(sw.buf, math.Float64bits(f))
	sw.flush()
}

func (sw *snapshotWriter) text(s string) {
	sw.buf = appendText(sw.buf, s)
	sw.flush()
}

func (sw *snapshotWriter) texts(ss []string) {
	sw.buf = appendArgs(sw.buf, ss)
	sw.flush()
}
