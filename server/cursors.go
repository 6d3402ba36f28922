package server

import (
	"container/list"
	"hash/maphash"
	"strconv"
	"strings"
	"sync"

	"github.com/redfence/redfence/fsm"
	"github.com/redfence/redfence/fsm/reply"
)

// cursors turns the numbers that clients pass to SCAN into the places that the
// machine goes on from. It remembers the most recently used places of this
// node. A number that it doesn't know, since it was forgotten or comes from
// another node, begins at the start: a scan may show a key twice, but misses none.
// It is safe for concurrent use.
type cursors struct {
	mu    sync.Mutex
	seed  maphash.Seed
	known map[uint64]*list.Element
	order *list.List // of *place, the most recently used first
	bytes int
}

type place struct {
	number uint64
	after  string
}

func (t *cursors) init() {
	t.seed = maphash.MakeSeed()
	t.known = map[uint64]*list.Element{}
	t.order = list.New()
}

// number is the cursor for a place; "" is the end and has 0. It stays below
// 2^53, since some clients keep it in a floating-point number. A node's seed
// keeps it from being taken for one of another node's.
func (t *cursors) number(after string) uint64 {
	if after == "" {
		return 0
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	n := maphash.String(t.seed, after)>>11 | 1
	if el := t.known[n]; el != nil {
		t.bytes += len(after) - len(el.Value.(*place).after)
		el.Value.(*place).after = strings.Clone(after)
		t.order.MoveToFront(el)
	} else {
		t.known[n] = t.order.PushFront(&place{n, strings.Clone(after)})
		t.bytes += len(after)
	}
	for t.order.Len() > CursorsMax || t.bytes > CursorBytesMax && t.order.Len() > 1 {
		p := t.order.Remove(t.order.Back()).(*place)
		delete(t.known, p.number)
		t.bytes -= len(p.after)
	}
	return n
}

// after is the place that a cursor stands for, "" for the start.
func (t *cursors) after(n uint64) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	el := t.known[n]
	if el == nil {
		return ""
	}
	t.order.MoveToFront(el)
	return el.Value.(*place).after
}

// scan stands between SCAN's numbers and the machine's places.
var scan = adapter{
	before: func(c *session, cmd *fsm.Command) reply.Value {
		n, ok := fsm.ParseCursor(cmd.Args[1])
		if !ok {
			return reply.Err("ERR invalid cursor")
		}
		args := append([]string(nil), cmd.Args...)
		args[1] = c.server.cursors.after(n)
		cmd.Args = args
		return reply.Value{}
	},
	after: func(c *session, _ *fsm.Command, v reply.Value) reply.Value {
		if v.Kind != reply.Array || len(v.Elems) != 2 {
			return v
		}
		n := c.server.cursors.number(v.Elems[0].Str)
		return reply.List(reply.String(strconv.FormatUint(n, 10)), v.Elems[1])
	},
}

// adapters are the rows of the machine that clients call in another way.
var adapters = map[string]adapter{
	"publish": publish(channelTopic), "spublish": publish(shardTopic), "scan": scan,
}
