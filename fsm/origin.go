package fsm

import (
	"strings"

	"github.com/tidwall/btree"
)

// origin is one boot of a node, as a source of numbered batches.
type origin struct {
	id   uint64 // index of the entry that opened it
	node string
	disk string
	boot uint64
	last uint64 // the last number executed or cancelled
	kept []kept // of the numbers last-len(kept)+1 to last
	size int    // bytes of the kept replies

	waiting   *btree.Map[uint64, *waiter] // by ticket
	woken     *btree.Map[uint64, Answer]  // replies to waits that are kept, by ticket
	wokenSize int                         // bytes of them
}

func newOrigin(id uint64, node, disk string, boot uint64) *origin {
	return &origin{
		id: id, node: node, disk: disk, boot: boot,
		waiting: new(btree.Map[uint64, *waiter]), woken: new(btree.Map[uint64, Answer]),
	}
}

// kept is what is remembered of a number in case its origin asks again.
type kept struct {
	status  BatchStatus
	answers []Answer
	size    int
}

// open makes a node's boot an origin. An open that isn't above the known boot
// of the same disk, or comes from a node that is no member, is ignored: it is an
// old message, or a process that must not write.
func (s *State) open(o *Open, index uint64) uint64 {
	if !s.voters.Has(o.Node) {
		return 0
	}
	known := s.origins[o.Node]
	if known != nil && known.disk == o.Disk && o.Boot <= known.boot {
		return 0
	}
	if m := s.members[o.Node]; m != nil && m.Disk != "" && m.Disk != o.Disk {
		return 0
	}
	if known != nil {
		s.loseWaits(known)
		delete(s.byID, known.id)
	}
	fresh := newOrigin(index, strings.Clone(o.Node), strings.Clone(o.Disk), o.Boot)
	s.origins[fresh.node] = fresh
	s.byID[index] = fresh
	return index
}

// runBatch executes a batch if it is its origin's next, and else answers what is known of its number.
func (s *State) runBatch(b *Batch) BatchResult {
	res := BatchResult{Origin: b.Origin, Number: b.Number}
	o := s.byID[b.Origin]
	if o == nil {
		res.Status = Closed
		return res
	}
	if b.Number <= o.last+1 {
		// Else it is refused and changes nothing: it comes again, behind the one that is missing.
		s.settle(o, b.Settled)
	}
	switch {
	case b.Number <= o.last:
		res.Status, res.Answers = o.recall(b.Number)
	case b.Number > o.last+1:
		res.Status = Refused
	case b.Cancel:
		res.Status = Cancelled
		o.keep(kept{status: Cancelled})
	default:
		res.Answers = s.runCommands(b)
		o.keep(newKept(res.Answers))
	}
	o.forgetUpTo(b.Acked)
	return res
}

func (o *origin) recall(number uint64) (BatchStatus, []Answer) {
	oldest := o.last - uint64(len(o.kept)) + 1
	if number < oldest {
		return Forgotten, nil
	}
	k := &o.kept[number-oldest]
	return k.status, k.answers
}

// newKept keeps answers within the bound of one reply: a larger one is kept as
// outcome unknown, which is the truth for whoever asks again.
func newKept(answers []Answer) kept {
	k := kept{status: Done, answers: answers}
	for i := range answers {
		size := answers[i].Value.Size()
		if size > KeptReplyMax {
			if &k.answers[0] == &answers[0] {
				k.answers = append([]Answer(nil), answers...)
			}
			k.answers[i] = Answer{Value: ErrUnknownOutcome}
			size = ErrUnknownOutcome.Size()
		}
		k.size += size
	}
	return k
}

func (o *origin) keep(k kept) {
	o.last++
	o.kept = append(o.kept, k)
	o.size += k.size
	for len(o.kept) > KeptNumbers || o.size > KeptBytes {
		o.dropOldest()
	}
}

func (o *origin) forgetUpTo(acked uint64) {
	for len(o.kept) > 0 && o.last-uint64(len(o.kept))+1 <= acked {
		o.dropOldest()
	}
}

func (o *origin) dropOldest() {
	o.size -= o.kept[0].size
	o.kept[0] = kept{}
	o.kept = o.kept[1:]
}

// record notes what is known of a member, or forgets it.
func (s *State) record(m *Member) {
	if m.Removed {
		s.forget(m.Node)
		return
	}
	c := Member{
		Node: strings.Clone(m.Node), Disk: strings.Clone(m.Disk), Raft: strings.Clone(m.Raft),
		Client: strings.Clone(m.Client), HTTP: strings.Clone(m.HTTP), Version: strings.Clone(m.Version),
	}
	for _, seat := range m.Seats {
		c.Seats = append(c.Seats, strings.Clone(seat))
	}
	if old := s.members[c.Node]; old != nil && old.Disk != c.Disk {
		// The node came back with an empty disk: what its former self had in flight ends here.
		s.forget(c.Node)
	}
	s.members[c.Node] = &c
}
