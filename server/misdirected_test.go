package server

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redfence/redfence/fsm"
	"github.com/redfence/redfence/server/replica"
)

// A client that takes the nodes for masters is told of the seats once a minute,
// by the node that it asked in vain, and counted each time.
func TestHintOnceAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		f := newFake(t)
		f.status = replica.Status{Node: "n2", Members: []replica.MemberStatus{
			{Node: "n1", Seats: []string{"a:1", "a:2"}}, {Node: "n2", Seats: []string{"b:1", "b:2"}},
		}}
		s := &Server{backend: f, log: slog.New(slog.NewTextHandler(&log, nil))}
		ask := func(node string) {
			s.quorumAsked(&fsm.Event{Kind: fsm.QuorumAsked, Name: "worker 192.0.2.1", Key: "k", Payload: node})
		}
		ask("n1")
		if log.Len() > 0 {
			t.Errorf("n2 told what n1 was asked: %s", &log)
		}
		for range 5 {
			ask("n2")
		}
		time.Sleep(HintEvery)
		ask("n2")
		lines := strings.Split(strings.TrimSpace(log.String()), "\n")
		if len(lines) != 2 || !strings.Contains(lines[0], "a:1, b:2") || !strings.Contains(lines[1], "times=5") {
			t.Errorf("the log says %q", lines)
		}
		if n := s.misdirected.all()["worker 192.0.2.1"]; n != 6 {
			t.Errorf("%d were counted", n)
		}
	})
}
