package fsm

import (
	"strconv"

	"github.com/redfence/redfence/fsm/reply"
)

// Commands that look at all keys of a database. They cover this side's records
// in the order of their keys.

var walkRows = []Spec{
	{
		Name: "keys", Arity: 2, Flags: Read | Walks, Where: Machine,
		Group: "generic", Since: "1.0.0", Args: "pattern", Summary: "Find all keys matching the given pattern", run: runKeys,
	},
	{
		Name: "scan", Arity: -2, Flags: Read | Walks, Where: Machine,
		Group: "generic", Since: "2.8.0", Args: "cursor [MATCH pattern] [COUNT count] [TYPE type]", Summary: "Incrementally iterate the keys space", run: runScan,
	},
	{
		// Not Read, though it changes nothing: what it draws comes with an entry.
		Name: "randomkey", Arity: 1, Where: Machine,
		Group: "generic", Since: "1.0.0", Summary: "Return a random key from the keyspace", run: runRandomKey,
	},
	{
		Name: "dbsize", Arity: 1, Flags: Read | Fast, Where: Machine,
		Group: "server", Since: "1.0.0", Summary: "Return the number of keys in the selected database", run: runDBSize,
	},
	{
		Name: "flushdb", Arity: -1, Flags: Write, Where: Machine,
		Group: "server", Since: "1.0.0", Args: "[ASYNC | SYNC]", Summary: "Remove all keys from the current database", run: runFlushDB,
	},
	{
		Name: "flushall", Arity: -1, Flags: Write, Where: Machine,
		Group: "server", Since: "1.0.0", Args: "[ASYNC | SYNC]", Summary: "Remove all keys from all databases", run: runFlushAll,
	},
}

// overBudget says whether the script that called has used up its budget, so
// that a walk for it can end.
func (c *call) overBudget() bool { return c.budget != nil && c.budget.Exceeded() }

// elementBytes is about what one key of a reply takes beside its text, which is
// the record's.
const elementBytes = 120

// visitSteps is what visiting a key costs beside matching it, in steps of the matcher.
const visitSteps = 8

// pass charges for n keys that a walk visits without matching them.
func (c *call) pass(n int) {
	c.spend(n)
	c.walked += n * visitSteps
}

// matcher matches many keys against one pattern, with one bound for all walks
// of the command, of its script or of its MULTI.
type matcher struct {
	c       *call
	pattern string
	all     bool // "*", which Match would not match with the empty key
}

func (c *call) matcher(pattern string) matcher {
	return matcher{c: c, pattern: pattern, all: pattern == "*"}
}

func (m *matcher) match(key string) bool {
	left := m.c.most - m.c.walked
	before := left
	left -= visitSteps
	ok := m.all || match(m.pattern, key, &left)
	m.c.walked += before - left
	m.c.spend(max(1, (before-left)/8))
	return ok
}

// tooFar says that the walks have used up their bound.
func (m *matcher) tooFar() bool { return m.c.walked >= m.c.most }

// spent says that the walk must end, because its bound or the calling script's is used up.
func (m *matcher) spent() bool { return m.tooFar() || m.c.overBudget() }

func runKeys(c *call) reply.Value {
	m := c.matcher(c.args[1])
	keys := []string{}
	c.db.keys.Scan(func(key string, r *record) bool {
		if c.s.gone(r) {
			c.pass(1)
		} else if m.match(key) {
			c.grow(elementBytes)
			keys = append(keys, key)
		}
		return !m.spent()
	})
	if m.tooFar() {
		return errPatternCost
	}
	return reply.Strings(keys)
}

// scanOptions are the options of SCAN.
type scanOptions struct {
	pattern  string
	count    int64
	typeName string
}

const scanCountDefault = 10

func (o *scanOptions) parse(args []string) reply.Value {
	o.pattern, o.count = "*", scanCountDefault
	for i := 0; i < len(args); i += 2 {
		if i+1 == len(args) {
			return errSyntax
		}
		switch value := args[i+1]; lower(args[i]) {
		case "match":
			o.pattern = value
		case "count":
			n, ok := ParseInt(value)
			if !ok {
				return errNotInteger
			}
			if n < 1 {
				return errSyntax
			}
			o.count = n
		case "type":
			o.typeName = lower(value)
		default:
			return errSyntax
		}
	}
	return reply.Value{}
}

// runScan is SCAN with a place among the keys instead of a number: args[1] is
// "" for the start or "k" and the key after which to go on, and so is the first
// element of the answer, "" at the end. The server gives clients numbers for
// the places. A script gets all keys in one answer.
func runScan(c *call) reply.Value {
	if c.budget != nil {
		return c.scanAll()
	}
	var o scanOptions
	if bad := o.parse(c.args[2:]); bad.IsError() {
		return bad
	}
	next, keys, bad := c.scan(c.args[1], &o)
	if bad.IsError() {
		return bad
	}
	return reply.List(reply.String(next), reply.Strings(keys))
}

