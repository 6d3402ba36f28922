package server

import (
	"bufio"
	"flag"
	"net"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/redfence/redfence/fsm"
	"github.com/redfence/redfence/redlockcompat"
	"github.com/redfence/redfence/server/replica"
)

var rewrite = flag.Bool("rewrite", false, "write what the server answers into testdata/*.txt")

// TestTranscripts plays testdata/*.txt: what drivers and people send, and every
// byte that they get. A transcript is read from top to bottom:
//
//	# a comment
//	password pw        the server asks for it
//	connect            another connection; the first is there from the start
//	on 1               go on with the first connection
//	> SET k v          a command, as one types it
//	>0 CLIENT REPLY OFF   one that has no reply; >2 has two
//	>> SET k v         goes out in one write with the next command
//	< $1\r\nv          a reply, without its last line end
//	<~ $*redis_mode:*  a reply that matches a glob pattern
//	raw 1 "*x\r\n"      bytes, and how many replies they have
//	seat 1             a connection to a seat's port
//	closed             the server has closed the connection
//
// Run with -rewrite to let the server write the replies. Those in testdata/redis
// are the same for a Redis 7.0.15, which TestTranscriptsOfRedis holds them to.
func TestTranscripts(t *testing.T) {
	for _, pattern := range []string{"testdata/*.txt", "testdata/redis/*.txt"} {
		eachTranscript(t, pattern, func(t *testing.T, tr *transcript) {
			ts := serveFake(t, Config{Password: tr.password, Version: "0.0.0-test"})
			ts.fake.status = replica.Status{Node: "n1", Role: replica.RoleLeader, Leader: "n1", Cluster: "c", Term: 1, Seats: 3}
			tr.ts, tr.addr = ts, ts.addr
			tr.play()
			if *rewrite {
				tr.rewrite()
			}
		})
	}
}

// TestTranscriptsOfRedis plays them to a real redis-server, which must be there
// when CI is set.
func TestTranscriptsOfRedis(t *testing.T) {
	redis, err := osexec.LookPath("redis-server")
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip("no redis-server here")
	}
	if out, err := osexec.Command(redis, "--version").Output(); err != nil || !strings.Contains(string(out), " v=7.0.") {
		t.Skipf("another version: %s %v", out, err)
	}
	eachTranscript(t, "testdata/redis/*.txt", func(t *testing.T, tr *transcript) {
		tr.addr = startRedis(t, redis, tr.password)
		tr.play()
	})
}

// startRedis runs a redis-server until the test ends.
func startRedis(t *testing.T, redis, password string) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := ln.Addr().String()
	ln.Close()
	cmd := osexec.Command(redis, "--port", portOf(addr), "--bind", "127.0.0.1", "--save", "", "--dir", t.TempDir(), "--requirepass", password)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	eventually(t, func() bool {
		c, err := net.Dial("tcp", addr)
		if err == nil {
			c.Close()
		}
		return err == nil
	})
	return addr
}

func eachTranscript(t *testing.T, pattern string, play func(*testing.T, *transcript)) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatal("no transcripts:", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			tr := &transcript{t: t, file: file, text: string(raw)}
			if _, after, ok := strings.Cut(tr.text, "\npassword "); ok {
				tr.password, _, _ = strings.Cut(after, "\n")
			}
			play(t, tr)
		})
	}
}

// transcript is one file while it is played.
type transcript struct {
	t        *testing.T
	file     string
	text     string
	password string
	addr     string
	ts       *testServer // nil for a Redis
	peers    []*peer
	now      *peer
	send     strings.Builder
	held     bool     // the next command goes out with the one before
	due      int      // replies to what was sent
	lines    []string // what is expected, and where -rewrite puts what came
	out      []string
}

func (tr *transcript) play() {
	tr.connect(tr.addr)
	for line := range strings.Lines(tr.text) {
		tr.line(strings.TrimSuffix(line, "\n"))
	}
	tr.settle()
}

func (tr *transcript) rewrite() {
	if err := os.WriteFile(tr.file, []byte(strings.Join(tr.out, "\n")+"\n"), 0o644); err != nil {
		tr.t.Fatal(err)
	}
}

