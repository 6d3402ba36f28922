package server

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// The newest come first, as many as the setting says, and their numbers go on.
func TestSlowLogKeepsTheNewest(t *testing.T) {
	ts := serveFake(t, Config{})
	p := dial(t, ts.addr)
	p.want("CONFIG SET slowlog-log-slower-than 0", "+OK\r\n")
	for i := range 3 * SlowLogMax {
		p.want(fmt.Sprintf("ECHO %d", i), fmt.Sprintf("$%d\r\n%d\r\n", len(fmt.Sprint(i)), i))
	}
	p.want("SLOWLOG LEN", fmt.Sprintf(":%d\r\n", SlowLogMax))
	// The LEN before it is the newest.
	got := p.do("SLOWLOG GET 3")
	for i, want := range []string{"$7\r\nSLOWLOG\r\n$3\r\nLEN\r\n", "ECHO\r\n$3\r\n383\r\n", "ECHO\r\n$3\r\n382\r\n"} {
		before, rest, found := strings.Cut(strings.ToUpper(got), want)
		if !found || !strings.Contains(before, fmt.Sprintf(":%d\r\n", 385-i)) {
			t.Fatalf("no %q with the number %d in %q", want, 385-i, got)
		}
		got = rest
	}
	p.want("CONFIG SET slowlog-max-len 2", "+OK\r\n")
	p.want("ECHO x", "$1\r\nx\r\n")
	p.want("SLOWLOG LEN", ":2\r\n")
	p.want("SLOWLOG RESET", "+OK\r\n")
	p.want("SLOWLOG LEN", ":1\r\n")
}

// Under load each run may be slow: noting one must cost little.
func TestSlowLogIsCheap(t *testing.T) {
	ts := serveFake(t, Config{})
	c := &session{server: ts.Server, addr: "127.0.0.1:1", shown: shown{name: "worker"}}
	args := []string{"SET", "lock", "owner", "NX", "PX", "30000"}
	for range SlowLogMax {
		c.server.slow.note(c, args, time.Second)
	}
	if n := testing.AllocsPerRun(1000, func() { c.server.slow.note(c, args, time.Second) }); n > float64(len(args)) {
		t.Errorf("%v allocations for an entry, want one for each argument at most", n)
	}
}
