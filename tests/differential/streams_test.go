package differential

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// How many of each kind there are beside the sequences.
const (
	streamCount  = 150
	silenceCount = 120
	endingCount  = 40
)

// streamGenerators are for the rows of pub/sub, whose commands get more replies
// than one.
var streamGenerators = map[string]generator{
	"subscribe": manyKeys, "ssubscribe": manyKeys,
	"psubscribe": func(d *draw) []string {
		return []string{d.of(patternPool), d.of(patternPool)}[:1+d.IntN(2)]
	},
	"unsubscribe":  func(d *draw) []string { return d.someOf(d.key(), d.key()) },
	"sunsubscribe": func(d *draw) []string { return d.someOf(d.key(), d.key()) },
	"punsubscribe": func(d *draw) []string { return d.someOf(d.of(patternPool)) },
	"ping":         func(d *draw) []string { return d.someOf(d.value()) },
	"get":          oneKey, "echo": oneKey, "pubsub|numpat": none, "pubsub|numsub": manyKeys,
}

// drawFrom draws a command of one of the generators' rows.
func (d *draw) drawFrom(from map[string]generator) []string {
	names := make([]string, 0, len(from))
	for name := range from {
		names = append(names, name)
	}
	slices.Sort(names)
	name := d.of(names)
	return append(strings.Split(d.word(name), "|"), from[name](d)...)
}

// streams compares what subscribers are told.
func (c *tally) streams(t *testing.T, seed uint64, redis, redfence address) {
	a, b := newAudience(t, redis), newAudience(t, redfence)
	for n := range streamCount {
		d := newDraw(seed, -1-n)
		proto := strconv.Itoa(2 + d.IntN(2))
		commands := [][]string{{"reset"}, {"hello", proto, "setname", "x"}}
		for range 2 + d.IntN(8) {
			commands = append(commands, d.drawFrom(streamGenerators))
		}
		var messages [][]string
		for range d.IntN(6) {
			messages = append(messages, []string{d.of([]string{"publish", "publish", "spublish"}), d.key(), d.value()})
		}
		want, heard := a.hear(t, commands, messages, 0)
		got, _ := b.hear(t, commands, messages, heard)
		for _, args := range slices.Concat(commands, messages) {
			c.count(args)
		}
		sortRuns(want)
		sortRuns(got)
		if !slices.Equal(want, got) {
			c.failed++
			t.Errorf("stream %d of RESP%s: %s\nthen from another connection: %s\nredis:    %.900q\nredfence: %.900q",
				n, proto, shown(commands), shown(messages), want, got)
		}
	}
}

// audience is a subscriber and somebody else who publishes.
type audience struct{ subscriber, publisher *conn }

func newAudience(t *testing.T, at address) audience { return audience{at.dial(t), at.dial(t)} }

// hear runs commands on the subscriber's connection and messages on the other's
// and lists the answers: first those of both connections in order, then what the
// subscriber was told, of which there must be as much as is expected.
func (a audience) hear(t *testing.T, commands, messages [][]string, expected int) (all []string, heard int) {
	t.Helper()
	fail := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%v\n%s\n%s", err, shown(commands), shown(messages))
		}
	}
	fail(a.subscriber.send(append(commands, []string{"ping", "first"})...))
	var told []string
	sort := func(answers []answer) {
		for i := range answers {
			x := &answers[i]
			switch {
			case isMessage(x):
				told = append(told, x.raw)
			case len(x.elems) == 3 && strings.HasSuffix(x.elems[0].text, "unsubscribe"):
				// The names apart from the counts: see sortRuns.
				told, all = append(told, leaves+x.elems[1].raw), append(all, leaves+x.elems[2].raw)
			case !strings.Contains(x.raw, "redis"): // HELLO
				all = append(all, x.raw)
			}
		}
	}
	answers, err := a.subscriber.until(saying("first"))
	fail(err)
	sort(answers)
	answers, err = a.publisher.pipeline(messages)
	fail(err)
	sort(answers)
	fail(a.subscriber.send([]string{"ping", "last"}))
	last := saying("last")
	answers, err = a.subscriber.until(func(x answer) bool {
		if isMessage(&x) {
			heard++
		}
		return last(x)
	})
	fail(err)
	sort(answers)
	for heard < expected { // it may come after the reply to a later command
		x, err := readAnswer(a.subscriber.r)
		fail(err)
		sort([]answer{x})
		heard++
	}
	return append(all, told...), heard
}

