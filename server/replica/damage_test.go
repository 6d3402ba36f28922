package replica

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/raft"
	walfs "github.com/hashicorp/raft-wal/fs"
	"github.com/hashicorp/raft-wal/segment"

	"github.com/redfence/redfence/fsm"
	"github.com/redfence/redfence/fsm/reply"
)

// copyDir copies a data directory, without the zeros that a segment ends with.
func copyDir(t *testing.T, from string) string {
	t.Helper()
	to := t.TempDir()
	err := filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(from, path)
		if err != nil || entry.IsDir() {
			return errors.Join(err, os.MkdirAll(filepath.Join(to, rel), 0o700))
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if strings.HasSuffix(path, ".wal") {
			data = data[:written(data)]
		}
		return os.WriteFile(filepath.Join(to, rel), data, 0o600)
	})
	if err != nil {
		t.Fatal(err)
	}
	return to
}

// written is how many bytes there are before the last zeros.
func written(data []byte) int {
	end := len(data)
	for end > 0 && data[end-1] == 0 {
		end--
	}
	return end
}

// fillKeys makes a node with a snapshot and 30 keys behind it, and gives its
// directory twice: as it was while it ran, as a kill leaves it, and closed.
func fillKeys(t *testing.T, kind string) (killed, closed string, cfg Config) {
	t.Helper()
	cfg = testConfig(t, "n1", t.TempDir())
	cfg.LogStore = kind
	n := start(t, cfg)
	ready(t, n)
	do(t, n, "set", "k0", "v0")
	if err := n.Snapshot(); err != nil {
		t.Fatal(err)
	}
	for i := range 30 {
		do(t, n, "set", fmt.Sprint("k", i), fmt.Sprint("v", i))
	}
	killed = copyDir(t, cfg.Dir)
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	return killed, cfg.Dir, cfg
}

// serves starts a node; it must refuse and say where, or have every key.
func serves(t *testing.T, cfg Config, what string) (refusal error) {
	t.Helper()
	cfg.Fatal = func(err error) { t.Errorf("%s: fatal: %v", what, err) }
	n, err := Start(t.Context(), cfg)
	if err != nil {
		if text := err.Error(); !strings.Contains(text, cfg.Dir) || strings.Contains(text, "\n") {
			t.Errorf("%s: the refusal doesn't say where, in one line: %v", what, err)
		}
		return err
	}
	defer n.Close()
	ready(t, n)
	for i := range 30 {
		got := do(t, n, "get", fmt.Sprint("k", i))
		if got.Str != fmt.Sprint("v", i) {
			t.Fatalf("%s: k%d is %v", what, i, got)
		}
	}
	return nil
}

// Whatever bit flips on a disk, a node serves what it had acknowledged or says
// which file is damaged.
func TestDamagedBitsNeverGiveAnotherState(t *testing.T) {
	flips := 25 // of each directory; FLIPS sets another number
	if n, err := strconv.Atoi(os.Getenv("FLIPS")); err == nil {
		flips = n
	}
	seed := rand.Uint64()
	if s, err := strconv.ParseUint(os.Getenv("SEED"), 10, 64); err == nil {
		seed = s
	}
	t.Logf("SEED=%d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	for _, kind := range []string{LogStoreWAL, LogStoreBolt} {
		killed, closed, cfg := fillKeys(t, kind)
		refused := 0
		for _, from := range []string{killed, closed} {
			for range flips {
				cfg.Dir = copyDir(t, from)
				file := pickFile(t, rng, cfg.Dir)
				data, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				at, bit := rng.IntN(max(1, written(data))), byte(1)<<rng.IntN(8)
				data[at] ^= bit
				if err := os.WriteFile(file, data, 0o600); err != nil {
					t.Fatal(err)
				}
				if serves(t, cfg, fmt.Sprintf("%s: bit %#x of byte %d", file, bit, at)) != nil {
					refused++
				}
			}
		}
		t.Logf("%s: %d of %d refused", kind, refused, 2*flips)
		if refused < flips/2 {
			t.Errorf("%s: only %d of %d were noticed", kind, refused, 2*flips)
		}
	}
}

// pickFile picks a file of a data directory that has something in it.
func pickFile(t *testing.T, rng *rand.Rand, dir string) string {
	t.Helper()
	var files []string
	filepath.WalkDir(dir, func(path string, entry fs.DirEntry, _ error) error {
		if info, err := entry.Info(); err == nil && info.Mode().IsRegular() && info.Size() > 0 {
			files = append(files, path)
		}
		return nil
	})
	return files[rng.IntN(len(files))]
}

