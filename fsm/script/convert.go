package script

import (
	"strings"

	"github.com/redfence/redfence/fsm/reply"
)

// fromReply turns what a command answered into Lua values, as Redis does in the
// protocol version that the script asked for.
func (m *machine) fromReply(v *reply.Value) value {
	m.spend(1)
	switch v.Kind {
	case reply.Int:
		return number(float64(v.Int))
	case reply.Bulk:
		return m.replyString(v.Str)
	case reply.Status:
		return m.field("ok", m.replyString(v.Str))
	case reply.Error:
		return m.field("err", m.replyString(v.Str))
	case reply.Array, reply.Push:
		return m.listFrom(v.Elems)
	case reply.Nil, reply.NilArray:
		if m.budget.resp3 {
			return nilValue
		}
		return falseValue
	}
	if m.budget.resp3 {
		return m.fromReply3(v)
	}
	switch v.Kind {
	case reply.Map, reply.Set, reply.Couples:
		return m.listFrom(v.Elems)
	case reply.Double:
		return m.replyString(formatArg(v.Float))
	case reply.Bool:
		return number(float64(v.Int))
	}
	return m.replyString(v.Str) // Verbatim, BigNumber
}

// fromReply3 is for the kinds that only RESP3 has.
func (m *machine) fromReply3(v *reply.Value) value {
	switch v.Kind {
	case reply.Map:
		t := m.newTable()
		for i := 0; i+1 < len(v.Elems); i += 2 {
			m.fillField(t, m.fromReply(&v.Elems[i]), m.fromReply(&v.Elems[i+1]))
		}
		return m.field("map", tab(t))
	case reply.Couples:
		return m.listFrom(couples(v.Elems))
	case reply.Set:
		t := m.newTable()
		for i := range v.Elems {
			m.fillField(t, m.fromReply(&v.Elems[i]), trueValue)
		}
		return m.field("set", tab(t))
	case reply.Double:
		return m.field("double", number(v.Float))
	case reply.Bool:
		return boolean(v.Int != 0)
	case reply.Verbatim:
		t := m.newTable()
		m.grow(t.setString("string", m.replyString(v.Str)))
		m.grow(t.setString("format", str("txt")))
		return m.field("verbatim_string", tab(t))
	}
	return m.field("big_number", m.replyString(v.Str))
}

// couples are the pairs of a list of pairs, each a list of its own.
func couples(elems []reply.Value) []reply.Value {
	out := make([]reply.Value, 0, len(elems)/2)
	for i := 0; i+1 < len(elems); i += 2 {
		out = append(out, reply.List(elems[i:i+2]...))
	}
	return out
}

// replyString shares the host's bytes, which the host has charged if it made them.
func (m *machine) replyString(s string) value {
	m.grow(sizeString)
	return str(s)
}

func (m *machine) field(name string, v value) value {
	t := m.newTable()
	m.grow(t.setString(name, v))
	return tab(t)
}

func (m *machine) fillField(t *table, k, v value) {
	if k.kind != kNil && k.num == k.num {
		m.chargeKey(&k)
		m.grow(t.set(&k, v))
	}
}

func (m *machine) listFrom(elems []reply.Value) value {
	t := m.newTable()
	m.grow(int64(len(elems)) * sizeArraySeg)
	t.list = make([]value, 0, len(elems))
	for i := range elems {
		v := m.fromReply(&elems[i])
		t.list = append(t.list, v)
	}
	return tab(t)
}

// toReply turns what the script returned into an answer.
func (m *machine) toReply(v value) reply.Value { return m.replyOf(&v, 0) }

// replyCost is what one element of an answer is charged.
const replyCost = 80

func (m *machine) replyOf(v *value, depth int64) reply.Value {
	m.spend(1)
	m.grow(replyCost)
	switch v.kind {
	case kString:
		return reply.String(v.str())
	case kNumber:
		return reply.Integer(truncate(v.num))
	case kBool:
		if m.budget.resp3 {
			return reply.Value{Kind: reply.Bool, Int: int64(v.num)}
		}
		if v.num != 0 {
			return reply.Integer(1)
		}
		return reply.Null
	case kTable:
		if depth >= m.lim.MaxNesting {
			return reply.Err("ERR reached lua stack limit")
		}
		return m.replyOfTable(v.table(), depth+1)
	}
	return reply.Null
}

// replyOfTable looks for the fields that give a table a meaning of its own; any
// other is a list, up to its first nil.
func (m *machine) replyOfTable(t *table, depth int64) reply.Value {
	if len(t.nodes) > 0 {
		if r, ok := m.replyOfFields(t, depth); ok {
			return r
		}
	}
	var elems []reply.Value
	for i := 1; ; i++ {
		v := t.getInt(i)
		if v.kind == kNil {
			break
		}
		elems = append(elems, m.replyOf(&v, depth))
	}
	return reply.Value{Kind: reply.Array, Elems: elems}
}

func (m *machine) replyOfFields(t *table, depth int64) (reply.Value, bool) {
	if s, ok := m.stringField(t, "err"); ok {
		return reply.Err(oneLine(s)), true
	}
	if s, ok := m.stringField(t, "ok"); ok {
		return reply.Simple(mapNewlines(s)), true
	}
	if v := t.getString("double"); v.kind == kNumber {
		return reply.Float64(v.num), true
	}
	if v := t.getString("map"); v.kind == kTable {
		return m.replyOfEntries(v.table(), depth, reply.Map), true
	}
	if v := t.getString("set"); v.kind == kTable {
		return m.replyOfEntries(v.table(), depth, reply.Set), true
	}
	if s, ok := m.stringField(t, "big_number"); ok {
		return reply.Value{Kind: reply.BigNumber, Str: mapNewlines(s)}, true
	}
	if v := t.getString("verbatim_string"); v.kind == kTable {
		s, ok := m.stringField(v.table(), "string")
		if _, hasFormat := m.stringField(v.table(), "format"); ok && hasFormat {
			return reply.Value{Kind: reply.Verbatim, Str: s}, true
		}
	}
	return reply.Value{}, false
}

func (m *machine) stringField(t *table, name string) (string, bool) {
	v := t.getString(name)
	if v.kind == kString {
		m.chargeString(len(v.str()))
		return v.str(), true
	}
	return "", false
}

// replyOfEntries answers a table's entries in their order: keys and values for a
// map, keys for a set.
func (m *machine) replyOfEntries(t *table, depth int64, kind reply.Kind) reply.Value {
	r := reply.Value{Kind: kind}
	k := nilValue
	for {
		key, val, steps, _ := t.next(&k)
		m.spend(steps / 8)
		if key.kind == kNil {
			return r
		}
		r.Elems = append(r.Elems, m.replyOf(&key, depth))
		if kind == reply.Map {
			r.Elems = append(r.Elems, m.replyOf(&val, depth))
		}
		k = key
	}
}

func mapNewlines(s string) string {
	return strings.NewReplacer("\r", " ", "\n", " ").Replace(s)
}
