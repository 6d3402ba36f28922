package differential

import "strconv"

// Generators for hashes, lists, sets and sorted sets. Elements come from small
// pools, so that commands meet.

var (
	elementPool = []string{
		"a", "b", "c", "d", "1", "2", "3", "-5", "10", "9223372036854775807", "01", "", "A", "\x00\xff", "hello world", "1.5",
	}
	scorePool = []string{
		"1", "2", "3", "0", "-1", "1.5", "0.1", "-0.3", "1e3", "inf", "-inf", "+inf", "-0", "1700000000123.456", "0x10", "3.0", "1e308",
		"1e-320", "123456789012345678", "1700000000123", "100000000000000000000", "5e-324", "0.30000000000000004",
	}
	badScorePool = []string{"nan", "", "abc", " 1", "1 ", "1e400", "1e-400", "0x", "++1", "1,5", "(1"}
	scoreEndPool = []string{
		"-inf", "+inf", "inf", "(1", "1", "(2", "2", "0", "(0", "3", "-1", "(inf", "(-inf", "", "(", " 1", "1e400", "-1e400", "x", "nan", "[1", "1.5",
	}
	// shortFloatPool has no sum of more digits than a small hash keeps.
	shortFloatPool = []string{"1", "-1", "0.1", "-0.1", "3.0e3", "1e-17", "123456789.987654321", "0x1p3", "inf", "-inf", "nan", "", " 1", "abc", "5.", ".5", "1e", "-0"}
	lexEndPool     = []string{"-", "+", "[a", "(a", "[b", "(c", "[", "(", "[1", "", "a", "[zz", "--"}
	indexPool      = []string{"0", "1", "-1", "2", "-2", "3", "100", "-100", "x", "", "9223372036854775807", "-9223372036854775808", "5"}
	countPool      = []string{"0", "1", "2", "3", "100", "-1", "x", "9223372036854775807", "-9223372036854775808"}
)

func (d *draw) element() string { return d.of(elementPool) }

func (d *draw) score() string {
	if d.chance(8) {
		return d.of(badScorePool)
	}
	return d.of(scorePool)
}

// repeat draws one to n times.
func (d *draw) repeat(n int, f func() []string) []string {
	var out []string
	for range 1 + d.IntN(n) {
		out = append(out, f()...)
	}
	return out
}

func (d *draw) elements(n int) []string {
	return d.repeat(n, func() []string { return []string{d.element()} })
}

// keyed draws a key and what follows.
func keyed(rest func(d *draw) []string) generator {
	return func(d *draw) []string { return append([]string{d.key()}, rest(d)...) }
}

func oneElement(d *draw) []string    { return []string{d.element()} }
func manyElements(d *draw) []string  { return d.elements(4) }
func twoIndexes(d *draw) []string    { return []string{d.of(indexPool), d.of(indexPool)} }
func twoScores(d *draw) []string     { return []string{d.of(scoreEndPool), d.of(scoreEndPool)} }
func twoLexEnds(d *draw) []string    { return []string{d.of(lexEndPool), d.of(lexEndPool)} }
func twoKeys(d *draw) []string       { return []string{d.key(), d.key()} }
func storeKeys(d *draw) []string     { return append([]string{d.key()}, d.keysUpTo(3)...) }
func fieldAndValue(d *draw) []string { return []string{d.element(), d.shortValue()} }

// shortMax is how long a text of a hash may be for Redis to answer the fields in
// the order in which they came.
const shortMax = 64

func (d *draw) shortValue() string {
	if v := d.value(); len(v) <= shortMax {
		return v
	}
	return "1"
}

// spopArgs draws no count that takes a part of a set: what is left would differ.
func spopArgs(d *draw) []string {
	return []string{d.key(), d.of([]string{"100", "100", "0", "-1", "x", "9223372036854775807"})}
}

// numbered draws a number of keys and the keys, sometimes wrong.
func (d *draw) numbered() []string {
	keys := d.keysUpTo(3)
	n := strconv.Itoa(len(keys))
	if d.chance(8) {
		n = d.of([]string{"0", "-1", "x", "9", "", "2"})
	}
	return append([]string{n}, keys...)
}

func scanArgs(d *draw) []string {
	args := []string{d.key(), "0"}
	if d.chance(10) {
		args[1] = d.of([]string{"x", "", "99999999999999999999"})
	}
	if d.chance(40) {
		args = append(args, d.word("match"), d.of(patternPool))
	}
	if d.chance(10) {
		args = append(args, d.word("count"), d.of([]string{"0", "-1", "x", ""}))
	}
	return append(args, "count", "1000")
}

