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
	sequencesFlag = flag.Int("sequences", 3000, "how many sequences")
	onlyFlag      = flag.Int("only", -1, "run only this sequence, and print it")
)

// timesEach is how often each row must have been compared.
const timesEach = 30

// mismatchesMax ends a run that goes wrong everywhere.
const mismatchesMax = 20

// tally counts what was compared.
type tally struct {
	rows   map[string]int
	ruled  map[string]int // by row: answers that needed its rule
	failed int
}

func TestSameReplies(t *testing.T) {
	redis := startRedis(t)
	m := startMachine(t)
	seed := *seedFlag
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("seed %d; to repeat: go test -tags hashicorpmetrics ./tests/differential -run TestSameReplies -seed %d", seed, seed)
	counts := tally{rows: map[string]int{}, ruled: map[string]int{}}
	from := rows()
	for n := range *sequencesFlag {
		if *onlyFlag >= 0 && n != *onlyFlag {
			continue
		}
		commands := newDraw(seed, n).sequence(from)
		want, err := redis.pipeline(commands)
		if err != nil {
			t.Fatalf("redis-server, sequence %d of seed %d: %v", n, seed, err)
		}
		got := m.pipeline(t, commands)
		counts.compare(t, n, commands, want, got)
		if counts.failed >= mismatchesMax {
			t.Fatal("too many mismatches")
		}
	}
	if *onlyFlag < 0 {
		counts.report(t)
	}
}

// compare compares one sequence's answers.
func (c *tally) compare(t *testing.T, n int, commands [][]string, redis, redfence []answer) {
	for i, args := range commands {
		spec, _ := fsm.Resolve(args)
		name := ""
		if spec != nil {
			name = spec.Name
			c.rows[name]++
		}
		if *onlyFlag >= 0 {
			t.Logf("%q -> %q %q", args, redis[i].raw, redfence[i].raw)
		}
		if redis[i].raw == redfence[i].raw || ownLimits(&redis[i]) == redfence[i].raw {
			continue
		}
		if r, ok := rules[name]; ok && r.same(args, &redis[i], &redfence[i]) {
			c.ruled[name]++
			continue
		}
		c.failed++
		t.Errorf("sequence %d, command %d: %q\nredis:    %.400q\nredfence: %.400q\nafter: %s",
			n, i, args, redis[i].raw, redfence[i].raw, shown(commands[:i]))
		return // what follows differs because of it
	}
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
