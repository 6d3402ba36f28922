package server

import (
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redfence/redfence/fsm"
	"github.com/redfence/redfence/server/replica"
)

// WAIT counts the nodes beside the leader that have what is committed. A node
// that is dead is waited for as long as asked, and no longer.
func TestWaitCountsCopies(t *testing.T) {
	member := func(voter, leader bool, lag int64) replica.MemberStatus {
		return replica.MemberStatus{Voter: voter, Leader: leader, Lag: lag}
	}
	leads := replica.Status{Role: replica.RoleLeader, LastIndex: 100, CommitIndex: 98}
	follows := replica.Status{Role: replica.RoleFollower, LastIndex: 100, CommitIndex: 98}
	for _, tt := range []struct {
		what    string
		status  replica.Status
		members []replica.MemberStatus
		want    int
	}{
		{"one node", leads, []replica.MemberStatus{member(true, true, 0)}, 0},
		{"three nodes in step", leads, []replica.MemberStatus{member(true, true, 0), member(true, false, 0), member(true, false, 2)}, 2},
		{"one is dead", leads, []replica.MemberStatus{member(true, true, 0), member(true, false, 0), member(true, false, 3)}, 1},
		{"one never answered", leads, []replica.MemberStatus{member(true, true, 0), member(true, false, 0), member(true, false, -1)}, 1},
		{"a node that doesn't vote", leads, []replica.MemberStatus{member(true, true, 0), member(false, false, 1)}, 1},
		{"a new leader that has heard nobody", leads, []replica.MemberStatus{member(true, true, 0), member(true, false, -1), member(true, false, -1)}, 1},
		{"asked of a follower", follows, []replica.MemberStatus{member(true, true, -1), member(true, false, 0), member(true, false, -1)}, 1},
		{"five nodes", follows, []replica.MemberStatus{
			member(true, true, -1), member(true, false, 0), member(true, false, -1), member(true, false, -1), member(true, false, -1)}, 2},
	} {
		tt.status.Members = tt.members
		if got := copies(&tt.status, tt.status.CommitIndex); got != tt.want {
			t.Errorf("%s: %d copies, want %d", tt.what, got, tt.want)
		}
	}
}

func TestWaitEndsByItsTimeout(t *testing.T) {
	ts := serveFake(t, Config{})
	ts.fake.status = replica.Status{Role: replica.RoleLeader, LastIndex: 7, CommitIndex: 7, Members: []replica.MemberStatus{
		{Node: "n1", Voter: true, Leader: true}, {Node: "n2", Voter: true}, {Node: "n3", Voter: true, Lag: -1},
	}}
	p := dial(t, ts.addr)
	for _, tt := range []struct{ command, want string }{
		{"WAIT 0 0", ":1"}, {"WAIT 1 0", ":1"}, {"WAIT -1 0", ":1"}, {"WAIT 2 30", ":1"}, {"WAITAOF 1 1 0", "*2\r\n:1\r\n:1"},
		{"WAITAOF 1 2 30", "*2\r\n:1\r\n:1"},
		{"WAIT x 0", "-ERR value is not an integer or out of range"}, {"WAIT 1 x", "-ERR timeout is not an integer or out of range"},
		{"WAIT 1 -1", "-ERR timeout is negative"}, {"WAITAOF 2 0 0", "-ERR value is out of range, must be between 0 and 1"},
		{"WAITAOF 0 -1 0", "-ERR value is out of range, must be positive"},
	} {
		start := time.Now()
		if got := strings.TrimSuffix(p.do(tt.command), "\r\n"); got != tt.want {
			t.Errorf("%s answered %q, want %q", tt.command, got, tt.want)
		}
		if took := time.Since(start); (tt.command == "WAIT 2 30") != (took >= 30*time.Millisecond) && tt.command != "WAITAOF 1 2 30" {
			t.Errorf("%s took %v", tt.command, took)
		}
	}
	// In a transaction nothing waits, and a connection that is killed doesn't either.
	p.do("MULTI")
	p.do("WAIT 2 0")
	p.want("EXEC", "*1\r\n:1\r\n")
	id := strings.Trim(p.do("CLIENT ID"), ":\r\n")
	p.write("WAIT 2 0\r\n")
	dial(t, ts.addr).want("CLIENT KILL ID "+id, ":1\r\n")
	eventually(t, func() bool { return len(ts.everySession()) <= 1 })
}

// A run above the threshold is remembered, at most one sample a second and event.
func TestLatencyEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l latencyMonitor
		write := []fsm.Command{{Args: []string{"set", "k", "v"}}}
		read := []fsm.Command{{Args: []string{"get", "k"}}}
		l.note(0, write, time.Hour, time.Now())
		l.note(100, write, 99*time.Millisecond, time.Now())
		if e := l.of(eventWrite); len(e.samples) != 0 {
			t.Fatalf("noted %v", e)
		}
		for i := range LatencySamplesMax + 10 {
			l.note(100, write, time.Duration(100+i)*time.Millisecond, time.Now())
			l.note(100, write, 100*time.Millisecond, time.Now())
			time.Sleep(time.Second)
		}
		l.note(100, read, time.Second, time.Now())
		e := l.of(eventWrite)
		if n := len(e.samples); n != LatencySamplesMax || e.samples[n-1].millis != e.longest || e.longest != 100+LatencySamplesMax+9 {
			t.Errorf("%d samples, the longest %d", len(e.samples), e.longest)
		}
		if n := l.reset([]string{eventRead, "nosuch"}); n != 1 || len(l.of(eventRead).samples) != 0 {
			t.Errorf("forgot %d events", n)
		}
		if n := l.reset(nil); n != 1 {
			t.Errorf("forgot %d events", n)
		}
	})
}

// LATENCY HISTOGRAM counts every command that was executed.
func TestLatencyHistogram(t *testing.T) {
	ts := serveFake(t, Config{})
	p := dial(t, ts.addr)
	for i := range 5 {
		p.do("SET k " + strconv.Itoa(i))
	}
	if got := p.do("LATENCY HISTOGRAM set nosuch"); !strings.HasPrefix(got, "*2\r\n$3\r\nset\r\n*4\r\n$5\r\ncalls\r\n:5\r\n") {
		t.Errorf("answered %q", got)
	}
	p.do("CONFIG RESETSTAT")
	p.want("LATENCY HISTOGRAM set", "*0\r\n")
}
