package replica

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/redfence/redfence/fsm"
	"github.com/redfence/redfence/fsm/reply"
)

// Budget bounds what replies take on this node, from when they are made until
// they are written: a client that asks for much and reads slowly must not take the
// memory of all. It is safe for concurrent use.
//
// Who makes a reply keeps it only if the budget has room; else it lets go of it,
// waits in turn until there is, holding nothing meanwhile, and makes it again. What
// an entry answered can't be made again: it is counted even beyond the bound, and
// no more of that kind is proposed until there is room.
type Budget struct {
	mu      sync.Mutex
	used    int64
	waiting []*budgetWaiter
	eased   func() // there is room again; nil tells nobody

	most int64
}

type budgetWaiter struct {
	size    int64
	granted chan struct{}
}

// NewBudget is a budget of so many bytes.
func NewBudget(most int64) *Budget { return &Budget{most: most} }

// Used is how many bytes are held at present.
func (b *Budget) Used() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.used
}

// Full says that there is no room, or that somebody waits for it: who holds some
// and gets nowhere should let go.
func (b *Budget) Full() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.used >= b.most || len(b.waiting) > 0
}

// spent says that there is no room at all, and half that half of it is in use.
func (b *Budget) spent() bool { return b.Used() >= b.most }
func (b *Budget) half() bool  { return b.Used() >= b.most/2 }

// onEased names who is told when there is room again.
func (b *Budget) onEased(f func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.eased = f
}

// try takes size bytes if they are there and nobody waits for them.
func (b *Budget) try(size int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.waiting) > 0 || b.used+size > b.most {
		return false
	}
	b.used += size
	return true
}

// force takes size bytes that are in use already.
func (b *Budget) force(size int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.used += size
}

// wait takes size bytes in turn, at most all there are, and says how many it took.
func (b *Budget) wait(ctx context.Context, size int64) (int64, error) {
	size = min(size, b.most)
	b.mu.Lock()
	if len(b.waiting) == 0 && b.used+size <= b.most {
		b.used += size
		b.mu.Unlock()
		return size, nil
	}
	w := &budgetWaiter{size, make(chan struct{})}
	b.waiting = append(b.waiting, w)
	b.mu.Unlock()
	timer := time.NewTimer(replyWait)
	defer timer.Stop()
	err := ErrRepliesFull
	select {
	case <-w.granted:
		return size, nil
	case <-ctx.Done():
		err = ctx.Err()
	case <-timer.C:
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	i := slices.Index(b.waiting, w)
	if i < 0 {
		return size, nil // it was granted in this instant
	}
	b.waiting = slices.Delete(b.waiting, i, i+1)
	b.grantLocked()
	return 0, err
}

// give returns size bytes.
func (b *Budget) give(size int64) {
	b.mu.Lock()
	before := b.used
	b.used -= size
	b.grantLocked()
	var eased func()
	if before >= b.most && b.used < b.most || before >= b.most/2 && b.used < b.most/2 {
		eased = b.eased
	}
	b.mu.Unlock()
	if eased != nil {
		eased()
	}
}

func (b *Budget) grantLocked() {
	for len(b.waiting) > 0 && b.used+b.waiting[0].size <= b.most {
		b.used += b.waiting[0].size
		close(b.waiting[0].granted)
		b.waiting = b.waiting[1:]
	}
}

// Share is what one caller holds of a Budget. The first ReplyFree bytes of it
// are not counted, so that whoever asks for little is served however much others
// hold. One goroutine at a time may use it.
type Share struct {
	budget *Budget
	size   int64 // bytes held
	paid   int64 // up to which size they may come
	taken  int64 // of the budget
}

// Share is a new, empty share.
func (b *Budget) Share() *Share { return &Share{budget: b, paid: ReplyFree} }

// Add holds size more bytes, or answers false if there is no room. The caller
// then lets go of them, and may Release and Wait.
func (s *Share) Add(size int64) bool {
	if more := s.size + size - s.paid; more > 0 {
		if !s.budget.try(more) {
			return false
		}
		s.paid, s.taken = s.paid+more, s.taken+more
	}
	s.size += size
	return true
}

// Force holds size more bytes, whether there is room or not.
func (s *Share) Force(size int64) {
	if more := s.size + size - s.paid; more > 0 {
		s.budget.force(more)
		s.paid, s.taken = s.paid+more, s.taken+more
	}
	s.size += size
}

// Wait waits until there is room for size bytes, and keeps it for the next Add.
// The share must be empty, so that no two wait for each other. An error is
// ErrRepliesFull or ctx's.
func (s *Share) Wait(ctx context.Context, size int64) error {
	taken, err := s.budget.wait(ctx, size-s.paid)
	if err == nil {
		s.paid, s.taken = size, taken
	}
	return err
}

// Trim gives back what Wait took and Add did not need.
func (s *Share) Trim() {
	need := max(0, s.size-ReplyFree)
	if s.taken > need {
		s.budget.give(s.taken - need)
		s.paid, s.taken = ReplyFree+need, need
	}
}

// Counted says whether anything of the budget is held.
func (s *Share) Counted() bool { return s.taken > 0 }

// Full says whether the share holds as much as should be made before it is written.
func (s *Share) Full() bool { return s.size >= replyRun }

// Release lets go of everything.
func (s *Share) Release() {
	if s.taken > 0 {
		s.budget.give(s.taken)
	}
	s.size, s.paid, s.taken = 0, ReplyFree, 0
}

// Footprint is about how many bytes of this process v takes.
func Footprint(v *reply.Value) int64 {
	n := int64(valueBytes + len(v.Str))
	for i := range v.Elems {
		n += Footprint(&v.Elems[i])
	}
	return n
}

// footprints is what answers take together.
func footprints(answers []fsm.Answer) int64 {
	n := int64(0)
	for i := range answers {
		n += answerBytes + Footprint(&answers[i].Value)
	}
	return n
}