// leaves marks what the reply to an UNSUBSCRIBE said.
const leaves = "leaves "

// sortRuns sorts what Redis gives in the order of a hash table: the names of an
// UNSUBSCRIBE from all, and what several patterns had for one message.
func sortRuns(all []string) {
	end := func(s string) string {
		if strings.HasPrefix(s, leaves) {
			return leaves
		}
		_, channelAndText, _ := strings.Cut(s, "pmessage") // after the pattern
		for range 2 {
			_, channelAndText, _ = strings.Cut(channelAndText, "\n")
		}
		_, channelAndText, _ = strings.Cut(channelAndText, "\n")
		return channelAndText
	}
	for i := 0; i < len(all); {
		j := i + 1
		for j < len(all) && end(all[i]) != "" && end(all[j]) == end(all[i]) {
			j++
		}
		slices.Sort(all[i:j])
		i = j
	}
}

func isMessage(a *answer) bool {
	return len(a.elems) > 2 && slices.Contains([]string{"message", "pmessage", "smessage"}, a.elems[0].text)
}

// saying stops at the answer to PING with a text, in both of its forms.
func saying(text string) func(answer) bool {
	return func(a answer) bool {
		return a.text == text || a.kind == '*' && len(a.elems) == 2 && a.elems[1].text == text
	}
}

// silences compares connections that ask for fewer replies.
func (c *tally) silences(t *testing.T, seed uint64, redis, redfence *conn) {
	from := map[string]generator{
		"client|reply": func(d *draw) []string { return []string{d.word(d.of([]string{"on", "off", "skip", "skip", "x"}))} },
		"get":          oneKey, "set": keyAndValue, "echo": oneKey, "ping": none,
		"subscribe": oneKey, "psubscribe": oneKey, "unsubscribe": oneKey, "punsubscribe": oneKey,
	}
	for n := range silenceCount {
		d := newDraw(seed, -10_001-n)
		// With RESP3: what RESP2 allows while it listens could not end the dialogue.
		commands := [][]string{{"reset"}, {"flushall"}, {"hello", "3"}}
		for range 3 + d.IntN(10) {
			commands = append(commands, d.drawFrom(from))
		}
		commands = append(commands, []string{"discard"}, []string{"client", "reply", "on"}, []string{"echo", "the end"})
		var all [2][]string
		for i, conn := range []*conn{redis, redfence} {
			if err := conn.send(commands...); err != nil {
				t.Fatal(err)
			}
			answers, err := conn.until(func(a answer) bool { return a.text == "the end" })
			if err != nil {
				t.Fatalf("%v\n%s", err, shown(commands))
			}
			for _, a := range answers {
				if a.kind != '%' { // HELLO
					all[i] = append(all[i], a.raw)
				}
			}
		}
		for _, args := range commands {
			c.count(args)
		}
		if !slices.Equal(all[0], all[1]) {
			c.failed++
			t.Errorf("silence %d: %s\nredis:    %.900q\nredfence: %.900q", n, shown(commands), all[0], all[1])
		}
	}
}

// endings compares connections that end themselves.
func (c *tally) endings(t *testing.T, seed uint64, redis, redfence address) {
	for n := range endingCount {
		d := newDraw(seed, -20_001-n)
		commands := [][]string{{"set", d.key(), "v"}}
		if d.chance(30) {
			commands = append(commands, []string{"multi"})
		}
		commands = append(commands, append([]string{d.word("quit")}, d.someOf("x")...), []string{"set", d.key(), "w"})
		var all [2]string
		for i, at := range []address{redis, redfence} {
			conn := at.dial(t)
			if err := conn.send(commands...); err != nil {
				t.Fatal(err)
			}
			b, err := io.ReadAll(conn.r)
			all[i] = string(b)
			if err != nil {
				all[i] += fmt.Sprint(err)
			}
		}
		for _, args := range commands[:len(commands)-1] {
			c.count(args)
		}
		if all[0] != all[1] {
			c.failed++
			t.Errorf("ending %d: %s\nredis:    %q\nredfence: %q", n, shown(commands), all[0], all[1])
		}
	}
}