func (tr *transcript) connect(addr string) {
	tr.now = dial(tr.t, addr)
	tr.peers = append(tr.peers, tr.now)
}

func (tr *transcript) line(line string) {
	verb, rest, _ := strings.Cut(line, " ")
	if strings.HasPrefix(verb, "<") {
		tr.lines = append(tr.lines, line)
		return
	}
	if !tr.held {
		tr.settle()
	}
	tr.held = verb == ">>"
	tr.out = append(tr.out, line)
	switch {
	case strings.HasPrefix(verb, ">"):
		args, ok := splitInline([]byte(rest))
		if !ok {
			tr.t.Fatal("unbalanced quotes:", line)
		}
		w := writer{proto: 2}
		w.header('*', len(args))
		for _, a := range args {
			w.buf = appendBulk(w.buf, a)
		}
		tr.send.Write(w.buf)
		n, counted := parseLength([]byte(verb[1:]))
		if !counted {
			n = 1
		}
		tr.due += int(n)
	case verb == "connect":
		tr.connect(tr.addr)
	case verb == "seat":
		tr.connect(tr.ts.listen(tr.t, rest[0]-'0'))
	case verb == "on":
		tr.now = tr.peers[rest[0]-'1']
	case verb == "closed":
		if said := tr.now.closed(); said != "" {
			tr.t.Errorf("before closing the server said %q", said)
		}
	case verb == "raw":
		args, ok := splitInline([]byte(rest))
		if !ok || len(args) != 2 {
			tr.t.Fatal("raw takes a number of replies and bytes:", line)
		}
		tr.send.WriteString(args[1])
		tr.due += int(args[0][0] - '0')
	case verb == "" || verb == "#" || verb == "password":
	default:
		tr.t.Fatal("unknown line:", line)
	}
}

// settle sends what waits and compares the replies.
func (tr *transcript) settle() {
	if tr.send.Len() > 0 {
		tr.now.write(tr.send.String())
		tr.send.Reset()
	}
	expected := tr.lines
	tr.lines = nil
	for ; tr.due > 0; tr.due-- {
		got := strings.TrimSuffix(tr.now.read(), "\r\n")
		if len(expected) > 0 && strings.HasPrefix(expected[0], "<~ ") {
			if !fsm.Match(expected[0][3:], got) {
				tr.t.Errorf("got %q, want it to match %q", got, expected[0][3:])
			}
			tr.out = append(tr.out, expected[0])
			expected = expected[1:]
			continue
		}
		quoted := strconv.Quote(got)
		line := "< " + strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`)
		tr.out = append(tr.out, line)
		if !*rewrite && (len(expected) == 0 || expected[0] != line) {
			tr.t.Fatalf("got %s, want %q", line, expected)
		}
		expected = expected[min(1, len(expected)):]
	}
	if len(expected) > 0 && !*rewrite {
		tr.t.Errorf("the server did not say %q", expected)
	}
}

// The run id is 40 hex digits, the same after a restart, and another on every port.
func TestRunID(t *testing.T) {
	a, b := runID("c", "n1", 0), runID("c", "n1", 1)
	if len(a) != 40 || a == b || a != runID("c", "n1", 0) || a == runID("c", "n2", 0) {
		t.Errorf("run ids %q and %q", a, b)
	}
}

// Drivers compare versions: three numbers, at least 7.0, and nothing else.
func TestRedisVersionIsThreeNumbers(t *testing.T) {
	ts := serveFake(t, Config{})
	p := dial(t, ts.addr)
	sc := bufio.NewScanner(strings.NewReader(p.do("INFO server")))
	for sc.Scan() {
		if v, ok := strings.CutPrefix(sc.Text(), "redis_version:"); ok {
			if v != redlockcompat.RedisVersion || strings.Count(v, ".") != 2 || strings.Trim(v, "0123456789.") != "" {
				t.Errorf("redis_version %q", v)
			}
			return
		}
	}
	t.Error("INFO server has no redis_version")
}
