package fsm

// object is the value of a record that is no string: a hash, a list, a set or a
// sorted set. One that a record holds never changes, as the record itself: a
// command clones it, which takes constant time, and changes the clone.
type object interface {
	// len is the number of elements: fields, positions or members.
	len() int
	// bytes is what the elements are counted with: alike on every processor.
	bytes() int64
	clone() object
	// write writes the elements, the same for two objects that answer alike.
	write(sw *snapshotWriter)
}

// elementCost is what an element of a value is taken to cost beside its texts.
const elementCost = 100

// newObject makes an empty value of a kind, nil for strings.
func newObject(kind valueKind) object {
	switch kind {
	case hashKind:
		return newHash()
	case listKind:
		return newList()
	case setKind:
		return newSet()
	case zsetKind:
		return newZSet()
	}
	return nil
}

// readObject reads what an object of the kind wrote.
func readObject(kind valueKind, sr *snapshotReader) object {
	n := sr.uint()
	if sr.err == nil && (n == 0 || n > ElementsMax) {
		sr.fail("a value without elements or with too many")
	}
	o := newObject(kind)
	for ; n > 0 && sr.err == nil; n-- {
		switch o := o.(type) {
		case *hash:
			o.set(sr.text(), sr.text())
		case *list:
			o.pushOwn(sr.text(), false)
		case *set:
			o.add(sr.text())
		case *zset:
			o.set(sr.text(), sr.float())
		}
	}
	return o
}

// sameValue says whether two seats' records vote for the same holder. Strings
// do by their bytes. What has elements has no one holder, so each record of it
// stands for itself.
func sameValue(a, b *record) bool {
	return a == b || a.kind == stringKind && b.kind == stringKind && a.str == b.str
}
