package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"redfence": main})
}

// TestScripts runs testdata/script: sessions with the real binary. $SHARED,
// $SEAT1 to $SEAT3, $RAFT and $HTTP are free addresses.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			names := []string{"SHARED", "SEAT1", "SEAT2", "SEAT3", "RAFT", "HTTP"}
			addrs, err := freeAddrs(len(names))
			if err != nil {
				return err
			}
			for i, name := range names {
				env.Setenv(name, addrs[i])
			}
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"redis": redisCmd, "get": getCmd, "higher": higherCmd, "sigterm": sigtermCmd,
		},
	})
}

// redisCmd runs one command on a node and compares what redis-cli would show:
// redis ADDRESS WANT COMMAND ARGUMENT... It waits until the node is reached and
// has loaded.
func redisCmd(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: redis address want command [arg ...]")
	}
	got := retry(func() (string, bool) {
		text := ask(ts, args[0], args[2:])
		return text, !strings.HasPrefix(text, "dial") && !strings.HasPrefix(text, "LOADING") && !strings.HasPrefix(text, "CLUSTERDOWN")
	})
	if want := args[1]; want != got && want != "any" {
		ts.Fatalf("%v: got %q, want %q", args[2:], got, want)
	}
	fmt.Fprintln(ts.Stdout(), got)
}

func ask(ts *testscript.TestScript, addr string, args []string) string {
	client := dial(operator{addr: addr, password: ts.Getenv("CLIENT_PASSWORD")})
	defer client.Close()
	words := make([]any, len(args))
	for i, a := range args {
		words[i] = a
	}
	v, err := client.Do(context.Background(), words...).Result()
	switch {
	case err == redis.Nil:
		return "(nil)"
	case err != nil:
		return err.Error()
	}
	return fmt.Sprint(v)
}

// getCmd compares the status and the body of a GET: get URL STATUS PART.
func getCmd(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: get url status part")
	}
	got := retry(func() (string, bool) {
		res, err := http.Get(args[0])
		if err != nil {
			return err.Error(), false
		}
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		ts.Check(err)
		text := strconv.Itoa(res.StatusCode) + " " + string(body)
		return text, strings.HasPrefix(text, args[1]) && strings.Contains(text, args[2])
	})
	if !strings.HasPrefix(got, args[1]) || !strings.Contains(got, args[2]) {
		ts.Fatalf("%s: got %s", args[0], got)
	}
}

// higherCmd compares two files with a number each: higher A B wants A > B.
func higherCmd(ts *testscript.TestScript, neg bool, args []string) {
	var n [2]int64
	for i := range n {
		var err error
		n[i], err = strconv.ParseInt(strings.TrimSpace(ts.ReadFile(args[i])), 10, 64)
		ts.Check(err)
	}
	if (n[0] > n[1]) == neg {
		ts.Fatalf("%d and %d", n[0], n[1])
	}
}

// sigtermCmd tells all background processes to end.
func sigtermCmd(ts *testscript.TestScript, _ bool, _ []string) {
	for _, cmd := range ts.BackgroundCmds() {
		ts.Check(cmd.Process.Signal(syscall.SIGTERM))
	}
}

// retry asks until it is done or ten seconds have passed, and returns what it got last.
func retry(ask func() (string, bool)) string {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(10 * time.Second); ; <-tick.C {
		if text, done := ask(); done || time.Now().After(deadline) {
			return text
		}
	}
}

// TestUsage: what is wrong with the arguments is said on standard error, with
// exit status 2, and nothing is started.
func TestUsage(t *testing.T) {
	for _, args := range [][]string{
		{"serv"}, {"serve", "extra"}, {"serve", "--no-such-flag"}, {"serve", "--maxclients", "many"}, {"serve", "--log-level", "loud"},
		{"serve", "--config", "no-such-file"}, {"status", "extra"}, {"status", "--addr", "x"}, {"status", "--addr", "x:y"}, {"status", "--addr", "h:0"}, {"status", "--addr", "unix:"}, {"version", "extra"},
		{"run"}, {"run", "x"}, {"run", "x", "true"}, {"run", "--", "true"}, {"run", "x", "--"}, {"run", "x", "y", "--", "true"}, {"run", "x", "--ttl", "1ms", "--", "true"},
		{"run", "x", "--grace", "20s", "--", "true"}, {"run", "x", "--shared", "--permits", "2", "--", "true"}, {"run", "x", "--permits", "-1", "--", "true"},
		{"run", "x", "-E", "256", "--", "true"}, {"run", "x", "--addr", "h:1,h:0", "--", "true"},
	} {
		var stdout, stderr bytes.Buffer
		if code := run(context.Background(), args, strings.NewReader(""), &stdout, &stderr); code != exitUsage {
			t.Errorf("%v: exit status %d, want %d", args, code, exitUsage)
		}
		if stdout.Len() > 0 || !strings.HasPrefix(stderr.String(), "redfence: ") {
			t.Errorf("%v: stdout %q, stderr %q", args, stdout.String(), stderr.String())
		}
	}
	if _, err := os.Stat("redfence-data"); err == nil {
		t.Error("a command that was refused left data behind")
	}
}

// freeAddrs finds addresses that nobody listens on. Their ports are below those
// that the system gives to outgoing connections, of which other tests make many.
func freeAddrs(n int) ([]string, error) {
	var addrs []string
	for range 1000 {
		ln, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", 10000+rand.IntN(20000)))
		if err != nil {
			continue
		}
		defer ln.Close()
		if addrs = append(addrs, ln.Addr().String()); len(addrs) == n {
			return addrs, nil
		}
	}
	return nil, errors.New("there are no free ports")
}
