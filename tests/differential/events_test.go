package differential

import (
	"slices"
	"testing"

	"github.com/redfence/redfence/fsm"
)

const eventSequences = 400

// TestSameEvents compares the keyspace events of the same commands, in order.
func TestSameEvents(t *testing.T) {
	at, _ := startRedfence(t)
	redis, redfence := newAudience(t, startRedis(t)), newAudience(t, at)
	seed := seedOf(t)
	// FLUSHALL and FLUSHDB have no events in either; RANDOMKEY and what the edge
	// answers have none.
	from := slices.DeleteFunc(rows(), func(s *fsm.Spec) bool { return s.Where != fsm.Machine })
	for _, a := range []audience{redis, redfence} {
		if _, err := a.publisher.pipeline([][]string{{"config", "set", "notify-keyspace-events", "KEAn"}}); err != nil {
			t.Fatal(err)
		}
		if err := a.subscriber.send([]string{"hello", "3"}, []string{"psubscribe", "__key*__:*"}, []string{"ping", "ready"}); err != nil {
			t.Fatal(err)
		}
		if _, err := a.subscriber.until(saying("ready")); err != nil {
			t.Fatal(err)
		}
	}
	failed, total := 0, 0
	for n := range eventSequences {
		commands := newDraw(seed, -30_001-n).sequence(from)[2:] // without RESET and HELLO
		want := redis.events(t, commands, 0)
		got := redfence.events(t, commands, len(want))
		total += len(want)
		if slices.Equal(want, got) {
			continue
		}
		at := 0
		for at < min(len(want), len(got)) && want[at] == got[at] {
			at++
		}
		t.Errorf("sequence %d: %s\nevent %d of %d and %d:\nredis:    %q\nredfence: %q", n, shown(commands), at, len(want), len(got),
			want[at:min(at+3, len(want))], got[at:min(at+3, len(got))])
		if failed++; failed > 5 {
			t.FailNow()
		}
	}
	t.Logf("%d events were the same", total)
}

// events runs commands on one connection and lists what the subscriber hears, at
// least as much as is expected.
func (a audience) events(t *testing.T, commands [][]string, expected int) []string {
	t.Helper()
	if _, err := a.publisher.pipeline(commands); err != nil {
		t.Fatalf("%v\n%s", err, shown(commands))
	}
	if err := a.subscriber.send([]string{"ping", "so far"}); err != nil {
		t.Fatal(err)
	}
	var heard []string
	soFar, done := saying("so far"), false
	_, err := a.subscriber.until(func(x answer) bool {
		if isMessage(&x) {
			heard = append(heard, x.raw)
		}
		done = done || soFar(x)
		return done && len(heard) >= expected
	})
	if err != nil {
		t.Errorf("of %d events %d came: %v", expected, len(heard), err)
	}
	return heard
}
