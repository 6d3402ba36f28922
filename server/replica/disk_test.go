package replica

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/raft"

	"github.com/redfence/redfence/fsm/reply"
)

// bolt's cursor is used for deletion while it walks; a skipped key would leave
// an old entry behind.
func TestLogStoresDeleteRanges(t *testing.T) {
	for _, kind := range []string{LogStoreWAL, LogStoreBolt} {
		t.Run(kind, func(t *testing.T) {
			d, err := openDirectory(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			defer d.close()
			n := &Node{log: logTo(t), repeats: newRepeats(), stop: make(chan struct{})}
			open := func() *stores {
				s, err := d.open(kind, n)
				if err != nil {
					t.Fatal(err)
				}
				return s
			}
			s := open()
			const size = 3000
			for i := uint64(1); i <= size; i++ {
				if err := s.logs.StoreLog(&raft.Log{Index: i, Term: 1, Data: []byte(strings.Repeat("x", 100))}); err != nil {
					t.Fatal(err)
				}
			}
			check := func(first, last uint64) {
				t.Helper()
				f, _ := s.logs.FirstIndex()
				l, _ := s.logs.LastIndex()
				if f != first || l != last {
					t.Fatalf("log from %d to %d, want %d to %d", f, l, first, last)
				}
				for i := uint64(1); i <= size; i++ {
					var entry raft.Log
					err := s.logs.GetLog(i, &entry)
					if in := i >= first && i <= last; in && err != nil || i > last && err == nil {
						t.Fatalf("entry %d: %v", i, err)
					}
					if kind == LogStoreBolt && i < first && err == nil {
						t.Fatalf("entry %d is still there", i)
					}
				}
			}
			must := func(err error) {
				t.Helper()
				if err != nil {
					t.Fatal(err)
				}
			}
			must(s.logs.DeleteRange(1, 1000))
			check(1001, size)
			must(s.logs.DeleteRange(2500, size))
			check(1001, 2499)
			must(s.close())
			s = open()
			check(1001, 2499)
			must(s.logs.DeleteRange(1001, 2499))
			check(0, 0)
			must(s.logs.StoreLog(&raft.Log{Index: 2900, Term: 2}))
			check(2900, 2900)
			must(s.close())
		})
	}
}

// fill makes a node with two snapshots and some log behind them.
func fill(t *testing.T, cfg Config) {
	t.Helper()
	n := start(t, cfg)
	ready(t, n)
	for range 2 {
		do(t, n, "incr", "c")
		if err := n.Snapshot(); err != nil {
			t.Fatal(err)
		}
	}
	do(t, n, "incr", "c")
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
}

func snapshotsIn(t *testing.T, dir string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, snapshotDir, "*"+snapshotSuffix))
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// B64: a damaged snapshot never makes a node start empty.
func TestDamagedSnapshotIsNamedOrSetAside(t *testing.T) {
	damages := map[string]func(path string, data []byte) error{
		"cut to nothing": func(path string, _ []byte) error { return os.Truncate(path, 0) },
		"cut short":      func(path string, data []byte) error { return os.Truncate(path, int64(len(data)-5)) },
		"zeros":          func(path string, data []byte) error { return os.WriteFile(path, make([]byte, len(data)), 0o600) },
		"one bit": func(path string, data []byte) error {
			data[len(data)/2] ^= 4
			return os.WriteFile(path, data, 0o600)
		},
	}
	for name, damage := range damages {
		t.Run(name, func(t *testing.T) {
			cfg := testConfig(t, "n1", t.TempDir())
			fill(t, cfg)
			files := snapshotsIn(t, cfg.Dir)
			if len(files) != 2 {
				t.Fatalf("%d snapshots", len(files))
			}
			newest := files[1]
			data, err := os.ReadFile(newest)
			if err != nil {
				t.Fatal(err)
			}
			if err := damage(newest, data); err != nil {
				t.Fatal(err)
			}
			// The log reaches back behind the older snapshot: nothing is lost.
			n := start(t, cfg)
			ready(t, n)
			wantReply(t, do(t, n, "incr", "c"), reply.Integer(4))
			if err := n.Close(); err != nil {
				t.Fatal(err)
			}
			if _, err := os.Stat(newest + corruptSuffix); err != nil {
				t.Fatal("the damaged file is gone")
			}
		})
	}
}

func TestLossOfHistoryStopsTheNode(t *testing.T) {
	remove := func(names ...string) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) {
			for _, name := range names {
				if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	cases := map[string]struct {
		harm func(t *testing.T, dir string)
		says string
	}{
		"log and snapshots gone": {remove(walDir, snapshotDir), "is gone"},
		"votes gone":             {remove(stableFile), "whom this node voted for"},
		"identity gone":          {remove(identityFile), "has lost its identity"},
		"snapshot gone behind a shortened log": {func(t *testing.T, dir string) {
			shortenLog(t, dir)
			remove(snapshotDir)(t, dir)
		}, "the log begins at entry"},
		"snapshot damaged behind a shortened log": {func(t *testing.T, dir string) {
			shortenLog(t, dir)
			files := snapshotsIn(t, dir)
			if err := os.Truncate(files[len(files)-1], 100); err != nil {
				t.Fatal(err)
			}
		}, "is corrupt"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			cfg := testConfig(t, "n1", t.TempDir())
			fill(t, cfg)
			c.harm(t, cfg.Dir)
			for range 2 { // a second try doesn't begin anew either
				_, err := Start(t.Context(), cfg)
				if err == nil || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), cfg.Dir) {
					t.Fatalf("got %v, want something about %q", err, c.says)
				}
			}
		})
	}
}

