package script

// smallTable is up to how many entries a hash is searched one by one.
const smallTable = 8

// table is a Lua table: a list part for 1..n and a hash part that is walked in the
// order in which its keys came. Deleting keeps a key's place until the next time
// the hash has to grow, so that a walk may assign nil to what it has seen.
//
// Go's maps are only ever looked up, never walked.
type table struct {
	list     []value
	nodes    []node
	room     int // up to how many nodes before the hash is rebuilt
	live     int // nodes whose value isn't nil
	strings  map[string]int32
	others   map[value]int32
	meta     *table
	readOnly bool
	id       int64
}

type node struct{ key, val value }

// arrayIndex is the position k names in a list, or 0.
func arrayIndex(k *value) int {
	if k.kind == kNumber && k.num >= 1 && k.num < 1<<31 {
		if i := int(k.num); float64(i) == k.num {
			return i
		}
	}
	return 0
}

// get is t[k] without metamethods.
func (t *table) get(k *value) value {
	if i := arrayIndex(k); i > 0 && i <= len(t.list) {
		return t.list[i-1]
	}
	if n := t.find(k); n >= 0 {
		return t.nodes[n].val
	}
	return nilValue
}

func (t *table) getInt(i int) value {
	if i >= 1 && i <= len(t.list) {
		return t.list[i-1]
	}
	k := number(float64(i))
	return t.get(&k)
}

func (t *table) getString(s string) value {
	if n := t.findString(s); n >= 0 {
		return t.nodes[n].val
	}
	return nilValue
}

// find is the place of k in the hash, or -1.
func (t *table) find(k *value) int {
	if k.kind == kString {
		return t.findString(k.ref.(string))
	}
	if t.others != nil {
		if n, ok := t.others[*k]; ok {
			return int(n)
		}
		return -1
	}
	if len(t.nodes) <= smallTable {
		for i := range t.nodes {
			if rawEqual(&t.nodes[i].key, k) {
				return i
			}
		}
	}
	return -1
}

func (t *table) findString(s string) int {
	if len(t.nodes) > smallTable {
		if n, ok := t.strings[s]; ok {
			return int(n)
		}
		return -1
	}
	for i := range t.nodes {
		if k := &t.nodes[i].key; k.kind == kString && k.ref.(string) == s {
			return i
		}
	}
	return -1
}

// set is t[k] = v without metamethods, and reports how many bytes the table may
// have grown by. The caller has refused nil and NaN as keys.
func (t *table) set(k *value, v value) int64 {
	i := arrayIndex(k)
	if i > 0 && i <= len(t.list) {
		t.list[i-1] = v
		return 0
	}
	if i > 0 && i == len(t.list)+1 {
		return t.push(k, v)
	}
	n := t.find(k)
	if n < 0 {
		if v.kind == kNil {
			return 0
		}
		t.insert(*k, v)
		return sizeNode
	}
	old := &t.nodes[n].val
	switch {
	case old.kind == kNil && v.kind != kNil:
		t.live++
	case old.kind != kNil && v.kind == kNil:
		t.live--
	}
	*old = v
	return 0
}

func (t *table) setString(s string, v value) int64 {
	k := str(s)
	return t.set(&k, v)
}

func (t *table) setInt(i int, v value) int64 {
	k := number(float64(i))
	return t.set(&k, v)
}

// push appends to the list.
func (t *table) push(k *value, v value) int64 {
	if v.kind == kNil {
		t.forget(k)
		return 0
	}
	return t.appendItem(v)
}

// appendItem makes v, which may be nil, the list's next element: what a
// constructor, a reply or unpack's counterpart puts in order. It draws over what
// follows from the hash, for a list that was filled from its end.
func (t *table) appendItem(v value) int64 {
	k := number(float64(len(t.list) + 1))
	t.forget(&k)
	t.list = append(t.list, v)
	grown := int64(sizeArraySeg)
	for t.live > 0 && v.kind != kNil {
		k.num = float64(len(t.list) + 1)
		n := t.find(&k)
		if n < 0 || t.nodes[n].val.kind == kNil {
			break
		}
		t.list = append(t.list, t.nodes[n].val)
		t.forget(&k)
		grown += sizeArraySeg
	}
	return grown
}

// forget takes k's value out of the hash.
func (t *table) forget(k *value) {
	if len(t.nodes) == 0 {
		return
	}
	if n := t.find(k); n >= 0 && t.nodes[n].val.kind != kNil {
		t.nodes[n].val = nilValue
		t.live--
	}
}

// insert adds a key that the hash doesn't have.
func (t *table) insert(k, v value) {
	if len(t.nodes) >= t.room {
		t.rebuild()
	}
	if k.kind == kNumber && k.num == 0 {
		k.num = 0 // -0 and 0 are one key
	}
	t.nodes = append(t.nodes, node{k, v})
	t.live++
	t.index(len(t.nodes) - 1)
}

// rebuild drops deleted entries and makes room. It depends on nothing but what was
// done to the table before.
func (t *table) rebuild() {
	t.room = 4
	for t.room-t.room/4 <= t.live { // a quarter stays free, so that rebuilding is rare
		t.room *= 2
	}
	kept := make([]node, 0, t.room)
	for i := range t.nodes {
		if t.nodes[i].val.kind != kNil {
			kept = append(kept, t.nodes[i])
		}
	}
	t.nodes, t.strings, t.others = kept, nil, nil
	for i := range t.nodes {
		t.index(i)
	}
}

// index makes the last node findable. A hash that outgrows smallTable is indexed
// as a whole.
func (t *table) index(n int) {
	if n < smallTable {
		return
	}
	if n == smallTable {
		t.strings = make(map[string]int32, t.room)
		t.others = make(map[value]int32)
		for i := 0; i < n; i++ {
			t.indexOne(i)
		}
	}
	t.indexOne(n)
}

func (t *table) indexOne(n int) {
	if k := &t.nodes[n].key; k.kind == kString {
		t.strings[k.ref.(string)] = int32(n)
	} else {
		t.others[*k] = int32(n)
	}
}

// length is a border: an n where t[n] isn't nil and t[n+1] is, or 0.
func (t *table) length() int {
	j := len(t.list)
	if j == 0 || t.list[j-1].kind != kNil {
		return j
	}
	i := 0
	for j-i > 1 {
		mid := (i + j) / 2
		if t.list[mid-1].kind == kNil {
			j = mid
		} else {
			i = mid
		}
	}
	return i
}

// next is the entry after key k; ok is false when k isn't a key of t. At the end
// key is nil. steps counts the places that were passed.
func (t *table) next(k *value) (key, val value, steps int64, ok bool) {
	pos := 0
	if k.kind != kNil {
		if i := arrayIndex(k); i > 0 && i <= len(t.list) {
			pos = i
		} else if n := t.find(k); n >= 0 {
			pos = len(t.list) + n + 1
		} else {
			return nilValue, nilValue, 0, false
		}
	}
	for ; pos < len(t.list); pos++ {
		if t.list[pos].kind != kNil {
			return number(float64(pos + 1)), t.list[pos], steps, true
		}
		steps++
	}
	for n := pos - len(t.list); n < len(t.nodes); n++ {
		if t.nodes[n].val.kind != kNil {
			return t.nodes[n].key, t.nodes[n].val, steps, true
		}
		steps++
	}
	return nilValue, nilValue, steps, true
}
