package server

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redfence/redfence/fsm"
	"github.com/redfence/redfence/server/replica"
)

func get(t *testing.T, h http.Handler, path string) (int, string) {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
	return w.Code, w.Body.String()
}

// Profiles are there when they are asked for, and not otherwise.
func TestProfiles(t *testing.T) {
	for _, on := range []bool{false, true} {
		ts := serveFake(t, Config{Profiles: on})
		code, body := get(t, ts.Handler(), "/debug/pprof/goroutine?debug=1")
		if (code == http.StatusOK && strings.Contains(body, "goroutine profile")) != on {
			t.Errorf("with profiles %v: %d %.100q", on, code, body)
		}
	}
}

// Liveness has nothing to do with the cluster, readiness has (B76).
func TestProbes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ts, _ := servePipes(t, Config{})
		h := ts.Handler()
		for _, path := range []string{"/healthz", "/readyz"} {
			if code, body := get(t, h, path); code != http.StatusOK {
				t.Errorf("%s: %d %q", path, code, body)
			}
		}
		reason := errors.New("no quorum")
		ts.fake.unready.Store(&reason)
		if code, body := get(t, h, "/readyz"); code != http.StatusServiceUnavailable || !strings.Contains(body, "no quorum") {
			t.Errorf("/readyz without quorum: %d %q", code, body)
		}
		ts.fake.unready.Store(nil)
		ts.fake.loading.Store(true)
		if code, _ := get(t, h, "/readyz"); code != http.StatusServiceUnavailable {
			t.Errorf("/readyz while loading: %d", code)
		}
		if code, _ := get(t, h, "/healthz"); code != http.StatusOK {
			t.Errorf("/healthz while loading: %d", code)
		}
		ts.fake.loading.Store(false)
		ts.fake.hang = make(chan struct{})
		began := time.Now()
		if code, _ := get(t, h, "/readyz"); code != http.StatusServiceUnavailable || time.Since(began) > time.Second {
			t.Errorf("/readyz of a backend that hangs: %d after %v", code, time.Since(began))
		}
		close(ts.fake.hang)
		if code, _ := get(t, h, "/nosuch"); code != http.StatusNotFound {
			t.Errorf("/nosuch: %d", code)
		}
		stop(t, ts)
		if code, _ := get(t, h, "/readyz"); code != http.StatusServiceUnavailable {
			t.Errorf("/readyz while closing: %d", code)
		}
	})
}

// What monitoring looks at is there, once each, with its kind.
func TestMetrics(t *testing.T) {
	ts := serveFake(t, Config{Version: "1.2.3"})
	ts.fake.status = replica.Status{
		Node: "n1", Role: replica.RoleLeader, Leader: "n1", Keys: []int{1, 0, 0, 0},
		Members: []replica.MemberStatus{{Node: "n1", Leader: true, Voter: true}},
	}
	p := dial(t, ts.addr)
	p.do("SET k v")
	p.do("GET")
	p.do("GET k")
	p.do("EVAL \"return redis.error_reply('MY error')\" 0")
	asked := fsm.Event{Kind: fsm.QuorumAsked, Name: "worker", Key: "k", Payload: "n1"}
	ts.Events([]fsm.Event{asked, asked})
	code, body := get(t, ts.Handler(), "/metrics")
	if code != http.StatusOK || !strings.Contains(body, "redfence_is_leader 1\n") || !strings.Contains(body, `redfence_locks{port="shared"} 1`) {
		t.Fatalf("/metrics: %d %s", code, body)
	}
	want := []metric{versionMetric, locksMetric, commandsMetric, failuresMetric, errorsMetric, misdirectedMetric}
	for _, m := range gauges {
		want = append(want, metric{name: m.name, kind: "gauge"})
	}
	for _, m := range counters {
		want = append(want, metric{name: m.name, kind: "counter"})
	}
	for _, m := range want {
		if strings.Count(body, "# TYPE "+m.name+" "+m.kind+"\n") != 1 {
			t.Errorf("%s %s is not there", m.kind, m.name)
		}
	}
	if !strings.Contains(body, `redfence_errors_total{word="MY"} 1`) {
		t.Error("a script's error is not counted")
	}
}

// Connections of HTTP are bounded and end by themselves: who opens many and says
// nothing can't take the node's file descriptors, nor the probes for long (promise 8).
func TestHTTPConnectionsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ts, _ := servePipes(t, Config{})
		lns := []*pipeListener{newPipeListener(), newPipeListener()}
		h := ts.HTTPServer()
		for _, ln := range lns {
			go h.Serve(ts.HTTPListener(ln))
		}
		ctx, cancel := context.WithCancel(t.Context())
		var open atomic.Int64
		for i := range 3 * HTTPConnectionsMax {
			go func() {
				near, far := net.Pipe()
				defer near.Close()
				select {
				case lns[i%2].conns <- far:
					open.Add(1)
					<-ctx.Done()
				case <-ctx.Done():
				}
			}()
		}
		synctest.Wait()
		if n := open.Load(); n > HTTPConnectionsMax {
			t.Errorf("%d connections are open", n)
		}
		began := time.Now()
		served := make(chan string)
		go func() {
			c := lns[0].dial()
			defer c.Close()
			io.WriteString(c, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
			line, _ := bufio.NewReader(c).ReadString('\n')
			served <- line
		}()
		if line := <-served; line != "HTTP/1.1 200 OK\r\n" {
			t.Errorf("a probe among silent connections: %q", line)
		}
		if took := time.Since(began); took > 4*HTTPReadTimeout {
			t.Errorf("a probe among silent connections took %v", took)
		}
		cancel()
		h.Close()
		for _, ln := range lns {
			ln.Close()
		}
		stop(t, ts)
	})
}
