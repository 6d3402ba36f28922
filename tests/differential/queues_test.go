package differential

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// How many scenes of commands that wait are compared, and how many connections
// wait in them.
const (
	queueScenes  = 150
	queueWaiters = 4
)

// queueBench is one server with connections that wait and one that doesn't.
type queueBench struct {
	main    *conn
	waiters [queueWaiters]*conn
	ids     [queueWaiters]string
	blocked [queueWaiters]bool
}

func newQueueBench(t *testing.T, at address) *queueBench {
	b := &queueBench{main: at.dial(t)}
	for i := range b.waiters {
		b.waiters[i] = at.dial(t)
		a, err := b.waiters[i].pipeline([][]string{{"client", "id"}})
		if err != nil {
			t.Fatal(err)
		}
		b.ids[i] = a[0].text
	}
	return b
}

// do runs commands on the connection that doesn't wait.
func (b *queueBench) do(t *testing.T, commands ...[]string) (all []string) {
	t.Helper()
	answers, err := b.main.pipeline(commands)
	if err != nil {
		t.Fatal(err)
	}
	for i := range answers {
		all = append(all, answers[i].raw)
	}
	return all
}

// nowBlocked asks which of the connections wait.
func (b *queueBench) nowBlocked(t *testing.T) (now [queueWaiters]bool) {
	t.Helper()
	for line := range strings.Lines(b.do(t, []string{"client", "list"})[0]) {
		_, flags, _ := strings.Cut(line, " flags=")
		flags, _, _ = strings.Cut(flags, " ") // b, and U of a unix socket
		for i, id := range b.ids {
			if strings.HasPrefix(line, "id="+id+" ") && strings.Contains(flags, "b") {
				now[i] = true
			}
		}
	}
	return now
}

// ask sends a blocking command and waits until it waits or is answered, which it tells.
func (b *queueBench) ask(t *testing.T, who int, args []string) string {
	t.Helper()
	c := b.waiters[who]
	if err := c.send(args); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(replyMax); ; {
		c.c.SetReadDeadline(time.Now().Add(5 * time.Millisecond))
		if _, err := c.r.Peek(1); err == nil {
			return b.read(t, who)
		} else if !errors.Is(err, os.ErrDeadlineExceeded) || time.Now().After(deadline) {
			t.Fatal(err)
		}
		if b.nowBlocked(t)[who] {
			b.blocked[who] = true
			return "waits"
		}
	}
}

func (b *queueBench) read(t *testing.T, who int) string {
	t.Helper()
	b.waiters[who].c.SetReadDeadline(time.Now().Add(replyMax))
	a, err := readAnswer(b.waiters[who].r)
	if err != nil {
		t.Fatal(err)
	}
	return a.raw
}

// served reads the answers of those who don't wait any more. A connection of
// Redfence is woken beside what it is served by, so it is given a moment to be as
// many as expected.
func (b *queueBench) served(t *testing.T, expected int) (all []string) {
	t.Helper()
	now := b.nowBlocked(t)
	gone := func() (n int) {
		for i := range now {
			if b.blocked[i] && !now[i] {
				n++
			}
		}
		return n
	}
	for deadline := time.Now().Add(replyMax); gone() < expected && time.Now().Before(deadline); {
		now = b.nowBlocked(t)
	}
	for i := range now {
		if b.blocked[i] && !now[i] {
			b.blocked[i] = false
			all = append(all, fmt.Sprint(i, ": ", b.read(t, i)))
		}
	}
	return all
}

// queueKeys are few, so that those who wait get into each other's way.
var queueKeys = []string{"a", "b", "c"}

// drawWait draws a command that waits without an end.
func (d *draw) drawWait() []string {
	ends := []string{"left", "right"}
	switch d.IntN(6) {
	case 0:
		return []string{"blmove", d.key(), d.key(), d.of(ends), d.of(ends), "0"}
	case 1:
		return []string{"brpoplpush", d.key(), d.key(), "0"}
	case 2:
		return []string{"blmpop", "0", "2", d.key(), d.key(), d.of(ends), "count", "2"}
	case 3:
		return []string{"bzmpop", "0", "2", d.key(), d.key(), d.of([]string{"min", "max"}), "count", "2"}
	case 4:
		return append(append([]string{d.of([]string{"bzpopmin", "bzpopmax"})}, d.keysUpTo(3)...), "0")
	}
	return append(append([]string{d.of([]string{"blpop", "brpop"})}, d.keysUpTo(3)...), "0")
}

