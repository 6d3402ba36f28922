package fsm

import (
	"sort"
	"strings"

	"github.com/tidwall/btree"
)

// zset is members with scores, found by member and in the order of (score, member).
type zset struct {
	scores *btree.Map[string, float64]
	order  *btree.BTreeG[zmember]
	size   int64
	// passing is set in a result that no key will hold: that may show -0, which
	// Redis's small sorted sets keep as 0.
	passing bool
}

type zmember struct {
	score  float64
	member string
}

// zless orders members. No score is NaN; -0 and 0 are the same score.
func zless(a, b zmember) bool {
	if a.score != b.score {
		return a.score < b.score
	}
	return a.member < b.member
}

func newZSet() *zset {
	return &zset{
		scores: new(btree.Map[string, float64]),
		order:  btree.NewBTreeGOptions(zless, btree.Options{NoLocks: true}),
	}
}

func (z *zset) len() int     { return z.scores.Len() }
func (z *zset) bytes() int64 { return z.size }

func (z *zset) clone() object {
	return &zset{scores: z.scores.Copy(), order: z.order.Copy(), size: z.size}
}

func zmemberCost(member string) int64 { return 2*elementCost + int64(len(member)) }

// score is a member's score. It may be asked of no zset.
func (z *zset) score(member string) (float64, bool) {
	if z == nil {
		return 0, false
	}
	return z.scores.Get(member)
}

// set gives a member a score, which is not NaN.
func (z *zset) set(member string, score float64) (created bool) {
	old, ok := z.scores.Get(member)
	if ok {
		z.order.Delete(zmember{old, member})
	} else {
		z.size += zmemberCost(member)
	}
	if !z.passing {
		score += 0 // makes 0 of -0
	}
	member = strings.Clone(member)
	z.scores.Set(member, score)
	z.order.Set(zmember{score, member})
	return !ok
}

func (z *zset) remove(member string) bool {
	score, ok := z.scores.Delete(member)
	if ok {
		z.order.Delete(zmember{score, member})
		z.size -= zmemberCost(member)
	}
	return ok
}

// at is the member at a rank of the order.
func (z *zset) at(i int) zmember {
	m, _ := z.order.GetAt(i)
	return m
}

// firstAt is the lowest rank at which at answers true; it must do so from some
// rank on, and not before. It is len if there is none.
func (z *zset) firstAt(is func(zmember) bool) int {
	return sort.Search(z.len(), func(i int) bool { return is(z.at(i)) })
}

// rank is how many members stand before one that is there.
func (z *zset) rank(m zmember) int {
	return z.firstAt(func(x zmember) bool { return !zless(x, m) })
}

// list lists the members of the ranks from one up to but not at another.
func (z *zset) list(from, to int) []zmember {
	out := make([]zmember, 0, max(0, to-from))
	if from >= to {
		return out
	}
	z.order.Ascend(z.at(from), func(m zmember) bool {
		out = append(out, m)
		return len(out) < to-from
	})
	return out
}

func (z *zset) write(sw *snapshotWriter) {
	sw.uint(uint64(z.len()))
	z.scores.Scan(func(member string, score float64) bool {
		sw.text(member)
		sw.float(score)
		return sw.err == nil
	})
}
