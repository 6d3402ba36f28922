package process_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/redfence/redfence/tests/internal/process"
)

// queuedReads are connections to one node through which reads are sent while it
// is stopped, so that they lie in its sockets when it goes on.
type queuedReads struct {
	t     *testing.T
	conns []net.Conn
	key   string
}

func queueReads(t *testing.T, n *process.Node, key string, conns int) *queuedReads {
	t.Helper()
	q := &queuedReads{t: t, key: key}
	for range conns {
		conn, err := net.Dial("tcp", n.Client)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		// The node has accepted the connection once it has answered on it.
		if _, err := fmt.Fprint(conn, "PING\r\n"); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(conn, make([]byte, len("+PONG\r\n"))); err != nil {
			t.Fatal(err)
		}
		q.conns = append(q.conns, conn)
	}
	return q
}

// send sends a GET on each connection, one of them in a script.
func (q *queuedReads) send() {
	q.t.Helper()
	for i, conn := range q.conns {
		var err error
		if i%5 == 0 {
			script := "return redis.call('get',KEYS[1])"
			_, err = fmt.Fprintf(conn, "*4\r\n$4\r\nEVAL\r\n$%d\r\n%s\r\n$1\r\n1\r\n$%d\r\n%s\r\n", len(script), script, len(q.key), q.key)
		} else {
			_, err = fmt.Fprintf(conn, "GET %s\r\n", q.key)
		}
		if err != nil {
			q.t.Fatal(err)
		}
	}
}

// check reads all answers: the new value or an error, never what was before.
func (q *queuedReads) check(t *testing.T, want string) {
	t.Helper()
	for _, conn := range q.conns {
		if err := conn.SetReadDeadline(time.Now().Add(process.Wait)); err != nil {
			t.Fatal(err)
		}
		r := bufio.NewReader(conn)
		line, err := r.ReadString('\n')
		switch {
		case err != nil:
			t.Errorf("a read that lay in the stopped node's socket: %v", err)
		case strings.HasPrefix(line, "-"):
		case strings.HasPrefix(line, "$"):
			if value, _ := r.ReadString('\n'); strings.TrimSpace(value) != want {
				t.Errorf("a stale answer: %q, want %q", value, want)
			}
		default:
			t.Errorf("a read was answered %q", line)
		}
		conn.Close()
	}
}
