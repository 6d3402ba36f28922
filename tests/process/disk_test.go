package process_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
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
	victim := c.Nodes[0]
	victim.Dir = smallDisk(t)
	for _, n := range c.Nodes {
		n.Start()
	}
	c.Ready()
	other := c.Nodes[1]
	for _, leads := range []bool{true, false} {
		giveLeadership(t, c, victim, leads)
		filler := filepath.Join(victim.Dir, "filler")
		fill(t, filler)
		stop := load(t, other)
		if err := victim.Exited(); err == nil {
			t.Errorf("a full disk (leader: %v) ended the node with status 0", leads)
		}
		if log := victim.Log(); !strings.Contains(log, "no space left on device") || !strings.Contains(log, victim.Dir) {
			t.Errorf("the log does not say what is full and where:\n%.2000s", log)
		}
		if took := firstSuccess(t, other); took > 10*time.Second {
			t.Errorf("the others served again only after %v", took)
		}
		stop()
		if err := os.Remove(filler); err != nil {
			t.Fatal(err)
		}
		victim.Start()
		c.Ready()
		if n, err := victim.Redis().Exists(context.Background(), "probe").Result(); n != 1 || err != nil {
			t.Errorf("the node (leader: %v) has lost its data: %v %v", leads, n, err)
		}
	}
}

// giveLeadership restarts leaders until the node leads, or does not.
func giveLeadership(t *testing.T, c *process.Cluster, n *process.Node, leads bool) {
	t.Helper()
	process.Until(t, "leadership is where the test wants it", func() bool {
		leader := c.Leader()
		if (leader == n) == leads {
			return true
		}
		if err := leader.Terminate(); err != nil {
			t.Errorf("%s ended with %v", leader.ID, err)
		}
		leader.Start()
		c.Ready()
		return false
	})
}

// smallDisk is a file system of 200 MB for one test. It takes root to make one.
func smallDisk(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=200m", "redfence-test", dir).CombinedOutput()
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

// load writes through a node, in values of 256 KiB, until the function that it
// returns is called.
func load(t *testing.T, n *process.Node) (stop func()) {
	t.Helper()
	value := strings.Repeat("x", 256<<10)
	ctx, cancel := context.WithCancel(context.Background())
	var writers sync.WaitGroup
	for i := range 4 {
		writers.Go(func() {
			for ctx.Err() == nil {
				// An error is fine here: the node may just lose its leader.
				_ = n.Redis().Set(ctx, fmt.Sprintf("load:%d", i), value, time.Minute).Err()
			}
		})
	}
	return func() {
		cancel()
		writers.Wait()
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
