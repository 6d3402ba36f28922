package fsm

import (
	"strings"

	"github.com/tidwall/btree"
)

// list is texts in order. Each has a place, a number that grows from head to
// tail and has gaps where something was taken out.
type list struct {
	items *btree.Map[int64, string]
	size  int64
}

func newList() *list { return &list{items: new(btree.Map[int64, string])} }

func (l *list) len() int      { return l.items.Len() }
func (l *list) bytes() int64  { return l.size }
func (l *list) clone() object { return &list{items: l.items.Copy(), size: l.size} }

func listCost(text string) int64 { return elementCost + int64(len(text)) }

// push adds a copy of a text at the tail, or at the head.
func (l *list) push(text string, head bool) { l.pushOwn(strings.Clone(text), head) }

// pushOwn is push of a text that belongs to the machine already: whatever moves
// between lists is there once, however often it moves.
func (l *list) pushOwn(text string, head bool) {
	place := int64(0)
	if head {
		if first, _, ok := l.items.Min(); ok {
			place = first - 1
		}
	} else if last, _, ok := l.items.Max(); ok {
		place = last + 1
	}
	l.items.Set(place, text)
	l.size += listCost(text)
}

// pop takes from the tail, or from the head, of a list that has something.
func (l *list) pop(head bool) string {
	take := l.items.PopMax
	if head {
		take = l.items.PopMin
	}
	_, text, _ := take()
	l.size -= listCost(text)
	return text
}

// at is the text at an index; a negative one counts from the tail. It may be
// asked of no list.
func (l *list) at(i int64) (string, bool) {
	if l == nil {
		return "", false
	}
	if i < 0 {
		i += int64(l.len())
	}
	if i < 0 || i >= int64(l.len()) {
		return "", false
	}
	_, text, _ := l.items.GetAt(int(i))
	return text, true
}

// setAt replaces the text at an index that is there.
func (l *list) setAt(i int, text string) {
	place, old, _ := l.items.GetAt(i)
	l.items.Set(place, strings.Clone(text))
	l.size += listCost(text) - listCost(old)
}

// removeAt takes out n texts from an index on.
func (l *list) removeAt(i, n int) {
	for range n {
		_, text, _ := l.items.DeleteAt(i)
		l.size -= listCost(text)
	}
}

// insertAt makes text the one at an index, 0 to len. What stands on the shorter
// side of it moves by one place.
func (l *list) insertAt(i int, text string) {
	if i > l.len()/2 {
		after := l.texts(i, l.len())
		l.removeAt(i, len(after))
		l.push(text, false)
		for _, t := range after {
			l.pushOwn(t, false)
		}
		return
	}
	before := l.texts(0, i)
	l.removeAt(0, i)
	l.push(text, true)
	for k := len(before) - 1; k >= 0; k-- {
		l.pushOwn(before[k], true)
	}
}

// texts lists what stands from one index up to but not at another.
func (l *list) texts(from, to int) []string {
	out := make([]string, 0, max(0, to-from))
	if from >= to {
		return out
	}
	first, _, _ := l.items.GetAt(from)
	l.items.Ascend(first, func(_ int64, text string) bool {
		out = append(out, text)
		return len(out) < to-from
	})
	return out
}

// each visits the texts from head to tail, or from the tail, until visit answers false.
func (l *list) each(fromTail bool, visit func(i int, text string) bool) {
	i := 0
	if fromTail {
		i = l.len() - 1
		l.items.Reverse(func(_ int64, text string) bool {
			i--
			return visit(i+1, text)
		})
		return
	}
	l.items.Scan(func(_ int64, text string) bool {
		i++
		return visit(i-1, text)
	})
}

func (l *list) write(sw *snapshotWriter) {
	sw.uint(uint64(l.len()))
	l.each(false, func(_ int, text string) bool {
		sw.text(text)
		return sw.err == nil
	})
}
