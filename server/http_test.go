package server

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redfence/redfence/server/replica"
)

func get(t *testing.T, h http.Handler, path string) (int, string) {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
	return w.Code, w.Body.String()
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
	code, body := get(t, ts.Handler(), "/metrics")
	if code != http.StatusOK || !strings.Contains(body, "redfence_is_leader 1\n") || !strings.Contains(body, `redfence_locks{port="shared"} 1`) {
		t.Fatalf("/metrics: %d %s", code, body)
	}
	want := []metric{versionMetric, locksMetric, commandsMetric, failuresMetric, errorsMetric}
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