func (c *call) scanAll() reply.Value {
	cursor, ok := ParseCursor(c.args[1])
	if !ok {
		return errCursor
	}
	var o scanOptions
	if bad := o.parse(c.args[2:]); bad.IsError() {
		return bad
	}
	o.count = int64(c.db.keys.Len()) + 1
	keys := []string{}
	if cursor == 0 {
		var bad reply.Value
		if _, keys, bad = c.scan("", &o); bad.IsError() {
			return bad
		}
	}
	return reply.List(reply.String("0"), reply.Strings(keys))
}

// ParseCursor reads a cursor of SCAN as C's strtoul does: nothing is 0, and a
// sign is allowed.
func ParseCursor(s string) (uint64, bool) {
	if s == "" {
		return 0, true
	}
	digits := s
	if s[0] == '+' || s[0] == '-' {
		digits = s[1:]
	}
	n, err := strconv.ParseUint(digits, 10, 64)
	if s[0] == '-' {
		n = -n
	}
	return n, err == nil
}

// scan looks at up to count keys after a place.
func (c *call) scan(after string, o *scanOptions) (next string, keys []string, bad reply.Value) {
	m := c.matcher(o.pattern)
	keys = []string{}
	seen, last := int64(0), ""
	visit := func(key string, r *record) bool {
		if after != "" && key == after[1:] {
			return true
		}
		if seen == o.count {
			next = "k" + last
			return false
		}
		seen, last = seen+1, key
		if c.s.gone(r) || o.typeName != "" && o.typeName != kindNames[r.kind] {
			c.pass(1)
		} else if m.match(key) {
			c.grow(elementBytes)
			keys = append(keys, key)
		}
		return !m.spent()
	}
	if after == "" {
		c.db.keys.Scan(visit)
	} else {
		c.db.keys.Ascend(after[1:], visit)
	}
	if m.tooFar() {
		return "", nil, errPatternCost
	}
	return next, keys, reply.Value{}
}

// randomTries is how often RANDOMKEY draws before it takes the next key that is there.
const randomTries = 100

func runRandomKey(c *call) reply.Value {
	n := c.db.keys.Len()
	if n == 0 {
		return reply.Null
	}
	at := 0
	for range randomTries {
		c.pass(1)
		at = int(c.s.draw() % uint64(n))
		if key, r, ok := c.db.keys.GetAt(at); ok && !c.s.gone(r) {
			return reply.String(key)
		}
	}
	for i := range n {
		if c.pass(1); c.exhausted() {
			break
		}
		if key, r, ok := c.db.keys.GetAt((at + i) % n); ok && !c.s.gone(r) {
			return reply.String(key)
		}
	}
	return reply.Null
}

func runDBSize(c *call) reply.Value {
	n := c.db.keys.Len()
	// What is gone but waits to be ended (see ExpirePerEntry) doesn't count.
	c.s.deadlines.Scan(func(d due) bool {
		if d.deadline > c.s.clock.now || c.exhausted() {
			return false
		}
		c.pass(1)
		if d.db.order == c.db.order && c.s.gone(d.rec) { // not the same db in a ReadCopy
			n--
		}
		return true
	})
	return reply.Integer(int64(n - c.endedBySession()))
}

// endedBySession counts the records of c.db whose session is past its end but was
// not ended yet, of those whose own lease is not.
func (c *call) endedBySession() int {
	ended := map[string]bool{}
	c.s.sessions.ends.Scan(func(x *session) bool {
		if x.deadline > c.s.clock.now || c.exhausted() {
			return false
		}
		c.pass(1 + x.locks)
		for _, l := range c.s.sessions.locksOf(x.id) {
			if l.db != c.db.order {
				continue
			}
			if r, ok := c.db.keys.Get(l.key); ok && r.dueAt() > c.s.clock.now && c.s.gone(r) {
				ended[l.key] = true
			}
		}
		return true
	})
	return len(ended)
}

// flushArgs checks the arguments of a FLUSH: both ways to do it are one here.
func (c *call) flushArgs() bool {
	return len(c.args) == 1 || len(c.args) == 2 && (is(c.args[1], "async") || is(c.args[1], "sync"))
}

func runFlushDB(c *call) reply.Value {
	if !c.flushArgs() {
		return errSyntax
	}
	c.flush()
	return reply.OK
}

func runFlushAll(c *call) reply.Value {
	if !c.flushArgs() {
		return errSyntax
	}
	for num := range uint8(Databases) {
		c.in(c.s.db(c.db.space, num), c.flush)
	}
	return reply.OK
}

// flush removes all records of c.db, without an event for each, as in Redis.
func (c *call) flush() {
	records := c.db.keys.Values()
	c.spend(len(records))
	for _, r := range records {
		if c.overBudget() {
			return // all of it will be undone
		}
		c.s.drop(c.db, r)
	}
	if len(records) > 0 {
		c.s.tell(c.db.num, "flush", "", "", 0)
	}
	if c.s.KeyEvents && len(records) > 0 {
		c.s.events = append(c.s.events, Event{Kind: Flushed, Space: c.db.space, DB: c.db.num})
	}
}
