package fsm

import (
	"github.com/redfence/redfence/fsm/reply"
)

// What shows who holds what.

var lockListRows = []Spec{
	{
		Name: "lock.info", Arity: 2, Flags: Read, Where: Machine, First: 1, Last: 1, Step: 1,
		Group: "lock", Since: "redfence", Args: "name",
		Summary: "Who holds a lock, since when, from where, with what token, note and session; null if nobody does", run: runLockInfo,
	},
	{
		Name: "lock.list", Arity: -1, Flags: Read, Where: Machine,
		Group: "lock", Since: "redfence", Args: "[MATCH pattern] [COUNT n] [CURSOR c]",
		Summary: "What LOCK.INFO says of the names that are held through either kind of port: a cursor, \"0\" at the end, and a map for each", run: runLockList,
	},
}

// page is a part of a list that a client asks for.
type page struct {
	pattern string
	count   int64  // how many are looked at
	cursor  string // "" for the start
}

const pageCountDefault = 100

// parsePage reads the options of a list, each once.
func parsePage(args []string, matches bool) (p page, bad reply.Value) {
	p.pattern, p.count = "*", pageCountDefault
	given := map[string]bool{}
	for i := 0; i < len(args); i += 2 {
		word := lower(args[i])
		if i+1 == len(args) || given[word] {
			return p, errSyntax
		}
		given[word] = true
		switch value := args[i+1]; {
		case word == "match" && matches:
			p.pattern = value
		case word == "count":
			n, ok := ParseInt(value)
			if !ok || n < 1 || n > PageMax {
				return p, errPageCount
			}
			p.count = n
		case word == "cursor":
			if p.cursor = value; value == "0" {
				p.cursor = ""
			}
		default:
			return p, errSyntax
		}
	}
	return p, bad
}

// runLockList goes by name over the records of both kinds of port. A cursor is
// the last name that was looked at, with a letter before it: it holds on any
// node and through any change.
func runLockList(c *call) reply.Value {
	p, bad := parsePage(c.args[1:], true)
	if bad.IsError() {
		return bad
	}
	if p.cursor != "" && p.cursor[0] != 'k' {
		return errCursor
	}
	m := c.matcher(p.pattern)
	list := []reply.Value{}
	name, ok := c.nextName(p.cursor)
	last := ""
	for ; ok && p.count > 0 && !m.spent(); p.count-- {
		if m.match(name) {
			c.visit(1)
			if v := c.lockInfo(name); !v.IsNull() {
				list = append(list, v)
			}
		}
		last = "k" + name
		name, ok = c.nextName(last)
	}
	switch {
	case m.tooFar():
		return errPatternCost
	case !ok:
		last = "0"
	}
	return reply.List(reply.String(last), reply.List(list...))
}

// nextName is the first name behind a cursor that any port's database has.
func (c *call) nextName(cursor string) (name string, ok bool) {
	for space := range c.s.cluster.Seats + 1 {
		visit := func(key string, _ *record) bool {
			if cursor != "" && key == cursor[1:] {
				return true
			}
			if !ok || key < name {
				name, ok = key, true
			}
			return false
		}
		keys := c.s.db(space, c.db.num).keys
		if cursor == "" {
			keys.Scan(visit)
		} else {
			keys.Ascend(cursor[1:], visit)
		}
		c.pass(1)
	}
	return name, ok
}

func runLockInfo(c *call) reply.Value { return c.lockInfo(c.args[1]) }