// A log, or a part of it, that is gone is a loss, also when a snapshot is there.
func TestLossOfALogStopsTheNode(t *testing.T) {
	each := func(pattern string, f func(path string) error) func(dir string) error {
		return func(dir string) (err error) {
			names, _ := filepath.Glob(filepath.Join(dir, pattern))
			if len(names) == 0 {
				return errors.New("no " + pattern)
			}
			for _, name := range names {
				err = errors.Join(err, f(name))
			}
			return err
		}
	}
	empty := func(path string) error { return os.Truncate(path, 0) }
	half := func(path string) error {
		info, err := os.Stat(path)
		return errors.Join(err, os.Truncate(path, info.Size()/2))
	}
	cases := map[string]map[string]func(dir string) error{
		LogStoreWAL: {
			"segments gone": each("log/*.wal", os.Remove), "segments emptied": each("log/*.wal", empty),
			"segments cut": each("log/*.wal", half), "log gone": each("log", os.RemoveAll),
			"list gone": each("log/segments.json", os.Remove), "list emptied": each("log/segments.json", empty),
			"end gone": each("log.end", os.Remove), "end emptied": each("log.end", empty),
			"log and end gone": each("log*", os.RemoveAll), "votes gone": each("stable.json", os.Remove),
		},
		LogStoreBolt: {
			"log gone": each("log.db", os.Remove), "log emptied": each("log.db", empty), "log cut": each("log.db", half),
			"one page left":  each("log.db", func(path string) error { return os.Truncate(path, 4096) }),
			"two pages left": each("log.db", func(path string) error { return os.Truncate(path, 8192) }),
			"all but a bit":  each("log.db", func(path string) error { return os.Truncate(path, 100) }),
		},
	}
	for kind, harms := range cases {
		killed, closed, cfg := fillKeys(t, kind)
		for name, harm := range harms {
			for how, from := range map[string]string{"killed": killed, "closed": closed} {
				cfg.Dir = copyDir(t, from)
				if err := harm(cfg.Dir); err != nil {
					t.Fatal(err)
				}
				for range 2 { // a second try doesn't begin anew either
					if serves(t, cfg, name) == nil {
						t.Errorf("%s, %s, %s: it starts as if nothing had happened", kind, how, name)
					}
				}
			}
		}
	}
}

// A segment that was begun is missed even when nothing else tells of it.
func TestLossOfTheNewestSegmentStopsTheNode(t *testing.T) {
	cfg := testConfig(t, "n1", t.TempDir())
	n := start(t, cfg)
	ready(t, n)
	value := strings.Repeat("v", 1<<20)
	for i := range 20 {
		do(t, n, "set", fmt.Sprint("k", i), value)
	}
	names, _ := filepath.Glob(filepath.Join(cfg.Dir, walDir, "*.wal"))
	if len(names) != 2 {
		t.Fatalf("segments %v", names)
	}
	killed := copyDir(t, cfg.Dir)
	for _, name := range names {
		cfg.Dir = copyDir(t, killed)
		gone := filepath.Join(cfg.Dir, walDir, filepath.Base(name))
		if err := os.Remove(gone); err != nil {
			t.Fatal(err)
		}
		if _, err := Start(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), gone+" is gone") {
			t.Errorf("got %v", err)
		}
	}
}

// What a torn write leaves behind the last whole batch is no damage.
func TestTornWriteAtTheEndOfTheLogIsDropped(t *testing.T) {
	killed, _, cfg := fillKeys(t, LogStoreWAL)
	names, _ := filepath.Glob(filepath.Join(killed, walDir, "*.wal"))
	whole, err := os.ReadFile(names[0])
	if err != nil {
		t.Fatal(err)
	}
	whole = append(whole, make([]byte, 7-(len(whole)+7)%8)...) // frames are multiples of eight
	batch := whole[len(whole)-200:]
	for name, torn := range map[string][]byte{
		"a piece":             {1, 0, 0, 0, 200, 0, 0, 0, 'x'},
		"a batch, wrong sum":  append([]byte{1, 0, 0, 0, 8, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8}, 3, 0, 0, 0, 9, 9, 9, 9),
		"a table, not whole":  {2, 0, 0, 0, 8, 0, 0, 0, 1, 2, 3},
		"anything":            batch,
		"nothing of its head": append(make([]byte, 64), 7, 7, 7),
	} {
		cfg.Dir = copyDir(t, killed)
		file := filepath.Join(cfg.Dir, walDir, filepath.Base(names[0]))
		if err := os.WriteFile(file, append(whole[:len(whole):len(whole)], torn...), 0o600); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := serves(t, cfg, name); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// raft-wal can't append to a segment that was full when the process ended.
func TestNodeThatEndedWithAFullSegmentGoesOn(t *testing.T) {
	_, closed, cfg := fillKeys(t, LogStoreWAL)
	cfg.Dir = copyDir(t, closed)
	path := filepath.Join(cfg.Dir, walDir)
	end, err := openLogEnd(filepath.Join(cfg.Dir, logEndFile))
	if err != nil {
		t.Fatal(err)
	}
	p := &walParts{dir: &directory{dir: path}, end: end}
	state, err := p.Load("")
	if err != nil {
		t.Fatal(err)
	}
	w, err := segment.NewFiler(path, walfs.New()).RecoverTail(state.Segments[0])
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.ForceSeal(); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Close(), end.close()); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := serves(t, cfg, "full segment"); err != nil {
			t.Fatal(err)
		}
	}
}

