package differential

import (
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redfence/redfence/fsm"
)

var (
	seedFlag      = flag.Uint64("seed", 0, "seed of the sequences; 0 takes one from the time")
	sequencesFlag = flag.Int("sequences", 10_000, "how many sequences")
	onlyFlag      = flag.Int("only", -1, "run only this sequence, and print it")
)

// timesEach is how often each row must have been compared.
const timesEach = 30

// mismatchesMax ends a run that goes wrong everywhere.
const mismatchesMax = 20

// seedOf is the seed of this run, told with the way to repeat it.
func seedOf(t *testing.T) uint64 {
	seed := *seedFlag
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("seed %d; to repeat: go test -tags hashicorpmetrics ./tests/differential -run %s -seed %d", seed, t.Name(), seed)
	return seed
}

// tally counts what was compared.
type tally struct {
	rows   map[string]int
	ruled  map[string]int // by row: answers that needed its rule
	failed int
}

func TestSameReplies(t *testing.T) {
	redis := startRedis(t)
	redfence, seat := startRedfence(t)
	seed := seedOf(t)
	counts := &tally{rows: map[string]int{}, ruled: map[string]int{}}
	counts.sequences(t, seed, *sequencesFlag, redis.dial(t), redfence.dial(t), seat.dial(t))
	if *onlyFlag >= 0 {
		return
	}
	counts.streams(t, seed, redis, redfence)
	counts.caches(t, seed, redis.dial(t), redfence.dial(t))
	counts.silences(t, seed, redis.dial(t), redfence.dial(t))
	counts.dialogues(t, seed, redis, redfence)
	counts.endings(t, seed, redis, redfence)
	counts.report(t)
}

// seatEvery is how many sequences there are for one through a seat port: a seat
// must be a Redis master like the shared port.
const seatEvery = 5

// sequences compares the sequences in which each command gets one reply.
func (c *tally) sequences(t *testing.T, seed uint64, count int, redis, shared, seat *conn) {
	from := rows()
	for n := range count {
		if *onlyFlag >= 0 && n != *onlyFlag {
			continue
		}
		commands := newDraw(seed, n).sequence(from)
		if *onlyFlag >= 0 {
			t.Log(shown(commands))
		}
		want, err := redis.pipeline(commands)
		if err != nil {
			t.Fatalf("redis-server, sequence %d: %v\n%s", n, err, shown(commands))
		}
		through, other := shared, seat
		if n%seatEvery == seatEvery-1 {
			through, other = seat, shared
		}
		// No key of the other kind of port may be in the way.
		other.clear(t)
		got, err := through.pipeline(commands)
		if err != nil {
			t.Fatalf("redfence, sequence %d: %v\n%s", n, err, shown(commands))
		}
		c.compare(t, n, commands, want, got)
		if c.failed >= mismatchesMax {
			t.Fatal("too many mismatches")
		}
	}
	for _, conn := range []*conn{redis, shared, seat} {
		conn.clear(t)
	}
}

// compare compares one sequence's answers.
func (c *tally) compare(t *testing.T, n int, commands [][]string, redis, redfence []answer) {
	var tx transaction
	for i, args := range commands {
		if *onlyFlag >= 0 {
			t.Logf("%q -> %q %q", args, redis[i].raw, redfence[i].raw)
		}
		if c.next(&tx, args, &redis[i], &redfence[i]) {
			continue
		}
		c.failed++
		t.Errorf("sequence %d, command %d: %q\nredis:    %.400q\nredfence: %.400q\nafter: %s",
			n, i, args, redis[i].raw, redfence[i].raw, shown(commands[:i]))
		return // what follows differs because of it
	}
}

// transaction is what a connection has queued in a MULTI.
type transaction struct{ queued [][]string }

// next compares the answers to a connection's next command.
func (c *tally) next(tx *transaction, args []string, redis, redfence *answer) (same bool) {
	if len(tx.queued) > 0 && strings.EqualFold(args[0], "exec") && len(redis.elems) == len(tx.queued) {
		same = c.sameAll(tx.queued, redis.elems, redfence.elems)
	} else {
		same = c.same(args, redis, redfence)
	}
	switch {
	case redis.raw == "+QUEUED\r\n":
		tx.queued = append(tx.queued, args)
	case !redis.isError():
		tx.queued = nil
	}
	return same
}

// count counts a command and names its row.
func (c *tally) count(args []string) string {
	spec, _ := fsm.Resolve(args)
	if spec == nil {
		return ""
	}
	c.rows[spec.Name]++
	return spec.Name
}

// sameAll compares what an EXEC answered.
func (c *tally) sameAll(commands [][]string, redis, redfence []answer) bool {
	for i, args := range commands {
		if i >= len(redfence) || !c.same(args, &redis[i], &redfence[i]) {
			return false
		}
	}
	return len(redfence) == len(commands)
}

// same compares the answers to one command, and counts it.
func (c *tally) same(args []string, redis, redfence *answer) bool {
	name := c.count(args)
	if redis.raw == redfence.raw || ownLimits(redis) == redfence.raw {
		return true
	}
	r, ok := rules[name]
	if !ok || !r.same(args, redis, redfence) {
		return false
	}
	c.ruled[name]++
	return true
}

func shown(commands [][]string) string {
	var b strings.Builder
	for _, args := range commands {
		fmt.Fprintf(&b, "\n  %.200q", args)
	}
	return b.String()
}

// report prints the coverage and holds the table of commands to it.
func (c *tally) report(t *testing.T) {
	var b strings.Builder
	reasons := map[string]int{}
	for _, s := range fsm.Table() {
		if why := reasonFor(s); why != "" {
			reasons[why]++
			continue
		}
		fmt.Fprintf(&b, "\n  %-16s %6d", s.Name, c.rows[s.Name])
		if n := c.ruled[s.Name]; n > 0 {
			fmt.Fprintf(&b, "  %5d by rule: %s", n, rules[s.Name].why)
		}
		if c.rows[s.Name] < timesEach {
			t.Errorf("%s was compared %d times, must be %d", s.Name, c.rows[s.Name], timesEach)
		}
	}
	t.Logf("compared, by row:%s", b.String())
	b.Reset()
	for _, why := range slices.Sorted(maps.Keys(reasons)) {
		fmt.Fprintf(&b, "\n  %3d rows: %s", reasons[why], why)
	}
	t.Logf("not compared:%s", b.String())
}
