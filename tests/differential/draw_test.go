package differential

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/redfence/redfence/fsm"
)

// draw draws one sequence. The same seed draws the same.
type draw struct {
	*rand.Rand
	keys []string // few, so that commands meet
}

func newDraw(seed uint64, n int) *draw {
	d := &draw{Rand: rand.New(rand.NewPCG(seed, uint64(n)))}
	for range 3 {
		d.keys = append(d.keys, keyPool[d.IntN(len(keyPool))])
	}
	return d
}

// The pools. No text of junkPool is a small positive integer: as a lease time it
// would run out between the two servers' answers.
var (
	keyPool   = []string{"a", "b", "c", "lock:1", "", "k\r\nX", "{t}c", "\x00\xff", "caf\u00e9", "cafe\u0301", "*"}
	valuePool = []string{
		"1", "10", "-5", "0", "7", "", "abc", "hello world", "3.0e3", "5.0", "0.1", "-0", "01", " 1", "1 ",
		"9223372036854775807", "-9223372036854775808", "9223372036854775808", "inf", "nan", "0x10", "1e400", "1e-400",
		"\x00\x01\r\n", "Lock", strings.Repeat("x", 44), strings.Repeat("y", 45), strings.Repeat("z", 3000), "tok-1", "tok-2",
	}
	intPool = []string{
		"0", "1", "-1", "2", "3", "5", "-2", "100", "-100", "9223372036854775807", "-9223372036854775808",
		"9223372036854775808", "x", "", "1.5", "+1", "01", " 1",
	}
	secondsPool = []string{"100", "5000", "3600", "31557600000"}
	millisPool  = []string{"100000", "5000000", "3600000", "31557600000000"}
	badTTLPool  = []string{
		"0", "-1", "-5", "-9999999999999999", "9223372036854775807", "9223372036854775808", "123.45", "1e3", "",
		"undefined", "NaN", "+5", " 5", "0x10", "-9223372036854775808",
	}
	floatPool = []string{
		"1", "-1", "0.1", "-0.1", "3.0e3", "1e-17", "1e17", "123456789.987654321", "0x1p3", "0x.8", "inf", "-inf", "nan",
		"1e4000", "-1e4000", "1e4940", "1e-5000", "", " 1", "1 ", "abc", "+5", "5.", ".5", "1e", "0.30000000000000004", "-0",
	}
	junkPool    = []string{"", "foo", "1.5", "-1", "nx", "XX", "get", "9223372036854775808", " 1", "01", "+1", "\r\n"}
	patternPool = []string{"*", "?", "a*", "*1", "lock:?", "[a-c]", "[^a]", "caf*", "\\*", "[ab", "**", "l*k*1", "", "*[0-9]", "[c-a]", "\\", "*\\", "[^", "[]]"}
)

func (d *draw) of(pool []string) string { return pool[d.IntN(len(pool))] }
func (d *draw) key() string             { return d.of(d.keys) }
func (d *draw) value() string           { return d.of(valuePool) }
func (d *draw) chance(percent int) bool { return d.IntN(100) < percent }

// word is a word in any case.
func (d *draw) word(w string) string {
	switch d.IntN(3) {
	case 0:
		return strings.ToUpper(w)
	case 1:
		return strings.ToLower(w)
	}
	b := []byte(strings.ToLower(w))
	for i := range b {
		if d.chance(50) {
			b[i] = strings.ToUpper(string(b[i]))[0]
		}
	}
	return string(b)
}

// ttl is a lease time: mostly a long one, sometimes one to refuse. No two are
// alike, so that GT and LT don't depend on the millisecond of each command.
func (d *draw) ttl(good []string) string {
	if d.chance(25) {
		return d.of(badTTLPool)
	}
	n, err := strconv.ParseInt(d.of(good), 10, 64)
	if err != nil {
		panic(err)
	}
	return strconv.FormatInt(n+d.Int64N(1_000_000), 10)
}

// keysUpTo is one to n keys.
func (d *draw) keysUpTo(n int) []string {
	var keys []string
	for range 1 + d.IntN(n) {
		keys = append(keys, d.key())
	}
	return keys
}

// weights say how often a row is drawn, in relation to weightDefault.
var weights = map[string]int{
	"set": 24, "get": 10, "eval": 24, "evalsha": 6, "flushall": 1, "flushdb": 1, "script|flush": 2, "setnx": 8,
	"pexpire": 8, "del": 8, "pttl": 6, "object|help": 2, "object|freq": 2, "time": 2,
	"multi": 1, "exec": 1, "discard": 1, "reset": 1, "hello": 3, "select": 5, "watch": 4,
}

