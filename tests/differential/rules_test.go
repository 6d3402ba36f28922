package differential

import (
	"fmt"
	"slices"
	"strings"

	"github.com/redfence/redfence/fsm"
)

// toleranceMillis is by how much what a lease has left may differ: both servers
// are asked in the same instant, but start the lease and answer one after the other.
const toleranceMillis = 5000

// rule says how the answers of a row are compared when they aren't the same bytes.
type rule struct {
	why  string
	same func(args []string, redis, redfence *answer) bool
}

// own is the rule for what a server tells of itself.
var own = rule{"what a server tells of itself: the same kind of reply", sameKind}

// help is the rule for the texts that list subcommands.
var help = rule{"each lists the subcommands that it has", sameKind}

// unordered is the rule for members of sets.
var unordered = rule{"a set has no order", func(_ []string, redis, redfence *answer) bool {
	return redis.kind == redfence.kind && slices.Equal(sorted(redis), sorted(redfence))
}}

// drawn is the rule for elements drawn at random.
var drawn = rule{"drawn at random: as many of the same form", func(_ []string, redis, redfence *answer) bool {
	return sameForm(redis, redfence)
}}

func sameForm(a, b *answer) bool {
	return a.kind == b.kind && slices.EqualFunc(a.elems, b.elems, func(x, y answer) bool { return sameForm(&x, &y) })
}

// rules are all the ways in which answers may differ.
var rules = map[string]rule{
	"hello": own, "info": own, "client|id": own, "client|info": own, "client|list": own, "role": own,
	"command": own, "command|count": own, "command|list": own, "command|docs": own, "command|info": own,
	"memory|stats": own, "memory|doctor": own, "latency|doctor": own, "slowlog|get": own, "slowlog|len": own, "module|list": own,
	"command|getkeys":         {"what is wrong with a command may be told in another order", sameKeys},
	"command|getkeysandflags": {"the table says of a key only whether it is read or written", sameKeys},
	"config|set":              {"a setting that can't be changed: Redfence says why", sameFailure},
	"latency|histogram":       own,
	"wait":                    {"a Redis alone has no replicas, of three nodes a majority has it: a count both times", sameKind},
	"acl|help":                help, "function|help": help, "client|help": help, "command|help": help, "config|help": help, "latency|help": help,
	"memory|help": help, "module|help": help, "pubsub|help": help, "script|help": help, "slowlog|help": help,
	"ttl":         {"a time that runs, within the tolerance", closeTo(1000)},
	"pttl":        {"a time that runs, within the tolerance", closeTo(1)},
	"expiretime":  {"counted from now, within the tolerance", closeTo(1000)},
	"pexpiretime": {"counted from now, within the tolerance", closeTo(1)},
	"keys":        {"Redis lists keys in the order of its hash table, Redfence sorted", sameElements},
	"scan":        {"Redis lists keys in the order of its hash table, Redfence sorted", sameScan},
	"randomkey":   {"drawn at random: a key where the other has one", sameKind},
	"time":        {"the time, within the tolerance", sameTime},
	"smembers":    unordered, "sinter": unordered, "sunion": unordered, "sdiff": unordered, "spop": unordered,
	"sscan":      {"a set has no order", sameScan},
	"hrandfield": drawn, "srandmember": drawn, "zrandmember": drawn,
	"object|encoding": {"Redis shows how a value came to be (raw after APPEND), Redfence how it could be stored",
		sameKind},
	"object|refcount": {"Redis shares small integers", sameKind},
	"object|idletime": {"access times are not kept: an error where Redis has a number", func(_ []string, redis, redfence *answer) bool {
		return redis.kind == ':' && redfence.isError()
	}},
	"memory|usage": {"each counts bytes its own way: a number where the other has one", sameKind},
	"eval":         {"errors raised inside Lua: first word and class", sameClass}, "evalsha": {"errors raised inside Lua: first word and class", sameClass},
	"eval_ro": {"errors raised inside Lua: first word and class", sameClass}, "evalsha_ro": {"errors raised inside Lua: first word and class", sameClass},
	"script|load": {"errors of the Lua compiler: first word and class", sameClass},
}

// longestMillis is about the longest lease that Redfence tells from a longer
// one: 290,000 years. It counts microseconds where Redis counts milliseconds.
const longestMillis = 9_200_000_000_000_000

// closeTo compares times in a unit of so many milliseconds.
func closeTo(unit int64) func([]string, *answer, *answer) bool {
	return func(_ []string, redis, redfence *answer) bool {
		a, ok1 := redis.number()
		b, ok2 := redfence.number()
		near := max(a-b, b-a) <= toleranceMillis/unit || min(a, b) > longestMillis/unit
		return ok1 && ok2 && a > 0 && b > 0 && near
	}
}

