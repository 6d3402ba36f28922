package fsm

import (
	"math"
	"slices"

	"github.com/redfence/redfence/fsm/reply"
)

// Commands that combine sorted sets, and sets, whose members count with score 1.
// They read the keys of both kinds of port.

// zsource is one of the sets that are combined.
type zsource struct {
	z      *zset
	s      *set
	weight float64
}

func (x *zsource) len() int64 { return int64(x.z.count0()) + x.s.size0() }

func (x *zsource) score(member string) (float64, bool) {
	if x.s != nil {
		return 1, x.s.has(member)
	}
	return x.z.score(member)
}

// each visits the members with their scores until visit answers false.
func (x *zsource) each(visit func(member string, score float64) bool) {
	if x.s != nil {
		x.s.each(func(member string) bool { return visit(member, 1) })
	} else if x.z != nil {
		x.z.order.Scan(func(m zmember) bool { return visit(m.member, m.score) })
	}
}

// weighted is a score times the weight; inf times 0 counts as 0.
func (x *zsource) weighted(score float64) float64 {
	return orZero(float64(score * x.weight))
}

func orZero(f float64) float64 {
	if math.IsNaN(f) {
		return 0
	}
	return f
}

// zcombine is what a command asks to combine, and how.
type zcombine struct {
	sources    []zsource
	aggregate  string
	withScores bool
	limit      int64
	passing    bool // the result is only shown
}

// zform says which options a command has.
type zform struct{ weights, scores, limit bool }

// parse reads a number of keys at an argument, the keys and the options.
func (q *zcombine) parse(c *call, at int, form zform) reply.Value {
	n, ok := ParseInt(c.args[at])
	switch {
	case !ok:
		return errNotInteger
	case n < 1:
		return reply.Err("ERR at least 1 input key is needed for '" + c.spec.Name + "' command")
	case n > int64(len(c.args)-at-1):
		return errSyntax
	}
	q.sources, q.aggregate = make([]zsource, n), "sum"
	for i := range q.sources {
		if bad := q.sources[i].find(c, c.args[at+1+i]); bad.IsError() {
			return bad
		}
	}
	return q.options(c.args[at+1+int(n):], form)
}

func (x *zsource) find(c *call, key string) (bad reply.Value) {
	x.weight = 1
	r := c.find(key)
	if r != nil && r.kind == setKind {
		x.s = r.obj.(*set)
		return bad
	}
	x.z, bad = valueOf[*zset](r)
	return bad
}

func (q *zcombine) options(args []string, form zform) reply.Value {
	for len(args) > 0 {
		switch word := lower(args[0]); {
		case word == "weights" && form.weights && len(args) > len(q.sources):
			for i := range q.sources {
				var ok bool
				if q.sources[i].weight, ok = parseDouble(args[1+i]); !ok {
					return reply.Err("ERR weight value is not a float")
				}
			}
			args = args[1+len(q.sources):]
		case word == "aggregate" && form.weights && len(args) > 1:
			q.aggregate = lower(args[1])
			if q.aggregate != "sum" && q.aggregate != "min" && q.aggregate != "max" {
				return errSyntax
			}
			args = args[2:]
		case word == "withscores" && form.scores:
			q.withScores = true
			args = args[1:]
		case word == "limit" && form.limit && len(args) > 1:
			var bad reply.Value
			if q.limit, bad = limitOf(args[1]); bad.IsError() {
				return bad
			}
			args = args[2:]
		default:
			return errSyntax
		}
	}
	return reply.Value{}
}

// join is what two scores of a member come to.
func (q *zcombine) join(a, b float64) float64 {
	switch q.aggregate {
	case "min":
		return min(a, b)
	case "max":
		return max(a, b)
	}
	return orZero(a + b)
}

// sortSources puts small sets first, as Redis does: sums depend on the order.
func (q *zcombine) sortSources() {
	slices.SortStableFunc(q.sources, func(a, b zsource) int { return int(a.len() - b.len()) })
}

// zoperation makes a new sorted set of the sources.
type zoperation func(c *call, q *zcombine) *zset

func zunion(c *call, q *zcombine) *zset {
	out := newZSet()
	out.passing = q.passing
	q.sortSources()
	for i := range q.sources {
		x := &q.sources[i]
		x.each(func(member string, score float64) bool {
			c.visit(2)
			score = x.weighted(score)
			if old, ok := out.score(member); ok {
				score = q.join(old, score)
			} else {
				c.grow(2*elementCost + len(member))
			}
			out.set(member, score)
			return !c.exhausted()
		})
	}
	return out
}

// common visits the members that all sources have until visit answers false.
func (q *zcombine) common(c *call, visit func(member string, score float64) bool) {
	q.sortSources()
	q.sources[0].each(func(member string, score float64) bool {
		score = q.sources[0].weighted(score)
		for i := 1; i < len(q.sources); i++ {
			c.visit(1)
			other, ok := q.sources[i].score(member)
			if !ok {
				return !c.exhausted()
			}
			score = q.join(score, q.sources[i].weighted(other))
		}
		c.visit(1)
		return visit(member, score) && !c.exhausted()
	})
}

func zinter(c *call, q *zcombine) *zset {
	out := newZSet()
	out.passing = q.passing
	q.common(c, func(member string, score float64) bool {
		c.grow(2*elementCost + len(member))
		out.set(member, score)
		return true
	})
	return out
}

func zdiff(c *call, q *zcombine) *zset {
	out := newZSet()
	out.passing = q.passing
	q.sources[0].each(func(member string, score float64) bool {
		c.visit(1)
		for i := 1; i < len(q.sources); i++ {
			c.visit(1)
			if _, ok := q.sources[i].score(member); ok {
				return !c.exhausted()
			}
		}
		c.grow(2*elementCost + len(member))
		out.set(member, score)
		return !c.exhausted()
	})
	return out
}

func runZUNION(c *call) reply.Value { return c.zcombined(zunion, zform{weights: true, scores: true}) }
func runZINTER(c *call) reply.Value { return c.zcombined(zinter, zform{weights: true, scores: true}) }
func runZDIFF(c *call) reply.Value  { return c.zcombined(zdiff, zform{scores: true}) }

func (c *call) zcombined(how zoperation, form zform) reply.Value {
	var q zcombine
	if bad := q.parse(c, 1, form); bad.IsError() {
		return bad
	}
	q.passing = true
	z := how(c, &q)
	return c.listed(z.list(0, z.len()), q.withScores)
}

func runZUNIONSTORE(c *call) reply.Value { return c.zcombinedStore(zunion, zform{weights: true}) }
func runZINTERSTORE(c *call) reply.Value { return c.zcombinedStore(zinter, zform{weights: true}) }
func runZDIFFSTORE(c *call) reply.Value  { return c.zcombinedStore(zdiff, zform{}) }

func (c *call) zcombinedStore(how zoperation, form zform) reply.Value {
	var q zcombine
	if bad := q.parse(c, 2, form); bad.IsError() {
		return bad
	}
	z := how(c, &q)
	if bad := c.replace(c.args[1], zsetKind, z, 'z', c.spec.Name); bad.IsError() {
		return bad
	}
	return reply.Integer(int64(z.len()))
}

func runZINTERCARD(c *call) reply.Value {
	var q zcombine
	if bad := q.parse(c, 1, zform{limit: true}); bad.IsError() {
		return bad
	}
	count := int64(0)
	q.common(c, func(string, float64) bool {
		count++
		return count != q.limit
	})
	return reply.Integer(count)
}
