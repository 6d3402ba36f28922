package script

import (
	"strconv"
	"strings"

	"github.com/redfence/redfence/fsm/reply"
)

// mapHost is the smallest database that lock scripts can work on.
type mapHost struct {
	data map[string]string
	log  []string
}

func newHost() *mapHost { return &mapHost{data: map[string]string{}} }

func (h *mapHost) Log(level int, text string) {
	h.log = append(h.log, strconv.Itoa(level)+" "+text)
}

func (h *mapHost) Call(args []string, b *Budget) reply.Value {
	b.Spend(1)
	name := strings.ToLower(args[0])
	if b.ReadOnly() && (name == "set" || name == "del" || name == "incr") {
		return reply.Err("ERR Write commands are not allowed from read-only scripts.")
	}
	switch {
	case name == "get" && len(args) == 2:
		if v, ok := h.data[args[1]]; ok {
			return reply.String(v)
		}
		return reply.Null
	case name == "set" && len(args) >= 3:
		b.Grow(int64(len(args[1]) + len(args[2])))
		if len(args) > 3 && args[3] == "nx" {
			if _, ok := h.data[args[1]]; ok {
				return reply.Null
			}
		}
		h.data[args[1]] = args[2]
		return reply.OK
	case name == "del" && len(args) == 2:
		_, ok := h.data[args[1]]
		delete(h.data, args[1])
		return reply.Truth(ok)
	case name == "incr" && len(args) == 2:
		n, err := strconv.ParseInt("0"+h.data[args[1]], 10, 64)
		if err != nil {
			return reply.Err("ERR value is not an integer or out of range")
		}
		h.data[args[1]] = strconv.FormatInt(n+1, 10)
		return reply.Integer(n + 1)
	case name == "mget":
		list := make([]reply.Value, 0, len(args)-1)
		for _, k := range args[1:] {
			v := reply.Null
			if s, ok := h.data[k]; ok {
				v = reply.String(s)
			}
			list = append(list, v)
		}
		return reply.List(list...)
	case name == "kinds": // one of each kind that only RESP3 has
		return reply.List(
			reply.Pairs(reply.String("a"), reply.Integer(1), reply.String("b"), reply.Null),
			reply.Value{Kind: reply.Set, Elems: []reply.Value{reply.String("x"), reply.String("y")}},
			reply.Float64(1.5), reply.Value{Kind: reply.Bool, Int: 1},
			reply.Value{Kind: reply.Verbatim, Str: "text"},
			reply.Value{Kind: reply.BigNumber, Str: "123"}, reply.Null, reply.NullArray, reply.OK)
	case name == "get" || name == "set" || name == "del" || name == "incr":
		return reply.Err("ERR Wrong number of args calling Redis command from script")
	}
	return reply.Err("ERR Unknown Redis command called from script")
}
