package fence_test

import (
	"database/sql"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	_ "github.com/lib/pq"
	_ "github.com/mattn/go-sqlite3"

	"github.com/redfence/redfence/tests/internal/process"
)

// database is a real one: how a second process opens it, too.
type database struct{ driver, source string }

func (d database) open(t *testing.T) *sql.DB {
	t.Helper()
	db, err := sql.Open(d.driver, d.source)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// databases are a PostgreSQL server and an SQLite file, both new.
func databases(t *testing.T) map[string]database {
	t.Helper()
	return map[string]database{
		"PostgreSQL": postgres(t),
		"SQLite":     {"sqlite3", "file:" + filepath.Join(t.TempDir(), "test.db") + "?_busy_timeout=10000&_txlock=immediate"},
	}
}

// postgres starts a server on a free port. It refuses to run as root, so it runs as
// its own user then.
func postgres(t *testing.T) database {
	t.Helper()
	dir, err := os.MkdirTemp("", "redfence-postgres")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	attr := &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if os.Geteuid() == 0 {
		u, err := user.Lookup("postgres")
		if err != nil {
			t.Fatalf("PostgreSQL doesn't run as root: %v", err)
		}
		uid, _ := strconv.Atoi(u.Uid)
		gid, _ := strconv.Atoi(u.Gid)
		if err := os.Chown(dir, uid, gid); err != nil {
			t.Fatal(err)
		}
		attr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	}
	run := func(name string, args ...string) *exec.Cmd {
		cmd := exec.Command(program(t, name), args...)
		cmd.Dir, cmd.SysProcAttr = dir, attr
		return cmd
	}
	data := filepath.Join(dir, "data")
	if out, err := run("initdb", "-D", data, "-U", "test", "-A", "trust", "--no-sync").CombinedOutput(); err != nil {
		t.Fatalf("initdb: %v\n%s", err, out)
	}
	host, port, _ := net.SplitHostPort(process.FreeAddrs(t, 1)[0])
	server := run("postgres", "-D", data, "-h", host, "-p", port, "-k", dir, "-F")
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		// SIGINT is its fast shutdown; how it ended tells nothing.
		_ = server.Process.Signal(syscall.SIGINT)
		_ = server.Wait()
	})
	d := database{"postgres", fmt.Sprintf("host=%s port=%s user=test dbname=postgres sslmode=disable", host, port)}
	db := d.open(t)
	process.Until(t, "PostgreSQL answers", func() bool { return db.Ping() == nil })
	return d
}

// program finds one of PostgreSQL's, which Debian keeps out of the path.
func program(t *testing.T, name string) string {
	t.Helper()
	if path, err := exec.LookPath(name); err == nil {
		return path
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/" + name)
	if len(found) == 0 {
		t.Fatalf("this needs PostgreSQL: %s is not here (Debian: postgresql)", name)
	}
	return found[len(found)-1]
}
