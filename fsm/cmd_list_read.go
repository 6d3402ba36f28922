package fsm

import (
	"math"

	"github.com/redfence/redfence/fsm/reply"
)

// Commands for lists that only read. They see both kinds of port.

func runLLEN(c *call) reply.Value {
	l, bad := found[*list](c, c.args[1])
	if bad.IsError() {
		return bad
	}
	if l == nil {
		return reply.Integer(0)
	}
	return reply.Integer(int64(l.len()))
}

func runLINDEX(c *call) reply.Value {
	l, bad := found[*list](c, c.args[1])
	if bad.IsError() || l == nil {
		return bad
	}
	i, ok := ParseInt(c.args[2])
	if !ok {
		return errNotInteger
	}
	text, ok := l.at(i)
	if !ok {
		return reply.Null
	}
	return c.text(text)
}

func runLRANGE(c *call) reply.Value {
	first, last, bad := indexes(c.args[2], c.args[3])
	if bad.IsError() {
		return bad
	}
	l, bad := found[*list](c, c.args[1])
	if bad.IsError() {
		return bad
	}
	if l == nil {
		return reply.List()
	}
	from, to := indexRange(first, last, l.len())
	c.visit(to - from)
	elems := make([]reply.Value, 0, to-from)
	for _, text := range l.texts(from, to) {
		elems = append(elems, c.text(text))
	}
	return reply.List(elems...)
}

// posOptions are the options of LPOS.
type posOptions struct {
	rank    int64
	count   int64 // 0 for all
	counted bool
	maxLen  int64 // 0 for all
}

func (o *posOptions) parse(args []string) reply.Value {
	o.rank = 1
	for i := 0; i < len(args); i += 2 {
		if i+1 == len(args) {
			return errSyntax
		}
		n, ok := ParseInt(args[i+1])
		switch lower(args[i]) {
		case "rank":
			switch {
			case !ok:
				return errNotInteger
			case n == 0:
				return reply.Err("ERR RANK can't be zero: use 1 to start from the first match, 2 from the second ... or use negative to start from the end of the list")
			}
			o.rank = n
		case "count":
			if !ok || n < 0 {
				return reply.Err("ERR COUNT can't be negative")
			}
			o.count, o.counted = n, true
		case "maxlen":
			if !ok || n < 0 {
				return reply.Err("ERR MAXLEN can't be negative")
			}
			o.maxLen = n
		default:
			return errSyntax
		}
	}
	return reply.Value{}
}

func runLPOS(c *call) reply.Value {
	var o posOptions
	if bad := o.parse(c.args[3:]); bad.IsError() {
		return bad
	}
	l, bad := found[*list](c, c.args[1])
	if bad.IsError() {
		return bad
	}
	places := []reply.Value{}
	if l != nil {
		places = c.positions(l, c.args[2], &o)
	}
	switch {
	case o.counted:
		return reply.List(places...)
	case len(places) == 0:
		return reply.Null
	}
	return places[0]
}

// positions lists the indexes at which a text stands.
func (c *call) positions(l *list, wanted string, o *posOptions) []reply.Value {
	places := []reply.Value{}
	skip, looked := max(o.rank, -o.rank)-1, int64(0)
	if o.rank == math.MinInt64 {
		skip = 0 // its own negative, also in Redis
	}
	l.each(o.rank < 0, func(i int, text string) bool {
		c.visit(1)
		if o.maxLen > 0 && looked == o.maxLen {
			return false
		}
		looked++
		if text != wanted {
			return !c.exhausted()
		}
		if skip > 0 {
			skip--
			return !c.exhausted()
		}
		c.grow(elementBytes)
		places = append(places, reply.Integer(int64(i)))
		return !c.exhausted() && o.counted && (o.count == 0 || int64(len(places)) < o.count)
	})
	return places
}
