package differential

import (
	"strings"
	"testing"
)

const dialogueCount = 150

// dialogues compares two connections that get into each other's way: each
// command is answered before the next is sent on either. Most of it is about WATCH.
func (c *tally) dialogues(t *testing.T, seed uint64, redis, redfence address) {
	from := map[string]generator{
		"watch": manyKeys, "multi": none, "exec": none, "discard": none, "unwatch": none, "select": func(d *draw) []string { return []string{d.of([]string{"0", "0", "1"})} },
		"set": setArgs, "get": oneKey, "del": manyKeys, "incr": oneKey, "pexpire": expireArgs(millisPool), "rename": func(d *draw) []string { return []string{d.key(), d.key()} },
		"eval": func(d *draw) []string {
			return []string{d.of(lockScripts[:4]), "1", d.key(), d.value(), "100000", "yes"}
		},
		"copy": keyGenerators["copy"], "move": keyGenerators["move"], "append": keyAndValue, "persist": oneKey, "getex": oneKey, "touch": oneKey,
	}
	var conns [2][2]*conn
	for i, at := range []address{redis, redfence} {
		conns[i] = [2]*conn{at.dial(t), at.dial(t)}
	}
	for n := range dialogueCount {
		d := newDraw(seed, -40_001-n)
		var told strings.Builder
		var txs [2]transaction
		step := func(who int, args []string) bool {
			var got [2]answer
			for i := range conns {
				answers, err := conns[i][who].pipeline([][]string{args})
				if err != nil {
					t.Fatalf("%v\n%s", err, told.String())
				}
				got[i] = answers[0]
			}
			same := c.next(&txs[who], args, &got[0], &got[1])
			if !same {
				c.failed++
				t.Errorf("dialogue %d: %s\nconnection %d: %q\nredis:    %.400q\nredfence: %.400q", n, told.String(), who, args, got[0].raw, got[1].raw)
			}
			told.WriteString("\n  " + string(rune('A'+who)) + shown([][]string{args})[3:])
			return same
		}
		ok := step(0, []string{"reset"}) && step(1, []string{"reset"}) && step(0, []string{"flushall"})
		for range 12 + d.IntN(16) {
			ok = ok && step(d.IntN(2), d.drawFrom(from))
		}
	}
}
