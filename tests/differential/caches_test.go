package differential

import (
	"slices"
	"strings"
	"testing"
)

const cacheCount = 250

// cacheGenerators are for connections that keep a cache: what they read, what they
// change, and what they ask to be told. Left out are FLUSH, of which Redis tells
// also those who have read nothing; OFF, after which Redis still knows what was
// read; BCAST with changes, which Redis gathers into one message a turn of its
// loop; NOLOOP and REDIRECT, which Redfence refuses; and scripts that don't read
// their keys: to Redfence all of a script's keys are read.
var cacheGenerators = map[string]generator{
	"client|tracking": func(d *draw) []string {
		return d.of2([]string{"on"}, []string{"ON"}, []string{"on", "optin"}, []string{"on", "optout"},
			[]string{"on", "optin", "optout"}, []string{"on", "prefix", "a"}, []string{"on", "prefix"}, []string{"maybe"}, []string{"on", "x"})
	},
	"client|trackinginfo": none, "client|getredir": none,
	"client|caching": func(d *draw) []string { return []string{d.word(d.of([]string{"yes", "no", "x"}))} },
	"get":            oneKey, "mget": manyKeys, "exists": manyKeys, "strlen": oneKey, "ping": none,
	"set": keyAndValue, "setnx": keyAndValue, "append": keyAndValue, "del": manyKeys, "incr": oneKey, "getdel": oneKey,
	"persist": oneKey,
	"eval": func(d *draw) []string {
		return []string{"return redis.call('get',KEYS[1])", "1", d.key()}
	},
}

// caches compares what connections that track are told, and its place among the
// replies, whether they send one command after the other or all at once.
func (c *tally) caches(t *testing.T, seed uint64, redis, redfence *conn) {
	for n := range cacheCount {
		d := newDraw(seed, -50_001-n)
		commands := [][]string{{"reset"}, {"flushall"}, {"hello", "3"}, {"client", "tracking", "on"}}
		for range 4 + d.IntN(12) {
			if d.chance(10) {
				// Redfence remembers what a MULTI reads before all that it writes.
				word := d.of([]string{"mget", "del"})
				commands = append(commands, []string{"multi"}, append([]string{word}, manyKeys(d)...), append([]string{word}, manyKeys(d)...), []string{"exec"})
				continue
			}
			commands = append(commands, d.drawFrom(cacheGenerators))
		}
		commands = append(commands, []string{"discard"}, []string{"client", "tracking", "off"}, []string{"echo", "the end"})
		atOnce := d.chance(50)
		var all [2][]string
		for i, conn := range []*conn{redis, redfence} {
			all[i] = conn.told(t, commands, atOnce)
		}
		for _, args := range commands {
			c.count(args)
		}
		if !slices.Equal(all[0], all[1]) {
			c.failed++
			t.Errorf("cache %d, at once %v: %s\nredis:    %.1500q\nredfence: %.1500q", n, atOnce, shown(commands), all[0], all[1])
		}
	}
}

// told runs commands and lists all that comes back but for HELLO's map.
func (c *conn) told(t *testing.T, commands [][]string, atOnce bool) (all []string) {
	t.Helper()
	end := func(a answer) bool { return a.text == "the end" }
	keep := func(answers []answer, err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%v\n%s", err, shown(commands))
		}
		for _, a := range answers {
			if !strings.Contains(a.raw, "$6\r\nserver\r\n") {
				all = append(all, a.raw)
			}
		}
	}
	if atOnce {
		if err := c.send(commands...); err != nil {
			t.Fatal(err)
		}
		keep(c.until(end))
		return all
	}
	for _, args := range commands {
		if err := c.send(args); err != nil {
			t.Fatal(err)
		}
		// Messages have no reply's place: each command's own reply ends its turn.
		keep(c.until(func(a answer) bool { return a.kind != '>' }))
	}
	return all
}