// shortenLog drops the log up to the newest snapshot, as a longer history would.
func shortenLog(t *testing.T, dir string) {
	t.Helper()
	editStores(t, dir, LogStoreWAL, func(s *stores) error {
		metas, err := s.snapshots.List()
		return errors.Join(err, s.logs.DeleteRange(1, metas[0].Index))
	})
}

func TestDiskErrorEndsTheNode(t *testing.T) {
	var broken atomic.Bool
	said := make(chan error, 1)
	cfg := testConfig(t, "n1", t.TempDir())
	cfg.Fatal = func(err error) { said <- err }
	cfg.testFault = func(op string) error {
		if broken.Load() && op == "append" {
			return errors.New("no space left on device")
		}
		return nil
	}
	cfg.AnswerWait, cfg.NoLeaderWait = 200*time.Millisecond, 200*time.Millisecond
	n := start(t, cfg)
	ready(t, n)
	broken.Store(true)
	if _, err := n.Do(t.Context(), client("x"), cmds("incr", "c")); err == nil {
		t.Fatal("acknowledged without a disk")
	}
	select {
	case err := <-said:
		if !strings.Contains(err.Error(), "no space left") || !strings.Contains(err.Error(), filepath.Join(cfg.Dir, walDir)) {
			t.Fatalf("got %v", err)
		}
	case <-time.After(5 * time.Second):
		t.Fatal("the node goes on without a disk")
	}
	if n.Ready() == nil {
		t.Fatal("it calls itself ready")
	}
}

func TestSlowWriteMakesNotReadyThenEnds(t *testing.T) {
	var elapsed atomic.Int64
	var said error
	w := newDiskWatch(func() time.Duration { return time.Duration(elapsed.Load()) }, func(err error) { said = err })
	begun, end := make(chan bool), make(chan bool)
	go w.do("append to the log /x", func() error {
		begun <- true
		<-end
		return nil
	})
	<-begun
	elapsed.Store(int64(time.Second))
	if _, runs := w.oldest(); runs != time.Second {
		t.Fatalf("%v", runs)
	}
	w.look()
	if said != nil {
		t.Fatal("ended after a second")
	}
	elapsed.Store(int64(diskWriteMax + 1))
	w.look()
	if said == nil || !strings.Contains(said.Error(), "/x") {
		t.Fatalf("got %v", said)
	}
	end <- true
}

func TestWrongSettingsForADirectory(t *testing.T) {
	cfg := testConfig(t, "n1", t.TempDir())
	fill(t, cfg)
	for says, change := range map[string]func(*Config){
		"belongs to node":     func(c *Config) { c.NodeID = "n2" },
		"the log is kept by":  func(c *Config) { c.LogStore = LogStoreBolt },
		"this cluster has 3 ": func(c *Config) { c.Seats = 5 },
	} {
		wrong := cfg
		change(&wrong)
		if _, err := Start(t.Context(), wrong); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("got %v, want something about %q", err, says)
		}
	}
}

// editStores runs f on the closed stores of a directory.
func editStores(t *testing.T, dir, kind string, f func(*stores) error) {
	t.Helper()
	d, err := openDirectory(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer d.close()
	s, err := d.open(kind, &Node{log: logTo(t), repeats: newRepeats(), stop: make(chan struct{})})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f(s), s.close()); err != nil {
		t.Fatal(err)
	}
}

// A crash between the installation of a snapshot and the end of the log that it
// replaces leaves a log that ends before the snapshot; what the leader sends
// next begins behind the snapshot.
func TestCrashBetweenSnapshotAndLog(t *testing.T) {
	for _, kind := range []string{LogStoreWAL, LogStoreBolt} {
		t.Run(kind, func(t *testing.T) {
			cfg := testConfig(t, "n1", t.TempDir())
			cfg.LogStore = kind
			fill(t, cfg)
			editStores(t, cfg.Dir, kind, func(s *stores) error {
				metas, err := s.snapshots.List()
				if err != nil {
					return err
				}
				last, err := s.logs.LastIndex()
				return errors.Join(err, s.logs.DeleteRange(metas[0].Index-1, last))
			})
			n := start(t, cfg)
			ready(t, n)
			wantReply(t, do(t, n, "incr", "c"), reply.Integer(3)) // the last INCR was behind the snapshot
		})
	}
}

// With bolt the gap that an installed snapshot covers stays in the log. When
// that snapshot is damaged the older one doesn't reach across it.
func TestDamagedSnapshotOverAGapStopsTheNode(t *testing.T) {
	cfg := testConfig(t, "n1", t.TempDir())
	cfg.LogStore = LogStoreBolt
	fill(t, cfg)
	files := snapshotsIn(t, cfg.Dir)
	editStores(t, cfg.Dir, LogStoreBolt, func(s *stores) error {
		metas, err := s.snapshots.List()
		return errors.Join(err, s.logs.DeleteRange(metas[1].Index+1, metas[0].Index))
	})
	if err := os.Truncate(files[len(files)-1], 50); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := Start(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), "the log has no entry") {
			t.Fatalf("got %v", err)
		}
	}
}
