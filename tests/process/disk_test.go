package process_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redfence/redfence/tests/internal/process"
)

// TestSecondProcessOnOneDirectory: the lock file ends it at once, and says why.
func TestSecondProcessOnOneDirectory(t *testing.T) {
	c := process.Start(t, 1)
	second := process.New(t, 1).Nodes[0]
	second.Dir = c.Nodes[0].Dir
	second.Start()
	if err := second.Exited(); err == nil {
		t.Error("the second process ended with status 0")
	}
	if log := second.Log(); !strings.Contains(log, c.Nodes[0].Dir) {
		t.Errorf("its message does not name the directory:\n%s", log)
	}
	if err := c.Nodes[0].Redis().Ping(context.Background()).Err(); err != nil {
		t.Errorf("the first process was disturbed: %v", err)
	}
}

// TestDiskFull: a node whose disk is full ends with a message that says so; the
// others go on, and it comes back when there is room.
func TestDiskFull(t *testing.T) {
	c := process.New(t, 3)
	for _, n := range c.Nodes {
		n.Dir = smallDisk(t)
		n.Start()
	}
	c.Ready()
	for _, which := range []string{"the leader", "a follower"} {
		victim := c.Leader()
		if which == "a follower" {
			victim = c.Others(victim)[0]
		}
		other := c.Others(victim)[0]
		filler := filepath.Join(victim.Dir, "filler")
		fill(t, filler)
		load(t, other, 8<<20)
		if err := victim.Exited(); err == nil {
			t.Errorf("%s with a full disk ended with status 0", which)
		}
		if log := victim.Log(); !strings.Contains(log, "no space left on device") || !strings.Contains(log, victim.Dir) {
			t.Errorf("the log of %s does not say what is full and where:\n%.2000s", which, log)
		}
		if took := firstSuccess(t, other); took > 10*time.Second {
			t.Errorf("the others served again only after %v", took)
		}
		if err := os.Remove(filler); err != nil {
			t.Fatal(err)
		}
		victim.Start()
		c.Ready()
		if n, err := victim.Redis().Exists(context.Background(), "probe").Result(); n != 1 || err != nil {
			t.Errorf("%s has lost its data: %v %v", which, n, err)
		}
	}
}

// smallDisk is a file system of 64 MB for one test. It takes root to make one.
func smallDisk(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=64m", "redfence-test", dir).CombinedOutput()
	if err != nil {
		if os.Getenv("CI") == "" {
			t.Skipf("NOT RUN: a file system of its own takes root: %v: %s", err, out)
		}
		t.Fatalf("mount: %v: %s", err, out)
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", "-l", dir).CombinedOutput(); err != nil {
			t.Errorf("umount: %v: %s", err, out)
		}
	})
	return dir
}

// fill writes until no byte more fits.
func fill(t *testing.T, path string) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	block := make([]byte, 64<<10)
	for len(block) > 0 {
		if _, err := f.Write(block); err != nil {
			block = block[:len(block)/2]
		}
	}
}

// load writes about size bytes through a node, in values of 256 KiB.
func load(t *testing.T, n *process.Node, size int) {
	t.Helper()
	value := strings.Repeat("x", 256<<10)
	for i := 0; i < size; i += len(value) {
		ctx, cancel := context.WithTimeout(context.Background(), 15*time.Second)
		// An error is fine here: the node may just lose its leader.
		_ = n.Redis().Set(ctx, fmt.Sprintf("load:%d", i/len(value)%4), value, time.Minute).Err()
		cancel()
	}
}

// TestWipedVoterDoesNotVote: a node that lost its disk under its old id must not
// help to elect a leader that lacks what was acknowledged.
func TestWipedVoterDoesNotVote(t *testing.T) {
	c := process.Start(t, 3)
	ctx := context.Background()
	leader := c.Leader()
	wiped, cutOff := c.Others(leader)[0], c.Others(leader)[1]
	cutOff.Kill()
	if err := leader.Redis().SetNX(ctx, "L", "tokA", time.Hour).Err(); err != nil {
		t.Fatal(err)
	}
	leader.Kill()
	wiped.Kill()
	clear := func(dir string) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
				t.Fatal(err)
			}
		}
	}
	clear(wiped.Dir)
	wiped.Start()
	cutOff.Start()
	deadline := time.After(8 * time.Second)
	for watching := true; watching; {
		select {
		case <-deadline:
			watching = false
		case <-time.After(100 * time.Millisecond):
			for _, n := range []*process.Node{wiped, cutOff} {
				if n.Info("raft_role") == "leader" {
					t.Fatalf("%s leads without the acknowledged lock", n.ID)
				}
			}
		}
	}
	leader.Start()
	c.Ready()
	for _, n := range c.Nodes {
		if v, err := n.Redis().Get(ctx, "L").Result(); v != "tokA" || err != nil {
			t.Errorf("%s has %q for the lock (%v)", n.ID, v, err)
		}
	}
	// It has its vote back: the cluster lives on with it and one other.
	process.Until(t, "the wiped node votes again", func() bool { return wiped.Info("raft_voter") == "1" })
	leader.Kill()
	firstSuccess(t, wiped)
}
