package fsm

import (
	"math"
	"slices"
	"strings"

	"github.com/redfence/redfence/fsm/reply"
)

// Commands for ranges of a sorted set: by rank, by score, by member.

var (
	errScoreRange = reply.Err("ERR min or max is not a float")
	errLexRange   = reply.Err("ERR min or max not valid string range item")
)

// span is a range as asked for, which a sorted set turns into ranks.
type span interface {
	// ranks are the ranks from up to but not at to.
	ranks(z *zset) (from, to int)
}

type rankSpan struct{ first, last int64 }

func (s rankSpan) ranks(z *zset) (from, to int) { return indexRange(s.first, s.last, z.len()) }

// reversed are the ranks of a span that counts from the highest.
func (s rankSpan) reversed(z *zset) (from, to int) {
	from, to = s.ranks(z)
	return z.len() - to, z.len() - from
}

type scoreSpan struct {
	min, max     float64
	minEx, maxEx bool
}

func (s scoreSpan) ranks(z *zset) (from, to int) {
	from = z.firstAt(func(m zmember) bool { return m.score > s.min || m.score == s.min && !s.minEx })
	to = z.firstAt(func(m zmember) bool { return m.score > s.max || m.score == s.max && s.maxEx })
	return from, max(from, to)
}

// lexEnd is an end of a range by member: below or above all, or a member.
type lexEnd struct {
	side   int // -1 below all, 1 above all, 0 at member
	member string
	ex     bool
}

type lexSpan struct{ min, max lexEnd }

func (s lexSpan) ranks(z *zset) (from, to int) {
	if s.min.side > 0 || s.max.side < 0 {
		return 0, 0
	}
	to = z.len()
	if s.min.side == 0 {
		from = z.firstAt(func(m zmember) bool { return m.member > s.min.member || m.member == s.min.member && !s.min.ex })
	}
	if s.max.side == 0 {
		to = z.firstAt(func(m zmember) bool { return m.member > s.max.member || m.member == s.max.member && s.max.ex })
	}
	return from, max(from, to)
}

func parseRankSpan(first, last string) (span, reply.Value) {
	a, b, bad := indexes(first, last)
	return rankSpan{a, b}, bad
}

func parseScoreSpan(low, high string) (span, reply.Value) {
	var s scoreSpan
	var ok1, ok2 bool
	s.min, s.minEx, ok1 = parseScoreEnd(low)
	s.max, s.maxEx, ok2 = parseScoreEnd(high)
	if !ok1 || !ok2 {
		return nil, errScoreRange
	}
	return s, reply.Value{}
}

// parseScoreEnd reads an end of a range by score as C's strtod does, which is
// laxer than for a score: blanks before it, nothing at all, what overflows.
func parseScoreEnd(text string) (score float64, exclusive, ok bool) {
	if i := strings.IndexByte(text, 0); i >= 0 {
		text = text[:i]
	}
	if text, exclusive = strings.CutPrefix(text, "("); text == "" {
		return 0, exclusive, true
	}
	text = strings.TrimLeft(text, " \t\n\v\f\r")
	if score, ok = parseDouble(text); ok {
		return score, exclusive, true
	}
	body, negative := strings.CutPrefix(lower(text), "-")
	if !negative {
		body = strings.TrimPrefix(body, "+")
	}
	if body == "" || !decimalFloat(body) {
		return 0, false, false
	}
	// Too large or too small for a double.
	score = 0
	if f, ok := parseLongDouble(body); !ok && tooLarge(body) || ok && f.MantExp(nil) > 0 {
		score = math.Inf(1)
	}
	if negative {
		score = -score
	}
	return score, exclusive, true
}

// tooLarge says of a decimal number that no long double holds whether it is for
// its size.
func tooLarge(body string) bool {
	_, exp, _ := strings.Cut(body, "e")
	return !strings.HasPrefix(exp, "-")
}

func parseLexSpan(low, high string) (span, reply.Value) {
	a, ok1 := parseLexEnd(low)
	b, ok2 := parseLexEnd(high)
	if !ok1 || !ok2 {
		return nil, errLexRange
	}
	return lexSpan{a, b}, reply.Value{}
}

func parseLexEnd(text string) (lexEnd, bool) {
	switch {
	case text == "+":
		return lexEnd{side: 1}, true
	case text == "-":
		return lexEnd{side: -1}, true
	case strings.HasPrefix(text, "("), strings.HasPrefix(text, "["):
		return lexEnd{member: text[1:], ex: text[0] == '('}, true
	}
	return lexEnd{}, false
}

type spanParser = func(low, high string) (span, reply.Value)

func runZCOUNT(c *call) reply.Value    { return c.countSpan(parseScoreSpan) }
func runZLEXCOUNT(c *call) reply.Value { return c.countSpan(parseLexSpan) }

func (c *call) countSpan(parse spanParser) reply.Value {
	s, bad := parse(c.args[2], c.args[3])
	if bad.IsError() {
		return bad
	}
	z, bad := found[*zset](c, c.args[1])
	if bad.IsError() {
		return bad
	}
	if z == nil {
		return reply.Integer(0)
	}
	from, to := s.ranks(z)
	return reply.Integer(int64(to - from))
}

func runZREMRANGEBYRANK(c *call) reply.Value  { return c.removeSpan(parseRankSpan) }
func runZREMRANGEBYSCORE(c *call) reply.Value { return c.removeSpan(parseScoreSpan) }
func runZREMRANGEBYLEX(c *call) reply.Value   { return c.removeSpan(parseLexSpan) }