// drawBring draws a command that may bring something to those who wait.
func (d *draw) drawBring() []string {
	switch d.IntN(12) {
	case 0:
		return []string{"zadd", d.key(), "1", "m", "2", "n"}
	case 1:
		return []string{"zincrby", d.key(), "2", "m"}
	case 2:
		return []string{"rename", d.key(), d.key()}
	case 3:
		return []string{"copy", d.key(), d.key(), "replace"}
	case 4:
		return []string{"lmove", d.key(), d.key(), "left", "right"}
	case 5:
		return []string{"del", d.key(), d.key()}
	case 6:
		return []string{"set", d.key(), "v"}
	case 7:
		return []string{"eval", "redis.call('rpush', KEYS[1], 1, 2) redis.call('zadd', KEYS[2], 1, 'm') return redis.call('lpush', KEYS[3], 3)", "3", d.key(), d.key(), d.key()}
	case 8:
		return []string{"lpush", d.key(), "x", "y", "z"}
	case 9:
		return []string{"blmpop", "0.001", "1", d.key(), "left"}
	}
	return []string{"rpush", d.key(), "1"}
}

// TestSameQueues compares who of several connections that wait is served with
// what: each command is answered, and all that it serves, before the next is sent.
func TestSameQueues(t *testing.T) {
	at, _ := startRedfence(t)
	benches := [2]*queueBench{newQueueBench(t, startRedis(t)), newQueueBench(t, at)}
	seed := seedOf(t)
	waited, served := 0, 0
	for n := range queueScenes {
		d := newDraw(seed, -50_001-n)
		d.keys = queueKeys
		var told strings.Builder
		same := func(what string, got [2][]string) {
			t.Helper()
			fmt.Fprintf(&told, "\n  %s", what)
			if !slices.Equal(got[0], got[1]) {
				t.Fatalf("scene %d: %s\nredis:    %q\nredfence: %q", n, told.String(), got[0], got[1])
			}
		}
		proto := strconv.Itoa(2 + d.IntN(2))
		for _, b := range benches {
			b.do(t, []string{"flushall"})
			for _, c := range b.waiters {
				if _, err := c.pipeline([][]string{{"hello", proto}}); err != nil {
					t.Fatal(err)
				}
			}
		}
		for range 25 {
			var got [2][]string
			who := d.IntN(queueWaiters + 3)
			if who < queueWaiters && !benches[0].blocked[who] {
				args := d.drawWait()
				for i, b := range benches {
					got[i] = []string{b.ask(t, who, args)}
				}
				if got[0][0] == "waits" {
					waited++
				}
				same(fmt.Sprint(who, ": ", args), got)
			} else {
				commands := [][]string{d.drawBring()}
				if d.chance(30) {
					commands = [][]string{{"multi"}, d.drawBring(), d.drawBring(), d.drawWait(), d.drawBring(), {"exec"}}
				}
				for i, b := range benches {
					got[i] = b.do(t, commands...)
				}
				same(shown(commands), got)
			}
			got = [2][]string{}
			for i, b := range benches {
				got[i] = b.served(t, len(got[0])*i)
			}
			served += len(got[0])
			same("served", got)
		}
		for who := range queueWaiters {
			var got [2][]string
			for i, b := range benches {
				got[i] = b.do(t, []string{"client", "unblock", b.ids[who], []string{"timeout", "error"}[n%2]})
				got[i] = append(got[i], b.served(t, (len(got[0])-1)*i)...)
			}
			same(fmt.Sprint("unblock ", who), got)
		}
	}
	t.Logf("%d commands waited, %d were served", waited, served)
	if served < queueScenes {
		t.Error("too few were served to show anything")
	}
}
