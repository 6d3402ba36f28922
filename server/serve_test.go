package server

import (
	"bufio"
	"context"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/redfence/redfence/fsm"
)

// testServer serves a fake on a loopback port for one test.
type testServer struct {
	*Server
	fake *fake
	addr string
}

func serveFake(t testing.TB, cfg Config) *testServer {
	t.Helper()
	f := newFake(t)
	cfg.NodeID = "n1"
	if cfg.Version == "" {
		cfg.Version = "test"
	}
	s, err := New(f, cfg)
	if err != nil {
		t.Fatal(err)
	}
	f.server = s
	ts := &testServer{Server: s, fake: f}
	ts.addr = ts.listen(t, fsm.SharedSpace)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		if err := s.Shutdown(ctx); err != nil {
			t.Error("shutdown:", err)
		}
	})
	return ts
}

// listen serves a keyspace on another port.
func (ts *testServer) listen(t testing.TB, space uint8) string {
	t.Helper()
	ln, err := Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		if err := ts.Serve(ln, space); err != nil {
			t.Error("serve:", err)
		}
	}()
	return ln.Addr().String()
}

// peer is a raw connection: what a test sends and reads is bytes.
type peer struct {
	t  testing.TB
	c  net.Conn
	br *bufio.Reader
}

func dial(t testing.TB, addr string) *peer {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(20 * time.Second))
	return &peer{t, c, bufio.NewReader(c)}
}

func (p *peer) write(s string) {
	p.t.Helper()
	if _, err := io.WriteString(p.c, s); err != nil {
		p.t.Fatal("write:", err)
	}
}

// read reads one reply, with what is in it, as the bytes that came.
func (p *peer) read() string {
	p.t.Helper()
	s, err := readReply(p.br)
	if err != nil {
		p.t.Fatalf("read: %v after %q", err, s)
	}
	return s
}

// do sends an inline command and reads one reply.
func (p *peer) do(line string) string {
	p.t.Helper()
	p.write(line + "\r\n")
	return p.read()
}

// want fails unless a command answers these bytes.
func (p *peer) want(line, reply string) {
	p.t.Helper()
	if got := p.do(line); got != reply {
		p.t.Fatalf("%s: got %q, want %q", line, got, reply)
	}
}

// closed fails unless the server has closed the connection, and returns what it said before.
func (p *peer) closed() string {
	p.t.Helper()
	b, err := io.ReadAll(p.br)
	if err != nil && !strings.Contains(err.Error(), "reset") {
		p.t.Fatal("not closed:", err)
	}
	return string(b)
}

// readReply reads one RESP element of either protocol.
func readReply(br *bufio.Reader) (string, error) {
	line, err := br.ReadString('\n')
	if err != nil {
		return line, err
	}
	switch line[0] {
	case '$', '=':
		n, ok := parseLength([]byte(line[1 : len(line)-2]))
		if !ok || n < 0 {
			return line, nil
		}
		b := make([]byte, n+2)
		_, err := io.ReadFull(br, b)
		return line + string(b), err
	case '*', '%', '~', '>':
		n, _ := parseLength([]byte(line[1 : len(line)-2]))
		if line[0] == '%' {
			n *= 2
		}
		for range n {
			elem, err := readReply(br)
			line += elem
			if err != nil {
				return line, err
			}
		}
	}
	return line, nil
}

func TestFirstCommands(t *testing.T) {
	ts := serveFake(t, Config{})
	p := dial(t, ts.addr)
	p.want("PING", "+PONG\r\n")
	p.want("SET k v NX PX 30000", "+OK\r\n")
	p.want("SET k w NX PX 30000", "$-1\r\n")
	p.want("GET k", "$1\r\nv\r\n")
}
