package bench_test

import (
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redfence/redfence/tests/internal/process"
)

// idle is what three nodes take that nobody asks for anything.
type idle struct {
	Entries     float64   `json:"log_entries"`        // applied in idleLength, while no lease runs
	Processor   []float64 `json:"processor_percents"` // of a core, by node, the leader first
	Connections int       `json:"connections"`        // idle ones at the leader
	Resident    int64     `json:"resident_bytes"`     // of the leader with those
	Before      int64     `json:"resident_bytes_before"`
}

// measureIdle lets three nodes be, and then opens connections that say nothing.
func measureIdle(t *testing.T, r *report) {
	c := process.Start(t, 3)
	leader := c.Leader()
	nodes := append([]*process.Node{leader}, c.Others(leader)...)
	<-time.After(idleSettle)
	entries, used := applied(t, leader), make([]float64, len(nodes))
	for i, n := range nodes {
		used[i] = processorSeconds(t, n)
	}
	<-time.After(idleLength)
	for i, n := range nodes {
		r.Idle.Processor = append(r.Idle.Processor, 100*(processorSeconds(t, n)-used[i])/idleLength.Seconds())
	}
	r.Idle.Entries = applied(t, leader) - entries
	r.Idle.Before = leader.Resident()
	for range idleConnections {
		conn, err := net.Dial("tcp", leader.Client)
		if err != nil {
			t.Errorf("idle: %v", err)
			return
		}
		defer conn.Close()
		conn.SetDeadline(time.Now().Add(ioWait))
		if _, err := conn.Write([]byte("PING\r\n")); err != nil {
			t.Errorf("idle: %v", err)
			return
		}
		if _, err := conn.Read(make([]byte, 7)); err != nil {
			t.Errorf("idle: %v", err)
			return
		}
	}
	r.Idle.Connections, r.Idle.Resident = idleConnections, leader.Resident()
}

// applied is the log's last entry that a node has applied.
func applied(t *testing.T, n *process.Node) float64 {
	t.Helper()
	f, err := strconv.ParseFloat(n.Info("applied_index"), 64)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// processorSeconds is what a process has used of all cores, in user and in system mode.
func processorSeconds(t *testing.T, n *process.Node) float64 {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", n.PID()))
	if err != nil {
		t.Fatal(err)
	}
	fields := strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:]))
	user, _ := strconv.ParseFloat(fields[11], 64)
	system, _ := strconv.ParseFloat(fields[12], 64)
	return (user + system) / 100
}

func (r *report) idled(b *strings.Builder) {
	x := &r.Idle
	if len(x.Processor) == 0 {
		return
	}
	fmt.Fprintf(b, "\n## Idle\n\nThree nodes that nobody asks for anything: %.0f entries of the log in %v (target 0), %.2f %% of a core for the leader and %.2f %% for the busier follower (under 1 %%).\n",
		x.Entries, idleLength, x.Processor[0], max(x.Processor[1], x.Processor[2]))
	fmt.Fprintf(b, "%d idle connections: the node has %d MB resident, %d MB before them (target under 200 MB).\n", x.Connections, x.Resident>>20, x.Before>>20)
}