// weightEdge is for what the node answers by itself.
const weightEdge = 2

const weightDefault = 4

// rows are the rows that are drawn, by name.
func rows() []*fsm.Spec {
	var out []*fsm.Spec
	for _, s := range fsm.Table() {
		if generators[s.Name] != nil {
			out = append(out, s)
		}
	}
	return out
}

// pick draws a row.
func (d *draw) pick(from []*fsm.Spec) *fsm.Spec {
	total := 0
	for _, s := range from {
		total += weightOf(s.Name)
	}
	at := d.IntN(total)
	for _, s := range from {
		if at -= weightOf(s.Name); at < 0 {
			return s
		}
	}
	panic("unreachable")
}

func weightOf(name string) int {
	if w := weights[name]; w > 0 {
		return w
	}
	if edgeGenerators[name] != nil {
		return weightEdge
	}
	return weightDefault
}

// command draws a command of a row.
func (d *draw) command(name string) []string {
	var args []string
	for _, w := range strings.Split(name, "|") {
		args = append(args, d.word(w))
	}
	args = append(args, generators[name](d)...)
	if d.chance(4) && !unspoiled[name] && !(name == "zadd" && args[1] == lexKey) {
		args = d.spoil(args)
	}
	return args
}

// unspoiled are rows whose arguments are another command's, or of subcommands
// that Redfence has no rows for: what is wrong with those is not its table's to tell.
var unspoiled = map[string]bool{"cluster": true, "command|getkeys": true, "command|getkeysandflags": true}

// spoil makes the arguments wrong in one way.
func (d *draw) spoil(args []string) []string {
	at := 1 + d.IntN(len(args))
	switch {
	case at == len(args) || d.chance(30):
		return append(args, d.of(junkPool))
	case d.chance(50):
		args[at] = d.of(junkPool)
		return args
	}
	return slices.Delete(args, at, at+1)
}

// sequence draws a sequence of commands, from an empty server and a fresh
// connection, half of them with RESP3. Each gets one reply.
func (d *draw) sequence(from []*fsm.Spec) [][]string {
	commands := [][]string{{"reset"}, {"hello", strconv.Itoa(2 + d.IntN(2))}, {"flushall"}}
	if d.chance(10) {
		commands = append(commands, []string{"script", "flush"})
	}
	from = d.theme(from)
	for range 5 + d.IntN(12) {
		if d.chance(6) {
			commands = append(commands, d.transaction(from)...)
			continue
		}
		commands = d.add(commands, from)
	}
	return commands
}

// themes are groups of rows that work on values of one kind.
var themes = []string{"string", "hash", "list", "set", "sorted-set"}

// theme leaves of most sequences' rows those of one kind of value, and all that
// belong to none, so that commands meet what they work on.
func (d *draw) theme(from []*fsm.Spec) []*fsm.Spec {
	if d.chance(15) {
		return from
	}
	kept := d.of(themes)
	return slices.DeleteFunc(slices.Clone(from), func(s *fsm.Spec) bool {
		if s.Group == kept {
			return false
		}
		return slices.Contains(themes, s.Group) || kept != "string" && d.chance(70)
	})
}

// add adds a command of any row.
func (d *draw) add(commands [][]string, from []*fsm.Spec) [][]string {
	args := d.command(d.pick(from).Name)
	commands = append(commands, args)
	if strings.EqualFold(args[0], "set") && len(args) > 4 {
		// Redis counts what SET stored with an end in the past until it is looked at.
		commands = append(commands, []string{"exists", args[1]})
	}
	return commands
}

// transaction draws a MULTI from begin to end, some with a WATCH.
func (d *draw) transaction(from []*fsm.Spec) [][]string {
	var commands [][]string
	if d.chance(50) {
		commands = append(commands, append([]string{d.word("watch")}, d.keysUpTo(2)...))
		for range d.IntN(3) {
			commands = d.add(commands, from)
		}
	}
	commands = append(commands, []string{d.word("multi")})
	for range d.IntN(5) {
		commands = d.add(commands, from)
	}
	return append(commands, []string{d.word(d.of([]string{"exec", "exec", "exec", "discard"}))})
}
