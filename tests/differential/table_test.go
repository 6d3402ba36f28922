package differential

import (
	"slices"
	"testing"

	"github.com/redfence/redfence/fsm"
)

// tableDiffers are the rows whose entry in the table is not Redis's, with the reason.
var tableDiffers = map[string]string{
	"randomkey":   "not readonly: what it draws comes with an entry of the log",
	"hrandfield":  "not readonly: what it draws comes with an entry of the log",
	"srandmember": "not readonly: what it draws comes with an entry of the log",
	"zrandmember": "not readonly: what it draws comes with an entry of the log",
	"cluster":     "no container: all its subcommands answer alike",
	// Redis gives these no flag, but here they run beside the log as reads do.
	"object|help": "reads nothing", "script|help": "reads nothing", "script|exists": "reads the cache", "time": "reads the clock",
}

// flagWords are the flags that mean the same in both.
var flagWords = map[string]fsm.Flags{
	"write": fsm.Write, "readonly": fsm.Read, "denyoom": fsm.DenyOOM, "noscript": fsm.NoScript, "no_auth": fsm.NoAuth,
	"movablekeys": fsm.MovableKeys,
}

// TestSameTable compares the command table with Redis's own: drivers route and
// retry by what COMMAND says.
func TestSameTable(t *testing.T) {
	redis := startRedis(t).dial(t)
	for _, s := range fsm.Table() {
		if s.Where == fsm.Absent || tableDiffers[s.Name] != "" {
			continue
		}
		answers, err := redis.pipeline([][]string{{"command", "info", s.Name}})
		if err != nil {
			t.Fatal(err)
		}
		info := answers[0].elems[0].elems
		if len(info) < 6 {
			continue // newer than this Redis, or Redfence's own
		}
		numbers := []int{s.Arity, s.First, s.Last, s.Step}
		for i, at := range []int{1, 3, 4, 5} {
			if n, _ := info[at].number(); int(n) != numbers[i] {
				t.Errorf("%s: arity and keys %v, Redis says %d at place %d", s.Name, numbers, n, i)
			}
		}
		for word, flag := range flagWords {
			has := slices.ContainsFunc(info[2].elems, func(f answer) bool { return f.text == word })
			if has != s.Has(flag) {
				t.Errorf("%s: %s is %v in Redis", s.Name, word, has)
			}
		}
	}
}
