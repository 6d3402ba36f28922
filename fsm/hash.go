package fsm

import (
	"strings"

	"github.com/tidwall/btree"
)

// hash is fields with values, in the order in which the fields came, which is
// the order in which a small hash of Redis answers.
type hash struct {
	fields *btree.Map[string, *hashField]
	order  *btree.Map[uint64, *hashField]
	next   uint64 // the place of the next new field
	size   int64
}

// hashField never changes: another value is another hashField.
type hashField struct {
	name, value string
	place       uint64
}

func newHash() *hash {
	return &hash{fields: new(btree.Map[string, *hashField]), order: new(btree.Map[uint64, *hashField])}
}

func (h *hash) len() int     { return h.fields.Len() }
func (h *hash) bytes() int64 { return h.size }

func (h *hash) clone() object {
	return &hash{fields: h.fields.Copy(), order: h.order.Copy(), next: h.next, size: h.size}
}

func (f *hashField) cost() int64 { return 2*elementCost + int64(len(f.name)+len(f.value)) }

// get reads a field. It may be asked of no hash.
func (h *hash) get(name string) (string, bool) {
	if h == nil {
		return "", false
	}
	f, ok := h.fields.Get(name)
	if !ok {
		return "", false
	}
	return f.value, true
}

// set gives a field a value; a field that is there keeps its place.
func (h *hash) set(name, value string) (created bool) {
	old, ok := h.fields.Get(name)
	f := &hashField{value: strings.Clone(value), place: h.next}
	if ok {
		h.size -= old.cost()
		f.name, f.place = old.name, old.place
	} else {
		f.name = strings.Clone(name)
		h.next++
	}
	h.fields.Set(f.name, f)
	h.order.Set(f.place, f)
	h.size += f.cost()
	return !ok
}

func (h *hash) remove(name string) bool {
	f, ok := h.fields.Delete(name)
	if ok {
		h.order.Delete(f.place)
		h.size -= f.cost()
	}
	return ok
}

// each visits the fields in their order until visit answers false. It may be
// asked of no hash.
func (h *hash) each(visit func(name, value string) bool) {
	if h != nil {
		h.order.Scan(func(_ uint64, f *hashField) bool { return visit(f.name, f.value) })
	}
}

// at is the field at a rank of the order.
func (h *hash) at(i int) (name, value string) {
	_, f, _ := h.order.GetAt(i)
	return f.name, f.value
}

func (h *hash) write(sw *snapshotWriter) {
	sw.uint(uint64(h.len()))
	h.each(func(name, value string) bool {
		sw.text(name)
		sw.text(value)
		return sw.err == nil
	})
}
