package server

import (
	"bytes"
	"fmt"
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
			{Node: "n1", Client: "a:6", Seats: []string{"a:1", "a:2"}}, {Node: "n2", Client: "b:6", Seats: []string{"b:1", "b:2"}},
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
		ask("n1")
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

// A hint of a cluster's first moments, when not every node has told its addresses,
// is followed by a whole one within the minute, and by no other partial one.
func TestHintWithoutAnAddress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		f := newFake(t)
		s := &Server{backend: f, log: slog.New(slog.NewTextHandler(&log, nil))}
		members := []replica.MemberStatus{{Node: "n1", Client: "a:6", Seats: []string{"a:1", "a:2"}}, {Node: "n2"}}
		ask := func() {
			f.status = replica.Status{Node: "n1", Members: members}
			s.quorumAsked(&fsm.Event{Kind: fsm.QuorumAsked, Name: "worker", Key: "k", Payload: "n1"})
		}
		for range 4 {
			ask()
		}
		members[1] = replica.MemberStatus{Node: "n2", Client: "b:6", Seats: []string{"b:1", "b:2"}}
		for range 4 {
			ask()
		}
		lines := strings.Split(strings.TrimSpace(log.String()), "\n")
		if len(lines) != 2 || strings.Contains(lines[0], "b:2") || !strings.Contains(lines[1], "a:1, b:2") {
			t.Errorf("the log says %q", lines)
		}
	})
}

// A client that lost its reply and asks another node once is no such client, nor
// are many of one name after a failover.
func TestNoHintForARetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		f := newFake(t)
		f.status = replica.Status{Node: "n2"}
		s := &Server{backend: f, log: slog.New(slog.NewTextHandler(&log, nil))}
		for i := range 3 * HintLocksMax {
			s.quorumAsked(&fsm.Event{Kind: fsm.QuorumAsked, Name: "worker", Key: fmt.Sprint(i), Payload: "n2"})
		}
		time.Sleep(HintEvery)
		s.quorumAsked(&fsm.Event{Kind: fsm.QuorumAsked, Name: "worker", Key: "1", Payload: "n2"})
		if log.Len() > 0 || len(s.misdirected.all()) > 0 {
			t.Errorf("told %q, counted %v", &log, s.misdirected.all())
		}
	})
}