// lockInfo is all that is known of a lock, null if nobody holds it. Redis's -1
// for no lease holds for pttl.
func (c *call) lockInfo(name string) reply.Value {
	r, seats, token, ok := c.grantOf(name, nil)
	if r == nil {
		return reply.Null
	}
	through := "shared port"
	if seats {
		through = "seat ports"
	}
	if !ok {
		token = 0
	}
	info := []reply.Value{
		reply.String("name"), reply.String(r.key),
		reply.String("type"), reply.String(kindNames[r.kind]),
		reply.String("mode"), modeOf(r),
		reply.String("owner"), ownerOf(r),
		reply.String("token"), tokenOrNull(token),
		reply.String("held-ms"), reply.Integer((c.now - r.since) / 1000),
		reply.String("pttl"), reply.Integer(c.pttl(c.s.endOf(r))),
	}
	info = append(info, termsInfo(r.terms)...)
	info = append(info, holderInfo(r.holder)...)
	info = append(info,
		reply.String("through"), reply.String(through),
		reply.String("seats"), c.seatVotes(r.key),
	)
	if h, several := holdingsOf(r); several {
		info = append(info,
			reply.String("permits"), reply.Integer(h.permits),
			reply.String("delay-left-ms"), reply.Integer(max(0, (h.delayed-c.now+999)/1000)),
			reply.String("holders"), c.holders(h),
		)
	}
	info = append(info, c.waitersInfo(r.key)...)
	return reply.Pairs(info...)
}

// modeOf says how a lock is held; null where a library's scripts decide it.
func modeOf(r *record) reply.Value {
	h, several := holdingsOf(r)
	switch {
	case isString(r):
		return reply.String("exclusive")
	case !several:
		return reply.Null
	case h.whole:
		return reply.String("exclusive")
	case h.len() == 0:
		return reply.String("delay")
	case h.permits > 0:
		return reply.String("permits")
	}
	return reply.String("shared")
}

// holders lists who holds a lock that several may hold, by owner.
func (c *call) holders(h *holdings) reply.Value {
	list := []reply.Value{}
	h.owners.Scan(func(_ string, x *holding) bool {
		c.visit(1)
		if end := c.s.endOfHolding(x); end > c.s.clock.now {
			info := []reply.Value{
				reply.String("owner"), reply.String(x.owner),
				reply.String("token"), tokenOrNull(x.token),
				reply.String("offered"), reply.Truth(x.offered),
				reply.String("held-ms"), reply.Integer((c.now - x.since) / 1000),
				reply.String("pttl"), reply.Integer(c.pttl(end)),
			}
			list = append(list, reply.Pairs(append(append(info, termsInfo(x.terms)...), holderInfo(x.holder)...)...))
		}
		return !c.exhausted()
	})
	return reply.List(list...)
}

// tokenOrNull is null for what has no token: what is only offered, or never was a grant.
func tokenOrNull(token uint64) reply.Value {
	if token == 0 {
		return reply.Null
	}
	return reply.Integer(int64(token))
}

func termsInfo(t *terms) []reply.Value {
	session := reply.Null
	if id := t.sessionID(); id != 0 {
		session = reply.Integer(int64(id))
	}
	return []reply.Value{
		reply.String("session"), session,
		reply.String("delay-ms"), reply.Integer(t.delayMicros() / 1000),
		reply.String("note"), reply.String(t.noteText()),
	}
}

func holderInfo(h *holder) []reply.Value {
	return []reply.Value{
		reply.String("client-name"), reply.String(h.Name),
		reply.String("client-addr"), reply.String(h.Addr),
		reply.String("client-library"), reply.String(h.Library),
		reply.String("node"), reply.String(h.Node),
	}
}

// ownerOf is who holds a lock by the value of its key; null where the value has
// elements, which may stand for several.
func ownerOf(r *record) reply.Value {
	if !isString(r) {
		return reply.Null
	}
	return reply.String(r.str)
}

func (c *call) pttl(end int64) int64 {
	if end == never {
		return -1
	}
	return leftMillis(end, c.now)
}

// seatVotes lists what the seats have under key, one map each for those that
// have something.
func (c *call) seatVotes(key string) reply.Value {
	votes := []reply.Value{}
	for seat := uint8(1); seat <= c.s.cluster.Seats; seat++ {
		r := c.s.get(c.s.db(seat, c.db.num), key)
		if r == nil {
			continue
		}
		votes = append(votes, reply.Pairs(
			reply.String("seat"), reply.Integer(int64(seat)),
			reply.String("owner"), ownerOf(r),
			reply.String("token"), tokenOrNull(r.token),
			reply.String("pttl"), reply.Integer(c.pttl(r.deadline)),
		))
	}
	return reply.List(votes...)
}
