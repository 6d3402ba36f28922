package fsm

import (
	"strconv"
	"strings"

	"github.com/tidwall/btree"
)

// set is members without an order of their own. It answers integers by their
// value, as a small set of integers does in Redis, then all others by their bytes.
type set struct {
	ints  *btree.Map[int64, struct{}]
	texts *btree.Map[string, struct{}]
	size  int64
}

func newSet() *set {
	return &set{ints: new(btree.Map[int64, struct{}]), texts: new(btree.Map[string, struct{}])}
}

func (s *set) len() int     { return s.ints.Len() + s.texts.Len() }
func (s *set) bytes() int64 { return s.size }

func (s *set) clone() object {
	return &set{ints: s.ints.Copy(), texts: s.texts.Copy(), size: s.size}
}

func memberCost(member string) int64 { return elementCost + int64(len(member)) }

// has says whether a member is there. It may be asked of no set.
func (s *set) has(member string) bool {
	if s == nil {
		return false
	}
	if n, ok := ParseInt(member); ok {
		_, ok = s.ints.Get(n)
		return ok
	}
	_, ok := s.texts.Get(member)
	return ok
}

func (s *set) add(member string) bool {
	if s.has(member) {
		return false
	}
	if n, ok := ParseInt(member); ok {
		s.ints.Set(n, struct{}{})
	} else {
		s.texts.Set(strings.Clone(member), struct{}{})
	}
	s.size += memberCost(member)
	return true
}

func (s *set) remove(member string) bool {
	if !s.has(member) {
		return false
	}
	if n, ok := ParseInt(member); ok {
		s.ints.Delete(n)
	} else {
		s.texts.Delete(member)
	}
	s.size -= memberCost(member)
	return true
}

// at is the member at a rank of the order.
func (s *set) at(i int) string {
	if i < s.ints.Len() {
		n, _, _ := s.ints.GetAt(i)
		return strconv.FormatInt(n, 10)
	}
	text, _, _ := s.texts.GetAt(i - s.ints.Len())
	return text
}

// each visits the members in their order until visit answers false. It may be
// asked of no set.
func (s *set) each(visit func(member string) bool) {
	if s == nil {
		return
	}
	ended := false
	s.ints.Scan(func(n int64, _ struct{}) bool {
		ended = !visit(strconv.FormatInt(n, 10))
		return !ended
	})
	if !ended {
		s.texts.Scan(func(text string, _ struct{}) bool { return visit(text) })
	}
}

func (s *set) write(sw *snapshotWriter) {
	sw.uint(uint64(s.len()))
	s.each(func(member string) bool {
		sw.text(member)
		return sw.err == nil
	})
}