// randomArgs draws a count and perhaps an option.
func randomArgs(option string) generator {
	return func(d *draw) []string {
		args := []string{d.key()}
		if d.chance(70) {
			args = append(args, d.of([]string{"0", "1", "3", "-3", "100", "-1", "x", "-9223372036854775808"}))
			if option != "" && d.chance(50) {
				args = append(args, d.word(option))
			}
		}
		return args
	}
}

func popArgs(d *draw) []string {
	if d.chance(50) {
		return []string{d.key()}
	}
	return []string{d.key(), d.of(countPool)}
}

func multiPop(ends []string) generator {
	return func(d *draw) []string {
		args := append(d.numbered(), d.word(d.of(ends)))
		if d.chance(40) {
			args = append(args, d.word("count"), d.of(countPool))
		}
		return args
	}
}

// timeout draws how long a command may wait: hardly at all, or what is no such time.
func (d *draw) timeout() string {
	if d.chance(10) {
		return d.of([]string{"x", "", "-1", "nan", "inf", "1e300", " 1", "9223372036854775808", "-0x1"})
	}
	return d.of([]string{"0.001", "0.0001", "0x1p-9", "2e-3"})
}

func blocking(d *draw) []string { return append(d.keysUpTo(3), d.timeout()) }

func blockingMultiPop(ends ...string) generator {
	return func(d *draw) []string { return append([]string{d.timeout()}, multiPop(ends)(d)...) }
}

func limited(d *draw) []string {
	args := d.numbered()
	if d.chance(40) {
		args = append(args, d.word("limit"), d.of(countPool))
	}
	return args
}

var hashGenerators = map[string]generator{
	"hset":    keyed(func(d *draw) []string { return d.repeat(3, func() []string { return fieldAndValue(d) }) }),
	"hmset":   keyed(func(d *draw) []string { return d.repeat(3, func() []string { return fieldAndValue(d) }) }),
	"hsetnx":  keyed(fieldAndValue),
	"hget":    keyed(oneElement),
	"hmget":   keyed(manyElements),
	"hdel":    keyed(manyElements),
	"hexists": keyed(oneElement), "hstrlen": keyed(oneElement),
	"hgetall": oneKey, "hlen": oneKey, "hkeys": oneKey, "hvals": oneKey,
	"hincrby":      keyed(func(d *draw) []string { return []string{d.element(), d.of(intPool)} }),
	"hincrbyfloat": keyed(func(d *draw) []string { return []string{d.element(), d.of(shortFloatPool)} }),
	"hscan":        scanArgs, "hrandfield": randomArgs("withvalues"),
}

var listGenerators = map[string]generator{
	"lpush": keyed(manyElements), "rpush": keyed(manyElements), "lpushx": keyed(manyElements), "rpushx": keyed(manyElements),
	"lpop": popArgs, "rpop": popArgs, "llen": oneKey,
	"lindex": keyed(func(d *draw) []string { return []string{d.of(indexPool)} }),
	"lrange": keyed(twoIndexes), "ltrim": keyed(twoIndexes),
	"lrem": keyed(func(d *draw) []string { return []string{d.of(indexPool), d.element()} }),
	"lset": keyed(func(d *draw) []string { return []string{d.of(indexPool), d.element()} }),
	"linsert": keyed(func(d *draw) []string {
		return []string{d.word(d.of([]string{"before", "after", "after", "near"})), d.element(), d.element()}
	}),
	"lpos": keyed(func(d *draw) []string {
		args := []string{d.element()}
		for range d.IntN(3) {
			args = append(args, d.word(d.of([]string{"rank", "count", "maxlen"})), d.of(countPool))
		}
		return args
	}),
	"lmove": func(d *draw) []string {
		ends := []string{"left", "right"}
		return append(twoKeys(d), d.word(d.of(ends)), d.word(d.of(ends)))
	},
	"rpoplpush": twoKeys, "lmpop": multiPop([]string{"left", "right", "left", "min"}),
	"blpop": blocking, "brpop": blocking, "brpoplpush": func(d *draw) []string { return append(twoKeys(d), d.timeout()) },
	"blmove": func(d *draw) []string {
		ends := []string{"left", "right", "left", "x"}
		return append(twoKeys(d), d.word(d.of(ends)), d.word(d.of(ends)), d.timeout())
	},
	"blmpop": blockingMultiPop("left", "right"),
}

var setGenerators = map[string]generator{
	"sadd": keyed(manyElements), "srem": keyed(manyElements), "sismember": keyed(oneElement), "smismember": keyed(manyElements),
	"scard": oneKey, "smembers": oneKey, "spop": spopArgs, "srandmember": randomArgs(""),
	"smove":  func(d *draw) []string { return append(twoKeys(d), d.element()) },
	"sinter": manyKeys, "sunion": manyKeys, "sdiff": manyKeys, "sintercard": limited,
	"sinterstore": storeKeys, "sunionstore": storeKeys, "sdiffstore": storeKeys, "sscan": scanArgs,
}

