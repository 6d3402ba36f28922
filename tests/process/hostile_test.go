package process_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/redfence/redfence/tests/internal/process"
)

// hostileScripts each ask for more time, memory or stack than a server has.
var hostileScripts = map[string]string{
	"endless loop":         `while true do end`,
	"endless loop, pcall":  `while true do pcall(function() while true do end end) end`,
	"coroutine":            `local co = coroutine.create(function() while true do end end) coroutine.resume(co)`,
	"doubling string":      `local s = 'x' while true do s = s .. s end`,
	"string.rep of a GB":   `return #string.rep('x', 1073741824)`,
	"rep in a loop":        `local t = {} while true do t[#t+1] = ('x'):rep(1000000) end`,
	"far index":            `local t = {} t[67108863] = 1 local u = {} for i = 67108863, 1, -1 do u[i] = 1 end`,
	"far table.insert":     `local t = {} for i = 1, 1000000 do table.insert(t, 3e7, 1) end`,
	"unpack of much":       `return unpack({}, 1, 1e8)`,
	"pattern":              `return string.find(string.rep('a', 26), string.rep('a?', 26) .. string.rep('a', 26))`,
	"deep recursion":       `local function f() return 1 + f() end return f()`,
	"deep pcall recursion": `local function f() pcall(f) f() end f()`,
	"nested braces":        `return ` + strings.Repeat("{", 1<<20),
	"length operators":     `return ` + strings.Repeat("#", 1<<20) + `''`,
	"long concatenation":   `return 'a'` + strings.Repeat(`..'a'`, 40000),
	"sort that lies":       `local t = {} for i = 1, 100000 do t[i] = i end table.sort(t, function() return true end)`,
	"cjson in itself":      `local t = {} t[1] = t return cjson.encode(t)`,
	"error in error":       `error(setmetatable({}, {__tostring = function() while true do end end}))`,
}

// mayEnd are those that a large enough budget could let end well; what counts
// is that they answer at once.
var mayEnd = map[string]bool{"far index": true, "pattern": true, "far table.insert": true}

// TestHostileScripts: promise 8. Each is answered within a second, everybody else
// is served meanwhile, and all nodes agree afterwards and after a restart.
func TestHostileScripts(t *testing.T) {
	c := process.Start(t, 3)
	ctx := context.Background()
	for name, script := range hostileScripts {
		n := c.Nodes[len(name)%3]
		sent := time.Now()
		err := n.Redis().Eval(ctx, script, nil).Err()
		took := time.Since(sent)
		var answer redis.Error
		if err != nil && !errors.As(err, &answer) && !errors.Is(err, redis.Nil) {
			t.Errorf("%s broke the connection: %v", name, err)
		}
		if err == nil && !mayEnd[name] {
			t.Errorf("%s was answered without an error", name)
		}
		if took > time.Second {
			t.Errorf("%s was answered after %v", name, took)
		}
		t.Logf("%-22s %8v %.80s", name, took.Round(time.Millisecond), fmt.Sprint(err))
	}
	keys := make([]string, 200_000)
	for i := range keys {
		keys[i] = fmt.Sprint(i)
	}
	if n, err := c.Nodes[0].Redis().Eval(ctx, "return #KEYS", keys).Int(); err == nil && n != len(keys) {
		t.Errorf("a script with %d keys saw %d (%v)", len(keys), n, err)
	}
	agree(t, c)
	for _, n := range c.Nodes {
		n.Kill()
		n.Start()
	}
	c.Ready()
	agree(t, c)
}

// TestManyHostileScripts: a hundred clients with endless loops, alike and each
// its own, leave room for the others.
func TestManyHostileScripts(t *testing.T) {
	c := process.Start(t, 3)
	leader := c.Leader()
	ctx, cancel := context.WithCancel(context.Background())
	var attackers sync.WaitGroup
	for i := range 100 {
		attackers.Go(func() {
			conn := process.NewClient(c.Nodes[i%3].Client)
			defer conn.Close()
			for round := 0; ctx.Err() == nil; round++ {
				script := "while true do end"
				if i%2 == 0 {
					script += fmt.Sprintf(" -- %d %d", i, round)
				}
				// The attackers' answers are of no interest.
				_ = conn.Eval(ctx, script, nil).Err()
			}
		})
	}
	var worst time.Duration
	for i := range 50 {
		sent := time.Now()
		if err := c.Others(leader)[0].Redis().SetNX(context.Background(), fmt.Sprintf("good:%d", i), "x", time.Minute).Err(); err != nil {
			t.Errorf("a good client was answered %v", err)
		}
		worst = max(worst, time.Since(sent))
	}
	cancel()
	attackers.Wait()
	t.Logf("a good client waited for at most %v", worst)
	if worst > 2*time.Second {
		t.Errorf("a good client waited for %v", worst)
	}
	agree(t, c)
}

// agree waits until all nodes have applied the same entries, and holds them to
// the same state.
func agree(t *testing.T, c *process.Cluster) {
	t.Helper()
	var seen []string
	process.Until(t, "all nodes have applied the same entries", func() bool {
		seen = seen[:0]
		indexes := map[string]bool{}
		for _, n := range c.Nodes {
			got, err := n.Redis().Do(context.Background(), "REDFENCE", "HASH").Slice()
			if err != nil || len(got) != 2 {
				return false
			}
			indexes[fmt.Sprint(got[0])] = true
			seen = append(seen, fmt.Sprint(got[1]))
		}
		return len(indexes) == 1
	})
	for _, hash := range seen {
		if hash != seen[0] {
			t.Errorf("the nodes' states differ: %v", seen)
		}
	}
}
