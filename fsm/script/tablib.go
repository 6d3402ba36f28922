package script

import "strconv"

var tableLibrary = []entry{
	{"concat", tableConcat},
	{"foreach", tableForeach},
	{"foreachi", tableForeachi},
	{"getn", func(m *machine, args []value) []value {
		return m.one(number(float64(m.checkTable(args, 1).length())))
	}},
	{"insert", tableInsert},
	{"maxn", tableMaxn},
	{"remove", tableRemove},
	{"setn", func(m *machine, args []value) []value {
		m.checkTable(args, 1)
		m.errorf("'setn' is obsolete")
		return nil
	}},
	{"sort", tableSort},
}

// store is t[i] = v as library functions do it.
func (m *machine) store(t *table, i int64, v value) {
	k := number(float64(i))
	m.rawSet(t, &k, v)
}

func tableConcat(m *machine, args []value) []value {
	t := m.checkTable(args, 1)
	sep := ""
	if len(args) > 1 && args[1].kind != kNil {
		sep = m.checkString(args, 2)
	}
	i := m.optInt(args, 3, 1)
	j := int64(t.length())
	if len(args) > 3 && args[3].kind != kNil {
		j = m.checkInt(args, 4)
	}
	var out []byte
	for ; i <= j; i++ {
		m.spend(1)
		v := t.getInt(int(i))
		s, ok := toStr(&v)
		if !ok {
			m.errorf("invalid value (", v.kind.String(), ") at index ", strconv.FormatInt(i, 10), " in table for 'concat'")
		}
		if i < j {
			m.chargeString(len(s) + len(sep))
			out = append(append(out, s...), sep...)
		} else {
			m.chargeString(len(s))
			out = append(out, s...)
		}
		if i == j {
			break // j may be the largest integer
		}
	}
	return m.one(m.newString(string(out)))
}

func tableForeach(m *machine, args []value) []value {
	t := m.checkTable(args, 1)
	fn := m.checkFunction(args, 2)
	k := nilValue
	for {
		key, val, steps, ok := t.next(&k)
		m.spend(1 + steps/8)
		if !ok {
			m.runtimeError("invalid key to 'next'")
		}
		if key.kind == kNil {
			return nil
		}
		if v := m.callOne(fn, key, val); v.kind != kNil {
			return m.one(v)
		}
		k = key
	}
}

func tableForeachi(m *machine, args []value) []value {
	t := m.checkTable(args, 1)
	fn := m.checkFunction(args, 2)
	n := t.length()
	for i := 1; i <= n; i++ {
		if v := m.callOne(fn, number(float64(i)), t.getInt(i)); v.kind != kNil {
			return m.one(v)
		}
	}
	return nil
}

func tableInsert(m *machine, args []value) []value {
	t := m.checkTable(args, 1)
	e := int64(t.length()) + 1
	switch len(args) {
	case 2:
		m.store(t, e, args[1])
	case 3:
		pos := m.checkInt(args, 2)
		if pos > e {
			e = pos
		}
		if t.readOnly {
			m.runtimeError("Attempt to modify a readonly table")
		}
		for i := e; i > pos; i-- {
			m.spend(1)
			m.store(t, i, t.getInt(int(i-1)))
		}
		m.store(t, pos, args[2])
	default:
		m.errorf("wrong number of arguments to 'insert'")
	}
	return nil
}

func tableRemove(m *machine, args []value) []value {
	t := m.checkTable(args, 1)
	e := int64(t.length())
	pos := m.optInt(args, 2, e)
	if pos < 1 || pos > e {
		return nil
	}
	removed := t.getInt(int(pos))
	for ; pos < e; pos++ {
		m.spend(1)
		m.store(t, pos, t.getInt(int(pos+1)))
	}
	m.store(t, e, nilValue)
	return m.one(removed)
}

func tableMaxn(m *machine, args []value) []value {
	t := m.checkTable(args, 1)
	most := 0.0
	m.spend(int64(len(t.list)+len(t.nodes)) / 8)
	for i := len(t.list); i > 0; i-- {
		if t.list[i-1].kind != kNil {
			most = float64(i)
			break
		}
	}
	for i := range t.nodes {
		n := &t.nodes[i]
		if n.val.kind != kNil && n.key.kind == kNumber && n.key.num > most {
			most = n.key.num
		}
	}
	return m.one(number(most))
}

// sorter sorts 1..n of a table in place with Lua 5.1's own quicksort, so that equal
// elements and orders that are none end as they do in Redis. Unlike Lua's it can't
// take quadratic time unseen: each step is charged.
type sorter struct {
	m  *machine
	t  *table
	lt value // nil for <
}

func tableSort(m *machine, args []value) []value {
	t := m.checkTable(args, 1)
	s := &sorter{m: m, t: t}
	if len(args) > 1 && args[1].kind != kNil {
		s.lt = m.checkFunction(args, 2)
	}
	s.sort(1, t.length())
	return nil
}

func (s *sorter) get(i int) value { return s.t.getInt(i) }

func (s *sorter) less(a, b value) bool {
	s.m.spend(1)
	if s.lt.kind != kNil {
		v := s.m.callOne(s.lt, a, b)
		return v.truthy()
	}
	return s.m.less(&a, &b)
}

func (s *sorter) put(i int, v value) { s.m.store(s.t, int64(i), v) }

// order swaps two elements if they are the wrong way round.
func (s *sorter) order(i, j int) {
	if a, b := s.get(i), s.get(j); s.less(b, a) {
		s.put(i, b)
		s.put(j, a)
	}
}

func (s *sorter) sort(lo, up int) {
	for lo < up {
		s.order(lo, up)
		if up-lo == 1 {
			return
		}
		mid := (lo + up) / 2
		if a, b := s.get(mid), s.get(lo); s.less(a, b) {
			s.put(mid, b)
			s.put(lo, a)
		} else {
			s.order(mid, up)
		}
		if up-lo == 2 {
			return
		}
		i := s.partition(lo, mid, up)
		// The smaller part is done by calling, so the depth is logarithmic.
		if i-lo < up-i {
			s.sort(lo, i-1)
			lo = i + 1
		} else {
			s.sort(i+1, up)
			up = i - 1
		}
	}
}

// partition moves what is less than the middle element before it, and answers
// where that ends up.
func (s *sorter) partition(lo, mid, up int) int {
	pivot := s.get(mid)
	other := s.get(up - 1)
	s.put(mid, other)
	s.put(up-1, pivot)
	i, j := lo, up-1
	for {
		for i++; s.less(s.get(i), pivot); i++ {
			if i > up {
				s.m.errorf("invalid order function for sorting")
			}
		}
		for j--; s.less(pivot, s.get(j)); j-- {
			if j < lo {
				s.m.errorf("invalid order function for sorting")
			}
		}
		if j < i {
			break
		}
		a, b := s.get(i), s.get(j)
		s.put(i, b)
		s.put(j, a)
	}
	a, b := s.get(up-1), s.get(i)
	s.put(up-1, b)
	s.put(i, a)
	return i
}