// lexKey is the key for ranges by member: all its scores are the same, without
// which Redis leaves open what they answer.
const lexKey = "lex"

// lexical draws for a command that takes a range by member.
func lexical(rest func(d *draw) []string) generator {
	return func(d *draw) []string { return append([]string{lexKey}, rest(d)...) }
}

func zaddArgs(d *draw) []string {
	if d.chance(20) {
		return append([]string{lexKey}, d.repeat(5, func() []string { return []string{"0", d.element()} })...)
	}
	args := []string{d.key()}
	for range d.IntN(3) {
		if d.chance(50) {
			args = append(args, d.word(d.of([]string{"nx", "xx", "gt", "lt", "ch", "incr", "ch"})))
		}
	}
	return append(args, d.repeat(3, func() []string { return []string{d.score(), d.element()} })...)
}

// rangeOptions draws the options of the ZRANGE family.
func (d *draw) rangeOptions(words []string) []string {
	var args []string
	for range d.IntN(3) {
		switch word := d.of(words); word {
		case "limit":
			args = append(args, d.word(word), d.of(indexPool), d.of(indexPool))
		default:
			args = append(args, d.word(word))
		}
	}
	return args
}

func rangeArgs(ends func(*draw) []string) generator {
	return func(d *draw) []string {
		return append(append([]string{d.key()}, ends(d)...), d.rangeOptions([]string{"withscores", "limit", "withscores", "rev"})...)
	}
}

var lexRange = lexical(func(d *draw) []string {
	return append(twoLexEnds(d), d.rangeOptions([]string{"withscores", "limit", "limit", "limit"})...)
})

// anyRange draws for ZRANGE, whose options say by what.
func anyRange(d *draw) []string {
	words := []string{"rev", "limit", "withscores"}
	switch d.IntN(3) {
	case 0:
		return append(append([]string{d.key()}, twoIndexes(d)...), d.rangeOptions(words)...)
	case 1:
		return append(append(append([]string{d.key()}, twoScores(d)...), d.word("byscore")), d.rangeOptions(words)...)
	}
	return append(append(append([]string{lexKey}, twoLexEnds(d)...), d.word("bylex")), d.rangeOptions(words)...)
}

func combineArgs(words ...string) generator {
	return func(d *draw) []string {
		args := d.numbered()
		keys := len(args) - 1
		for range d.IntN(3) {
			if len(words) == 0 {
				break
			}
			word := d.of(words)
			args = append(args, d.word(word))
			switch word {
			case "weights":
				for range keys {
					args = append(args, d.score())
				}
			case "aggregate":
				args = append(args, d.word(d.of([]string{"sum", "min", "max", "avg"})))
			}
		}
		return args
	}
}

var zsetGenerators = map[string]generator{
	"zadd": zaddArgs, "zrem": keyed(manyElements), "zscore": keyed(oneElement), "zmscore": keyed(manyElements), "zcard": oneKey,
	"zcount": keyed(twoScores), "zlexcount": lexical(twoLexEnds),
	"zrange": anyRange, "zrevrange": rangeArgs(twoIndexes), "zrangebyscore": rangeArgs(twoScores), "zrevrangebyscore": rangeArgs(twoScores),
	"zrangebylex": lexRange, "zrevrangebylex": lexRange,
	"zrangestore": keyed(anyRange),
	"zincrby":     keyed(func(d *draw) []string { return []string{d.score(), d.element()} }),
	"zrank":       keyed(oneElement), "zrevrank": keyed(oneElement),
	"zremrangebyscore": keyed(twoScores), "zremrangebyrank": keyed(twoIndexes), "zremrangebylex": lexical(twoLexEnds),
	"zpopmin": popArgs, "zpopmax": popArgs, "zmpop": multiPop([]string{"min", "max", "min", "left"}),
	"bzpopmin": blocking, "bzpopmax": blocking, "bzmpop": blockingMultiPop("min", "max"),
	"zrandmember": randomArgs("withscores"), "zscan": scanArgs, "zintercard": limited,
	"zunion": combineArgs("weights", "aggregate", "withscores"), "zinter": combineArgs("weights", "aggregate", "withscores"),
	"zdiff":       combineArgs("withscores"),
	"zunionstore": keyed(combineArgs("weights", "aggregate")), "zinterstore": keyed(combineArgs("weights", "aggregate")),
	"zdiffstore": keyed(combineArgs()),
}