func sorted(a *answer) []string {
	var out []string
	for _, e := range a.elems {
		out = append(out, e.raw)
	}
	slices.Sort(out)
	return out
}

func sameElements(_ []string, redis, redfence *answer) bool {
	return redis.kind == '*' && redfence.kind == '*' && slices.Equal(sorted(redis), sorted(redfence))
}

// sameScan compares what a whole scan found. From a number that no SCAN gave
// only the form of the answer is the same.
func sameScan(args []string, redis, redfence *answer) bool {
	if strings.Trim(args[1], "0") != "" {
		return redis.kind == '*' && redfence.kind == '*'
	}
	return len(redis.elems) == 2 && len(redfence.elems) == 2 && redis.elems[0].raw == redfence.elems[0].raw &&
		sameElements(nil, &redis.elems[1], &redfence.elems[1])
}

func sameKind(_ []string, redis, redfence *answer) bool {
	return redis.kind == redfence.kind && !redis.isError() && (redis.raw == "$-1\r\n") == (redfence.raw == "$-1\r\n")
}

func sameTime(_ []string, redis, redfence *answer) bool {
	return len(redis.elems) == 2 && len(redfence.elems) == 2 && redis.elems[0].kind == '$' && redfence.elems[1].kind == '$'
}

// sameKeys compares the first of each pair. What is wrong with a command may be
// told in another order.
func sameKeys(_ []string, redis, redfence *answer) bool {
	if redis.isError() {
		return redfence.isError()
	}
	return slices.EqualFunc(redis.elems, redfence.elems, func(a, b answer) bool {
		return len(a.elems) > 0 && len(b.elems) > 0 && a.elems[0].raw == b.elems[0].raw
	})
}

func sameFailure(_ []string, redis, redfence *answer) bool {
	a, _, _ := strings.Cut(redis.text, " - ")
	b, _, _ := strings.Cut(redfence.text, " - ")
	return redis.isError() && redfence.isError() && a == b
}

// sameClass compares errors by their first word and by what they are about: the
// compiler, a line of the script, a command that it called.
func sameClass(_ []string, redis, redfence *answer) bool {
	return redis.isError() && redfence.isError() && class(redis.text) == class(redfence.text)
}

func class(text string) string {
	word, rest, _ := strings.Cut(text, " ")
	switch {
	case strings.HasPrefix(rest, "Error compiling script"):
		return word + " compile"
	case strings.Contains(rest, "user_script:") && strings.Contains(rest, " script: "):
		return word + " raised"
	}
	return text
}

// ownLimits spells an answer of Redis with Redfence's name for the limit of a
// string: Redis says the setting, Redfence the bytes. Both have it at 8 MiB here.
func ownLimits(a *answer) string {
	const setting, bytes = "(proto-max-bulk-len)", "(8388608 bytes)"
	if len(a.elems) == 0 {
		if a.kind != '$' || !strings.HasSuffix(a.text, setting) {
			return strings.Replace(a.raw, setting, bytes, 1)
		}
		text := strings.Replace(a.text, setting, bytes, 1)
		return fmt.Sprintf("$%d\r\n%s\r\n", len(text), text)
	}
	raw := a.raw[:strings.IndexByte(a.raw, '\n')+1]
	for i := range a.elems {
		raw += ownLimits(&a.elems[i])
	}
	return raw
}

// notCompared are the rows that aren't sent to both servers, with the reason.
// Rows that Redfence lacks on purpose are counted apart.
var notCompared = map[string]string{
	"delex":          "came with Redis 8.4",
	"client|setinfo": "came with Redis 7.2", "client|no-touch": "came with Redis 7.2",
	"waitaof":      "came with Redis 7.2",
	"client|pause": "refused on purpose: a node that others rely on does not stop answering",
}

// reasonFor says why a row isn't compared, "" if it must be.
func reasonFor(s *fsm.Spec) string {
	switch {
	case s.Where == fsm.Absent:
		return "Redfence lacks it on purpose: its error is of its own"
	case strings.HasPrefix(s.Name, "_"):
		return "not for clients"
	case s.Since == "redfence":
		return "Redfence's own"
	case s.Name != "cluster" && slices.ContainsFunc(fsm.Table(), func(o *fsm.Spec) bool { return strings.HasPrefix(o.Name, s.Name+"|") }):
		return "a container: its subcommands are compared"
	}
	return notCompared[s.Name]
}
