package fsm

import (
	"math"

	"github.com/tidwall/btree"
)

// holdings is the value of a lock that several may hold, SHARED or by PERMITS, of
// a name that nobody gets because it is in its delay, and of one that is offered
// to who has waited for it.
type holdings struct {
	permits int64 // how many may hold it; 0 for any number: SHARED
	whole   bool  // offered to one who wants it exclusively
	delayed int64 // lease clock up to which nobody else is granted it, 0 for no delay
	owners  *btree.Map[string, *holding]
	ends    *btree.BTreeG[*holding] // by end of their own lease and owner
	tokens  *btree.Map[uint64, *holding]
	size    int64
}

// holding is one holder of such a lock. It never changes: another lease is
// another holding.
type holding struct {
	owner    string
	token    uint64
	since    int64
	deadline int64 // never if the lease is a session's
	offered  bool  // not taken yet: without a token, and its lease is the offer's
	terms    *terms
	holder   *holder
}

func newHoldings(permits int64) *holdings {
	return &holdings{
		permits: permits,
		owners:  new(btree.Map[string, *holding]),
		tokens:  new(btree.Map[uint64, *holding]),
		ends:    btree.NewBTreeGOptions(endsBefore, btree.Options{NoLocks: true}),
	}
}

func endsBefore(a, b *holding) bool {
	if a.deadline != b.deadline {
		return a.deadline < b.deadline
	}
	return a.owner < b.owner
}

// holdingBytes is what a holding is taken to cost beside its texts.
const holdingBytes = 250

func (x *holding) bytes() int64 { return holdingBytes + int64(len(x.owner)) + x.terms.bytes() }

func (h *holdings) len() int     { return h.owners.Len() }
func (h *holdings) bytes() int64 { return h.size }

func (h *holdings) clone() object { return h.copy() }

func (h *holdings) copy() *holdings {
	c := *h
	c.owners, c.ends, c.tokens = h.owners.Copy(), h.ends.Copy(), h.tokens.Copy()
	return &c
}

// put makes x its owner's holding.
func (h *holdings) put(x *holding) {
	h.remove(x.owner)
	h.owners.Set(x.owner, x)
	h.ends.Set(x)
	if !x.offered {
		h.tokens.Set(x.token, x)
	}
	h.size += x.bytes()
}

func (h *holdings) remove(owner string) {
	if x, ok := h.owners.Delete(owner); ok {
		h.ends.Delete(x)
		if !x.offered {
			h.tokens.Delete(x.token)
		}
		h.size -= x.bytes()
	}
}

// nextEnd is when the machine has to look at the lock again: a holder's own lease
// ends, or the delay.
func (h *holdings) nextEnd() int64 {
	x, ok := h.ends.Min()
	switch {
	case !ok:
		return h.delayed
	case h.delayed > 0:
		return min(x.deadline, h.delayed)
	}
	return x.deadline
}

// lastEnd is the end of the last lease or of the delay, as a record's deadline:
// never while a session's lease is among them.
func (h *holdings) lastEnd() int64 {
	if x, ok := h.ends.Max(); ok {
		return max(x.deadline, h.delayed)
	}
	return h.delayed
}

func (h *holdings) write(sw *snapshotWriter) {
	sw.uint(uint64(h.permits))
	sw.uint(uint64(flag(h.whole)))
	sw.int(h.delayed)
	sw.uint(uint64(h.len()))
	h.owners.Scan(func(_ string, x *holding) bool {
		sw.text(x.owner)
		sw.uint(uint64(flag(x.offered)))
		sw.uint(x.token)
		sw.int(x.since)
		sw.int(x.deadline)
		x.terms.write(sw)
		sw.holder(x.holder)
		return sw.err == nil
	})
}

// readHoldings reads what write wrote.
func (s *State) readHoldings(sr *snapshotReader) *holdings {
	h := newHoldings(0)
	permits := sr.uint()
	h.permits, h.whole, h.delayed = int64(min(permits, math.MaxInt32)), sr.uint() == 1, sr.int()
	n := sr.uint()
	if sr.err == nil && (permits > PermitsMax || n > HoldersMax || n == 0 && h.delayed == 0) {
		sr.fail("a lock with holders or permits over their limits, or without any")
	}
	for ; n > 0 && sr.err == nil; n-- {
		x := &holding{owner: sr.text(), offered: sr.uint() == 1, token: sr.uint(), since: sr.int(), deadline: sr.int()}
		x.terms, x.holder = s.readTerms(sr), sr.holder()
		if sr.err == nil {
			h.put(x)
		}
	}
	return h
}