// The segment that can't be begun is what a node says when it ends over it.
func TestDiskErrorOfANewSegmentIsTold(t *testing.T) {
	said := make(chan error, 1)
	cfg := testConfig(t, "n1", t.TempDir())
	cfg.Fatal = func(err error) { said <- err }
	cfg.AnswerWait, cfg.NoLeaderWait = 200*time.Millisecond, 200*time.Millisecond
	n := start(t, cfg)
	ready(t, n)
	// Every name that the next segment may get is taken.
	for i := range uint64(200) {
		name := filepath.Join(cfg.Dir, walDir, fmt.Sprintf("%020d-%016x.wal", i, 1))
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	value := strings.Repeat("v", 1<<20)
	for range 20 {
		if _, err := n.Do(t.Context(), client("x"), []fsm.Command{command("set", "k", value)}); err != nil {
			break
		}
	}
	select {
	case err := <-said:
		if !strings.Contains(err.Error(), "begin the segment") || !strings.Contains(err.Error(), "file exists") {
			t.Fatalf("got %v", err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("the node goes on without a log")
	}
}

// A bit that flips while a node runs ends it when the entry is read.
func TestDamagedEntryEndsTheNode(t *testing.T) {
	for _, kind := range []string{LogStoreWAL, LogStoreBolt} {
		said := make(chan error, 1)
		cfg := testConfig(t, "n1", t.TempDir())
		cfg.LogStore = kind
		cfg.Fatal = func(err error) { said <- err }
		n := start(t, cfg)
		ready(t, n)
		// The last entry that comes by itself: bolt would write undamaged pages anew for it.
		eventually(t, 5*time.Second, "the node is recorded", func() (recorded bool) {
			n.machine.look(func(s *fsm.State) { recorded = len(s.Members()) == 1 })
			return recorded
		})
		do(t, n, "set", "k", strings.Repeat("needle", 20))
		file := filepath.Join(cfg.Dir, boltLogFile)
		if kind == LogStoreWAL {
			names, _ := filepath.Glob(filepath.Join(cfg.Dir, walDir, "*.wal"))
			file = names[0]
		}
		flip(t, file, "needle")
		var asking sync.WaitGroup
		last, _ := n.stores.logs.LastIndex()
		for i := uint64(1); i <= last; i++ {
			asking.Go(func() {
				var entry raft.Log
				if err := n.stores.logs.GetLog(i, &entry); err == nil && strings.Contains(string(entry.Data), "needle") {
					t.Errorf("entry %d was given", i)
				}
			})
		}
		asking.Wait()
		select {
		case err := <-said:
			if text := err.Error(); !strings.Contains(text, "of the log in "+file+" is corrupt") {
				t.Errorf("got %v", err)
			}
		default:
			t.Error("nobody was told")
		}
		n.Close()
	}
}

// flip flips one bit of a text wherever it is in a file.
func flip(t *testing.T, file, text string) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(file, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	at := strings.Index(string(data), text)
	if at < 0 {
		t.Fatal("not in the file")
	}
	for from := 0; at >= 0; at = strings.Index(string(data[from:]), text) {
		from += at
		if _, err := f.WriteAt([]byte{data[from] ^ 1}, int64(from)); err != nil {
			t.Fatal(err)
		}
		from += len(text)
	}
}

// A leader that reads a damaged entry for a follower ends, and can be closed.
func TestDamagedEntryEndsTheLeader(t *testing.T) {
	said := make(chan error, 3)
	c := newCluster(t, 3, func(cfg *Config) { cfg.Fatal = func(err error) { said <- err } })
	leader := c.leader()
	late := c.another(leader)
	c.stop(late)
	do(t, c.nodes[leader], "set", "k", strings.Repeat("needle", 20))
	for range recentEntries { // what is newer is not read from the file
		do(t, c.nodes[leader], "set", "other", "v")
	}
	names, _ := filepath.Glob(filepath.Join(c.cfgs[leader].Dir, walDir, "*.wal"))
	flip(t, names[0], "needle")
	c.start(late)
	select {
	case err := <-said:
		if !strings.Contains(err.Error(), names[0]+" is corrupt") {
			t.Errorf("got %v", err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("nobody was told")
	}
	c.stop(leader)
	eventually(t, 10*time.Second, "the others go on", func() bool { return c.nodes[late].Ready() == nil })
	wantReply(t, do(t, c.nodes[late], "get", "k"), reply.String(strings.Repeat("needle", 20)))
}
