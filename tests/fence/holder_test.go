package fence_test

import (
	"bufio"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redfence/redfence/client"
	"github.com/redfence/redfence/client/fence"
	"github.com/redfence/redfence/tests/internal/process"
)

const holderTTL = 2 * time.Second

// task is what the holder is told.
type task struct {
	Addrs     []string
	Databases map[string][2]string
	URL       string
}

// report is what the holder saw.
type report struct {
	Token  int64
	Err    string // what the first look at the Context's Err after the stop said
	Closed bool   // whether Done was closed at that look
	Gap    time.Duration
	Late   map[string]string // what each fence said to its late write
}

// holder takes the lock, works until its process is stopped and continued, looks at
// its Context, and then writes as if it had not looked.
func holder() {
	var j task
	if err := json.Unmarshal([]byte(os.Getenv(holderVariable)), &j); err != nil {
		panic(err)
	}
	c, err := client.New(j.Addrs...)
	if err != nil {
		panic(err)
	}
	g, err := c.Mutex("resource", client.WithTTL(holderTTL)).Lock(context.Background())
	if err != nil {
		panic(err)
	}
	r := report{Token: g.Token(), Late: map[string]string{}}
	for name, w := range j.writers() {
		r.Late[name+" in time"] = w(r.Token)
	}
	// Whoever hears of the grant may stop the process at once: the clock comes first.
	ctx, last := g.Context(), time.Now()
	say(r)
	for {
		now := time.Now()
		// The look comes at once after the clock: nothing else runs in between.
		failed := ctx.Err()
		if r.Gap = now.Sub(last); r.Gap > holderTTL {
			r.Err = fmt.Sprint(failed)
			select {
			case <-ctx.Done():
				r.Closed = true
			default:
			}
			break
		}
		last = now
	}
	for name, w := range j.writers() {
		r.Late[name] = w(r.Token)
	}
	say(r)
}

func say(r report) {
	if err := json.NewEncoder(os.Stdout).Encode(r); err != nil {
		panic(err)
	}
}

// writers write through each fence of client/fence, and answer what it said.
func (j *task) writers() map[string]func(token int64) string {
	out := map[string]func(int64) string{
		"HTTP": func(token int64) string {
			r, err := http.NewRequest(http.MethodPut, j.URL, strings.NewReader(fmt.Sprint(token)))
			if err != nil {
				return err.Error()
			}
			fence.SetToken(r, token)
			res, err := http.DefaultClient.Do(r)
			if err != nil {
				return err.Error()
			}
			res.Body.Close()
			return res.Status
		},
	}
	for name, d := range j.Databases {
		with := func(f func(db *sql.DB) error) string {
			db, err := sql.Open(d[0], d[1])
			if err != nil {
				return err.Error()
			}
			defer db.Close()
			switch err := f(db); {
			case errors.Is(err, fence.ErrOldToken):
				return "old token"
			case err != nil:
				return err.Error()
			}
			return "written"
		}
		out[name+" UPDATE"] = func(token int64) string {
			return with(func(db *sql.DB) error { return fence.Exec(context.Background(), db, guardedUpdate, token, token, 1) })
		}
		out[name+" table"] = func(token int64) string {
			return with(func(db *sql.DB) error {
				return fence.Table{}.Do(context.Background(), db, "resource", token, func(tx *sql.Tx) error {
					_, err := tx.Exec("INSERT INTO history (token) VALUES ($1)", token)
					return err
				})
			})
		}
	}
	return out
}

// TestStoppedHolder: a process that holds a mutex is stopped for longer than its
// lease. Another takes the lock and writes. When the first goes on, its first look
// at its Context says that it has ended, and every fence refuses its late write.
func TestStoppedHolder(t *testing.T) {
	cl := process.Start(t, 3)
	j := task{Databases: map[string][2]string{}}
	for _, n := range cl.Nodes {
		j.Addrs = append(j.Addrs, n.Client)
	}
	for name, d := range databases(t) {
		j.Databases[name] = [2]string{d.driver, d.source}
		prepare(t, d.open(t))
	}
	var written []string
	server := httptest.NewServer(fence.Handler(fence.NewGates(10), func(r *http.Request) string { return r.URL.Path },
		http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			b, _ := io.ReadAll(r.Body)
			written = append(written, string(b))
		})))
	defer server.Close()
	j.URL = server.URL + "/resource"

	h, out := startHolder(t, j)
	first := heard(t, out)
	signal(t, h, syscall.SIGSTOP)
	stopped := time.Now()
	c, err := client.New(j.Addrs...)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(t.Context(), process.Wait)
	defer cancel()
	g, err := c.Mutex("resource").Lock(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if g.Token() <= first.Token {
		t.Errorf("token %d after %d", g.Token(), first.Token)
	}
	for name, w := range j.writers() {
		if said := w(g.Token()); said != "written" && said != "200 OK" {
			t.Errorf("%s refused the holder: %s", name, said)
		}
	}
	// The holder tells its stop from any other pause by its length.
	<-time.After(time.Until(stopped.Add(holderTTL * 5 / 4)))
	signal(t, h, syscall.SIGCONT)
	r := heard(t, out)
	if r.Err != context.Canceled.Error() || !r.Closed {
		t.Errorf("after a stop of %v the first look at the Context said %q, Done closed %v", r.Gap, r.Err, r.Closed)
	}
	for name := range j.writers() {
		if said := r.Late[name+" in time"]; said != "written" && said != "200 OK" {
			t.Errorf("%s refused the first holder in time: %s", name, said)
		}
		if said := r.Late[name]; said != "old token" && said != "412 Precondition Failed" {
			t.Errorf("%s took a late write with token %d after %d: %s", name, r.Token, g.Token(), said)
		}
	}
	if want := []string{fmt.Sprint(first.Token), fmt.Sprint(g.Token())}; fmt.Sprint(written) != fmt.Sprint(want) {
		t.Errorf("the HTTP server wrote %v, want %v", written, want)
	}
	for name, d := range j.Databases {
		db := (database{d[0], d[1]}).open(t)
		if got := balance(t, db); int64(got) != g.Token() {
			t.Errorf("%s: the last write has token %d, want %d", name, got, g.Token())
		}
	}
	if err := g.Unlock(ctx); err != nil {
		t.Error(err)
	}
}

// prepare makes the tables that the writers write to.
func prepare(t *testing.T, db *sql.DB) {
	t.Helper()
	accounts(t, db)
	execute(t, db, "CREATE TABLE history (token bigint)")
	if err := (fence.Table{}).Create(t.Context(), db); err != nil {
		t.Fatal(err)
	}
}

func startHolder(t *testing.T, j task) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	told, err := json.Marshal(j)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), holderVariable+"="+string(told))
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended
		_ = cmd.Wait()
	})
	return cmd, bufio.NewScanner(out)
}

func heard(t *testing.T, out *bufio.Scanner) (r report) {
	t.Helper()
	if !out.Scan() {
		t.Fatalf("the holder said nothing: %v", out.Err())
	}
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		t.Fatalf("%s: %v", out.Bytes(), err)
	}
	return r
}

func signal(t *testing.T, cmd *exec.Cmd, sig syscall.Signal) {
	t.Helper()
	if err := cmd.Process.Signal(sig); err != nil {
		t.Fatal(err)
	}
}
