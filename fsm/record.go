package fsm

import "math"

// never is the deadline of a record without a lease time. A lease so long that
// its end can't be counted in microseconds ends never, too.
const never = math.MaxInt64

// valueKind is what a key holds. The numbers are part of the snapshot's format.
type valueKind uint8

const (
	stringKind valueKind = 1
	hashKind   valueKind = 2
	listKind   valueKind = 3
	setKind    valueKind = 4
	zsetKind   valueKind = 5
	lockKind   valueKind = 6 // held by several, or in its delay
)

var kindNames = map[valueKind]string{
	stringKind: "string", hashKind: "hash", listKind: "list", setKind: "set", zsetKind: "zset", lockKind: "lock",
}

// record is one key's value and lease. Records never change once they are in a
// keyspace: a change puts a new one, so that a snapshot and an undo can keep the old.
type record struct {
	key      string
	str      string  // the value of a string
	obj      object  // the value of any other kind, else nil
	deadline int64   // on the lease clock; never if there is none
	token    uint64  // the fencing token of the grant
	grant    uint64  // of a seat's vote: the fencing token of the majority it belongs to, else 0
	version  uint64  // of the last change, for WATCH
	since    int64   // lease clock when the token was given
	holder   *holder // who made it; never nil
	terms    *terms  // of a lock of one owner made by LOCK.ACQUIRE, else nil
	kind     valueKind
}

// recordBytes is what a record is taken to cost beside its texts: the same on
// every processor, because a limit of the replicated state is counted with it.
const recordBytes = 200

func (r *record) bytes() int64 {
	n := recordBytes + int64(len(r.key)) + int64(len(r.str)) + r.terms.bytes()
	if r.obj != nil {
		n += r.obj.bytes()
	}
	return n
}

// gone says whether the record's own lease has run out at now: see State.gone.
func (r *record) gone(now int64) bool { return r.deadline <= now }

// due orders records by the end of their lease.
type due struct {
	deadline int64
	db       *database
	rec      *record
}

func dueBefore(a, b due) bool {
	if a.deadline != b.deadline {
		return a.deadline < b.deadline
	}
	if a.rec.key != b.rec.key {
		return a.rec.key < b.rec.key
	}
	return a.db.order < b.db.order
}

// holder is who took a lock, shared by all records that it made.
type holder struct {
	Client
	records int // how many records, holdings and sessions point here
}