func (c *call) removeSpan(parse spanParser) reply.Value {
	s, bad := parse(c.args[2], c.args[3])
	if bad.IsError() {
		return bad
	}
	e, old, bad := editable[*zset](c, c.args[1])
	if bad.IsError() {
		return bad
	}
	if old == nil {
		return reply.Integer(0)
	}
	from, to := s.ranks(old)
	if from >= to {
		return reply.Integer(0)
	}
	c.visit(to - from)
	z := changed(old, zsetKind)
	for _, m := range old.list(from, to) {
		z.remove(m.member)
	}
	c.keep(e, zsetKind, z, 'z', c.spec.Name)
	return reply.Integer(int64(to - from))
}

// rangeQuery is what the commands of the ZRANGE family ask for.
type rangeQuery struct {
	by         spanParser // nil until an option says it
	fixed      bool       // the command's name says by what and in which direction
	reverse    bool
	withScores bool
	offset     int64
	limit      int64 // -1 for none
	span       span
}

// parse reads the ends low and high and the options after them.
func (q *rangeQuery) parse(low, high string, args []string, store bool) reply.Value {
	q.limit = -1
	kind := ""
	for i := 0; i < len(args); i++ {
		word := lower(args[i])
		switch {
		case word == "withscores" && !store:
			q.withScores = true
		case word == "limit" && len(args)-i > 2:
			var bad reply.Value
			if q.offset, q.limit, bad = indexes(args[i+1], args[i+2]); bad.IsError() {
				return bad
			}
			i += 2
		case word == "rev" && !q.fixed && !q.reverse:
			q.reverse = true
		case word == "bylex" && !q.fixed && kind == "":
			q.by, kind = parseLexSpan, word
		case word == "byscore" && !q.fixed && kind == "":
			q.by, kind = parseScoreSpan, word
		default:
			return errSyntax
		}
	}
	return q.finish(low, high)
}

// finish checks what doesn't go together and reads the ends.
func (q *rangeQuery) finish(low, high string) reply.Value {
	byRank := q.by == nil
	if byRank && q.limit != -1 {
		return reply.Err("ERR syntax error, LIMIT is only supported in combination with either BYSCORE or BYLEX")
	}
	if byRank {
		q.by, q.offset = parseRankSpan, 0 // Redis takes LIMIT n -1 for none at all
	}
	if q.reverse && !byRank {
		low, high = high, low
	}
	var bad reply.Value
	q.span, bad = q.by(low, high)
	if _, lex := q.span.(lexSpan); q.withScores && (lex || bad.Str == errLexRange.Str) {
		return reply.Err("ERR syntax error, WITHSCORES not supported in combination with BYLEX")
	}
	return bad
}

// members lists what the query asks for.
func (q *rangeQuery) members(c *call, z *zset) []zmember {
	from, to := q.span.ranks(z)
	if s, ok := q.span.(rankSpan); ok && q.reverse {
		from, to = s.reversed(z)
	}
	n := int64(to - from)
	if q.offset < 0 || q.offset >= n {
		return nil
	}
	count := n - q.offset
	if q.limit >= 0 {
		count = min(count, q.limit)
	}
	if q.reverse {
		to -= int(q.offset)
		from = to - int(count)
	} else {
		from += int(q.offset)
		to = from + int(count)
	}
	c.visit(to - from)
	c.grow((to - from) * elementBytes)
	out := z.list(from, to)
	if q.reverse {
		slices.Reverse(out)
	}
	return out
}

func runZRANGE(c *call) reply.Value    { return c.zrange(&rangeQuery{}) }
func runZREVRANGE(c *call) reply.Value { return c.zrange(&rangeQuery{fixed: true, reverse: true}) }
func runZRANGEBYSCORE(c *call) reply.Value {
	return c.zrange(&rangeQuery{by: parseScoreSpan, fixed: true})
}
func runZREVRANGEBYSCORE(c *call) reply.Value {
	return c.zrange(&rangeQuery{by: parseScoreSpan, fixed: true, reverse: true})
}
func runZRANGEBYLEX(c *call) reply.Value {
	return c.zrange(&rangeQuery{by: parseLexSpan, fixed: true})
}
func runZREVRANGEBYLEX(c *call) reply.Value {
	return c.zrange(&rangeQuery{by: parseLexSpan, fixed: true, reverse: true})
}

func (c *call) zrange(q *rangeQuery) reply.Value {
	if bad := q.parse(c.args[2], c.args[3], c.args[4:], false); bad.IsError() {
		return bad
	}
	z, bad := found[*zset](c, c.args[1])
	if bad.IsError() {
		return bad
	}
	if z == nil {
		return reply.List()
	}
	return c.listed(q.members(c, z), q.withScores)
}

func runZRANGESTORE(c *call) reply.Value {
	q := &rangeQuery{}
	if bad := q.parse(c.args[3], c.args[4], c.args[5:], true); bad.IsError() {
		return bad
	}
	z, bad := found[*zset](c, c.args[2])
	if bad.IsError() {
		return bad
	}
	result := newZSet()
	if z != nil {
		for _, m := range q.members(c, z) {
			c.grow(2*elementCost + len(m.member))
			result.set(m.member, m.score)
		}
	}
	if bad := c.replace(c.args[1], zsetKind, result, 'z', "zrangestore"); bad.IsError() {
		return bad
	}
	return reply.Integer(int64(result.len()))
}
