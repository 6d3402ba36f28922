package script

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redfence/redfence/fsm/reply"
)

// realRedis is a redis-server of the test's own.
type realRedis struct {
	conn net.Conn
	r    *bufio.Reader
}

// startRedis starts a redis-server and connects to it. Where there is none the test
// is skipped, but not in CI.
func startRedis(t *testing.T) *realRedis {
	t.Helper()
	path, err := exec.LookPath("redis-server")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("CI needs redis-server on PATH")
		}
		t.Skip("no redis-server on PATH")
	}
	sock := t.TempDir() + "/redis.sock"
	cmd := exec.Command(path, "--port", "0", "--unixsocket", sock, "--save", "", "--dir", t.TempDir())
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	deadline := time.Now().Add(10 * time.Second)
	for {
		conn, err := net.Dial("unix", sock)
		if err == nil {
			r := &realRedis{conn: conn, r: bufio.NewReader(conn)}
			t.Cleanup(func() { conn.Close() })
			return r
		}
		if time.Now().After(deadline) {
			t.Fatalf("redis-server doesn't answer: %v", err)
		}
		<-time.After(10 * time.Millisecond)
	}
}

// do sends a command and answers the reply's bytes.
func (r *realRedis) do(t *testing.T, args ...string) string {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "*%d\r\n", len(args))
	for _, a := range args {
		fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(a), a)
	}
	if _, err := io.WriteString(r.conn, b.String()); err != nil {
		t.Fatal(err)
	}
	s, err := r.read()
	if err != nil {
		t.Fatalf("redis-server broke the connection at %q: %v", args, err)
	}
	return s
}

func (r *realRedis) read() (string, error) {
	line, err := r.r.ReadString('\n')
	if err != nil {
		return "", err
	}
	n, _ := strconv.Atoi(strings.TrimSpace(line[1:]))
	switch line[0] {
	case '$', '=':
		if n < 0 {
			return line, nil
		}
		buf := make([]byte, n+2)
		_, err := io.ReadFull(r.r, buf)
		return line + string(buf), err
	case '*', '~':
	case '%':
		n *= 2
	default:
		return line, nil
	}
	for i := 0; i < n; i++ {
		s, err := r.read()
		if err != nil {
			return "", err
		}
		line += s
	}
	return line, nil
}

// encode spells a Value in RESP2 or RESP3, as the server does.
func encode(v reply.Value, resp3 bool) string {
	bulk := func(s string) string { return fmt.Sprintf("$%d\r\n%s\r\n", len(s), s) }
	list := func(mark string, n int) string {
		s := mark + strconv.Itoa(n) + "\r\n"
		for _, e := range v.Elems {
			s += encode(e, resp3)
		}
		return s
	}
	switch v.Kind {
	case reply.Nil, reply.NilArray:
		if resp3 {
			return "_\r\n"
		}
		if v.Kind == reply.NilArray {
			return "*-1\r\n"
		}
		return "$-1\r\n"
	case reply.Status:
		return "+" + v.Str + "\r\n"
	case reply.Error:
		return "-" + v.Str + "\r\n"
	case reply.Int:
		return ":" + strconv.FormatInt(v.Int, 10) + "\r\n"
	case reply.Bulk:
		return bulk(v.Str)
	case reply.Array:
		return list("*", len(v.Elems))
	case reply.Map:
		if resp3 {
			return list("%", len(v.Elems)/2)
		}
		return list("*", len(v.Elems))
	case reply.Set:
		if resp3 {
			return list("~", len(v.Elems))
		}
		return list("*", len(v.Elems))
	case reply.Double:
		if resp3 {
			return "," + reply.FormatDouble(v.Float) + "\r\n"
		}
		return bulk(reply.FormatDouble(v.Float))
	case reply.Bool:
		if resp3 {
			return map[int64]string{0: "#f\r\n", 1: "#t\r\n"}[v.Int]
		}
		return ":" + strconv.FormatInt(v.Int, 10) + "\r\n"
	case reply.Verbatim:
		if resp3 {
			return fmt.Sprintf("=%d\r\ntxt:%s\r\n", len(v.Str)+4, v.Str)
		}
		return bulk(v.Str)
	case reply.BigNumber:
		if resp3 {
			return "(" + v.Str + "\r\n"
		}
		return bulk(v.Str)
	}
	return "?" + v.Str
}

// answer runs a script and encodes what the client would see.
func answer(e *Engine, h Host, text string, keys, args []string, resp3 bool) string {
	p, err := Compile(text, DefaultLimits())
	if err != nil {
		return "-" + err.Error() + "\r\n"
	}
	r := e.Run(Call{Program: p, Keys: keys, Args: args, Seed: 1}, h, DefaultLimits())
	return encode(r.Value, resp3)
}

// TestSameAsRedis runs every script of the corpus here and in a real Redis.
func TestSameAsRedis(t *testing.T) {
	redis := startRedis(t)
	e := New()
	for _, resp3 := range []bool{false, true} {
		if resp3 {
			redis.do(t, "HELLO", "3")
		}
		for _, script := range corpus {
			h := newHost()
			h.data["k"], h.data["s"] = "v", "abc"
			redis.do(t, "FLUSHALL")
			redis.do(t, "MSET", "k", "v", "s", "abc")
			want := redis.do(t, "EVAL", script, "2", "k", "none", "v", "10", "")
			got := answer(e, h, script, []string{"k", "none"}, []string{"v", "10", ""}, resp3)
			if got != want {
				t.Errorf("RESP3 %v: %s\n got %q\nwant %q", resp3, script, got, want)
			}
		}
	}
}
