package replica

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/redfence/redfence/fsm"
	"github.com/redfence/redfence/fsm/reply"
)

func (c *cluster) wipe(i int) {
	c.t.Helper()
	if err := os.RemoveAll(c.cfgs[i].Dir); err != nil {
		c.t.Fatal(err)
	}
}

// voter says what n knows of a member's vote.
func voter(n *Node, id string) (votes, known bool) {
	for _, m := range n.Status().Members {
		if m.Node == id {
			return m.Voter, true
		}
	}
	return false, false
}

// B71: with the one node away that remembers, a wiped one must not help to
// elect a leader that lacks what was acknowledged.
func TestWipedVoterDoesNotVote(t *testing.T) {
	c := newCluster(t, 3)
	leader := c.leader()
	cut := c.another(leader)
	wiped := c.another(leader, cut)
	c.stop(cut)
	wantReply(t, do(t, c.nodes[leader], "set", "l", "tok", "nx", "px", "600000"), reply.OK)
	c.stop(leader)
	c.stop(wiped)
	c.wipe(wiped)
	c.cfgs[wiped].NoLeaderWait, c.cfgs[cut].NoLeaderWait = 100*time.Millisecond, 100*time.Millisecond
	c.start(wiped)
	c.start(cut)
	// Many elections' worth of time.
	for range 15 {
		for _, i := range []int{wiped, cut} {
			if _, err := c.nodes[i].Do(t.Context(), client("x"), cmds("get", "l")); err != ErrNoLeader {
				t.Fatalf("node %d of a cluster without a memory answered %v", i+1, err)
			}
		}
	}
	c.start(leader)
	c.ready()
	wantReply(t, do(t, c.nodes[wiped], "get", "l"), reply.String("tok"))
	id := c.cfgs[wiped].NodeID
	eventually(t, 10*time.Second, "it has its vote back", func() bool {
		votes, _ := voter(c.nodes[c.leader()], id)
		return votes
	})
}

// In an idle cluster a wiped node is let in again within ten seconds, with no
// client's help, and then counts.
func TestWipedNodeComesBackToAnIdleCluster(t *testing.T) {
	c := newCluster(t, 3)
	leader := c.leader()
	do(t, c.nodes[leader], "set", "l", "tok", "px", "600000")
	wiped := c.another(leader)
	id, disk := c.cfgs[wiped].NodeID, c.nodes[wiped].identity.get().Disk
	c.stop(wiped)
	c.wipe(wiped)
	c.start(wiped)
	began := time.Now()
	eventually(t, 10*time.Second, "it votes with its new disk", func() bool {
		votes, _ := voter(c.nodes[leader], id)
		return votes && c.nodes[leader].roster.judge(id, c.nodes[wiped].identity.get().Disk) == sameDisk
	})
	t.Logf("back with a vote after %v", time.Since(began))
	if c.nodes[wiped].identity.get().Disk == disk {
		t.Fatal("a wiped disk kept its id")
	}
	other := c.another(leader, wiped)
	c.stop(other)
	wantReply(t, do(t, c.nodes[wiped], "get", "l"), reply.String("tok"))
	wantReply(t, do(t, c.nodes[wiped], "incr", "c"), reply.Integer(1))
}

func TestJoinByAddress(t *testing.T) {
	c := newCluster(t, 1, func(cfg *Config) { cfg.Cluster = nil })
	do(t, c.nodes[0], "set", "k", "v")
	for _, id := range []string{"n2", "n3"} {
		cfg := testConfig(t, id, t.TempDir())
		cfg.Join = c.nodes[len(c.nodes)-1].RaftAddr() // not always the leader's
		cfg.RaftListen = freeAddr(t)
		cfg.Addresses = Addresses{Client: id + ":6379", Seats: []string{id + ":6381"}, HTTP: id + ":8379"}
		c.cfgs = append(c.cfgs, cfg)
		c.nodes = append(c.nodes, start(t, cfg))
		ready(t, c.nodes[len(c.nodes)-1])
		eventually(t, 10*time.Second, id+" votes", func() bool {
			votes, _ := voter(c.nodes[0], id)
			return votes
		})
	}
	eventually(t, 5*time.Second, "all know where n2 serves", func() bool {
		for _, n := range c.nodes {
			known := false
			for _, m := range n.Status().Members {
				known = known || m.Node == "n2" && m.Client == "n2:6379" && m.HTTP == "n2:8379"
			}
			if !known {
				return false
			}
		}
		return true
	})
	c.stop(0)
	wantReply(t, do(t, c.nodes[2], "get", "k"), reply.String("v"))
	// --join is ignored once there is data, and no line is needed to come back.
	c.stop(1)
	c.stop(2)
	for i := 1; i < 3; i++ {
		c.cfgs[i].Join = "127.0.0.1:1"
		c.start(i)
	}
	c.ready()
	wantReply(t, do(t, c.nodes[1], "get", "k"), reply.String("v"))
}

// Node ids are not enough: a node of another cluster is told so and keeps out.
func TestNodeOfAnotherClusterIsRefused(t *testing.T) {
	a := newCluster(t, 1, func(cfg *Config) { cfg.Cluster = nil })
	b := newCluster(t, 1, func(cfg *Config) { cfg.Cluster = nil })
	do(t, a.nodes[0], "set", "k", "a")
	do(t, b.nodes[0], "set", "k", "b")
	// b's node is started again with a line that names a's as a member.
	b.stop(0)
	b.cfgs[0].RaftListen = freeAddr(t)
	b.cfgs[0].Cluster = []Peer{{"n1", b.cfgs[0].RaftListen}, {"n2", a.nodes[0].RaftAddr()}}
	b.start(0)
	b.ready()
	wantReply(t, do(t, b.nodes[0], "get", "k"), reply.String("b"))
	// A stranger that greets with the wrong cluster is refused on each kind of connection.
	for _, kind := range []byte{kindRaft, kindLink} {
		g := greetWith(t, a.nodes[0].RaftAddr(), greeting{Code: kind, Cluster: b.nodes[0].Status().Cluster, Node: "n1", Disk: "d"})
		if g.Code != welcomeOtherCluster {
			t.Errorf("kind %d: verdict %d", kind, g.Code)
		}
		g = greetWith(t, a.nodes[0].RaftAddr(), greeting{Code: kind, Cluster: a.nodes[0].Status().Cluster, Node: "n1", Disk: "d"})
		if g.Code != welcomeOtherDisk {
			t.Errorf("kind %d: verdict %d", kind, g.Code)
		}
		g = greetWith(t, a.nodes[0].RaftAddr(), greeting{Code: kind, Cluster: a.nodes[0].Status().Cluster, Node: "n9", Disk: "d"})
		if g.Code != welcomeStranger {
			t.Errorf("kind %d: verdict %d", kind, g.Code)
		}
	}
}

// B69: an old node with data and two empty ones with the same line never make
// a second cluster; the empty ones wait for a leader and none comes.
func TestMajorityOfEmptyNodesDoesNotOverruleData(t *testing.T) {
	c := newCluster(t, 3)
	do(t, c.nodes[0], "set", "k", "v")
	cluster := c.nodes[0].Status().Cluster
	old := c.leader()
	for i := range c.nodes {
		c.stop(i)
		if i != old {
			c.wipe(i)
		}
		c.cfgs[i].NoLeaderWait = 100 * time.Millisecond
	}
	for i := range c.nodes {
		c.start(i)
	}
	for range 15 {
		for _, n := range c.nodes {
			if _, err := n.Do(t.Context(), client("x"), cmds("set", "k", "w")); err != ErrNoLeader {
				t.Fatalf("%s: %v", n.cfg.NodeID, err)
			}
		}
	}
	for i, n := range c.nodes {
		if got := n.Status().Cluster; i == old && got != cluster || i != old && got != "" {
			t.Fatalf("%s is in cluster %q", n.cfg.NodeID, got)
		}
	}
}

// A birth that was interrupted after some had agreed goes on with the same id.
func TestBirthGoesOnAfterAnInterruption(t *testing.T) {
	c := planCluster(t, 3)
	n := c.start(0)
	founders := map[string]known{}
	for i := range c.nodes {
		founders[c.cfgs[i].NodeID] = known{Disk: "not yet known", Raft: c.cfgs[i].RaftListen}
	}
	founders["n1"] = known{Disk: n.identity.get().Disk, Raft: n.RaftAddr()}
	if err := n.prepare(&question{Op: opPrepare, Cluster: "chosen", Seats: 3, Founders: founders}); err != nil {
		t.Fatal(err)
	}
	c.stop(0)
	for i := range c.nodes {
		c.start(i)
	}
	c.ready()
	for _, n := range c.nodes {
		if got := n.Status().Cluster; got != "chosen" {
			t.Fatalf("%s was born into %q", n.cfg.NodeID, got)
		}
	}
	wantReply(t, do(t, c.nodes[2], "incr", "c"), reply.Integer(1))
}

func TestSeatsOfTheFirstByName(t *testing.T) {
	c := planCluster(t, 3)
	c.cfgs[0].Seats, c.cfgs[1].Seats, c.cfgs[2].Seats = 5, 0, 5
	for i := range c.nodes {
		c.start(i)
	}
	c.ready()
	for _, n := range c.nodes {
		eventually(t, 5*time.Second, "five seats", func() bool { return n.Status().Seats == 5 && len(n.Status().Keys) == 6 })
	}
	d := planCluster(t, 2)
	d.cfgs[0].Seats, d.cfgs[1].Seats = 5, 3
	d.start(0)
	d.start(1)
	eventually(t, 5*time.Second, "the other count is refused", func() bool {
		_, err := d.nodes[0].beBorn()
		return err != nil && strings.Contains(err.Error(), "it has 3 seats, the first by name has 5")
	})
}

// A second node under the id of one that is alive must not take its place.
func TestSecondNodeUnderALivingIdIsKeptOut(t *testing.T) {
	c := newCluster(t, 3)
	leader := c.leader()
	twin := c.another(leader)
	m := fsm.Member{Node: c.cfgs[twin].NodeID, Disk: "another", Raft: "127.0.0.1:1"}
	err := c.nodes[leader].admit(&question{Op: opJoin, Member: m})
	if err == nil || !strings.Contains(err.Error(), "alive") {
		t.Fatalf("got %v", err)
	}
	if votes, _ := voter(c.nodes[leader], m.Node); !votes {
		t.Fatal("the living node lost its vote")
	}
}

// B68: all nodes moved, and the line says where to; then one moves that the
// others' lines still name at its old place.
func TestNodesThatMoved(t *testing.T) {
	c := newCluster(t, 3)
	do(t, c.nodes[0], "set", "k", "v")
	var line []Peer
	for i := range c.nodes {
		c.stop(i)
		line = append(line, Peer{c.cfgs[i].NodeID, freeAddr(t)})
	}
	for i := range c.nodes {
		c.cfgs[i].RaftListen, c.cfgs[i].Cluster = line[i].Addr, line
		c.start(i)
	}
	c.ready()
	wantReply(t, do(t, c.nodes[1], "get", "k"), reply.String("v"))

	moved := c.another(c.leader())
	c.stop(moved)
	c.cfgs[moved].RaftListen = freeAddr(t)
	n := c.start(moved)
	ready(t, n)
	wantReply(t, do(t, n, "incr", "c"), reply.Integer(1))
	leader := c.nodes[c.leader()]
	eventually(t, 5*time.Second, "its new place is recorded", func() bool {
		for _, m := range leader.Status().Members {
			if m.Node == c.cfgs[moved].NodeID {
				return m.Raft == c.cfgs[moved].RaftListen
			}
		}
		return false
	})
}

// A node that was away while another joined learns who that is from those whom
// it knows, also when the newcomer leads.
func TestNodeThatWasAwayMeetsANewLeader(t *testing.T) {
	c := newCluster(t, 3)
	away := c.another(c.leader())
	c.stop(away)
	cfg := testConfig(t, "n4", t.TempDir())
	cfg.Join, cfg.RaftListen = c.cfgs[c.leader()].RaftListen, freeAddr(t)
	c.cfgs = append(c.cfgs, cfg)
	c.nodes = append(c.nodes, nil)
	ready(t, c.start(3))
	eventually(t, 10*time.Second, "n4 votes", func() bool {
		votes, _ := voter(c.nodes[c.leader()], "n4")
		return votes
	})
	for c.leader() != 3 {
		// It may fail while the newcomer is a little behind.
		_ = c.nodes[c.leader()].raft.Load().LeadershipTransferToServer("n4", "n4").Error()
	}
	do(t, c.nodes[3], "set", "k", "v")
	n := c.start(away)
	ready(t, n)
	wantReply(t, do(t, n, "get", "k"), reply.String("v"))
	eventually(t, 10*time.Second, "it has the log", func() bool {
		i1, h1 := n.StateHash()
		i2, h2 := c.nodes[3].StateHash()
		return i1 == i2 && h1 == h2
	})
}

// A crash while the first entries are written is no loss: the birth goes on.
func TestCrashWhileBeingBorn(t *testing.T) {
	cfg := testConfig(t, "n1", t.TempDir())
	d, err := openDirectory(cfg.Dir)
	if err != nil {
		t.Fatal(err)
	}
	full := cfg
	full.setDefaults()
	ids, err := loadIdentity(d, &full)
	if err != nil {
		t.Fatal(err)
	}
	founders := map[string]known{"n1": {Disk: ids.get().Disk}}
	if err := ids.change(func(id *identity) {
		id.Cluster, id.Phase, id.Seats, id.Founders = "c", phaseChosen, 3, founders
	}); err != nil {
		t.Fatal(err)
	}
	d.close()
	editStores(t, cfg.Dir, LogStoreWAL, func(s *stores) error {
		return s.stable.SetUint64([]byte("CurrentTerm"), 1)
	})
	n := start(t, cfg)
	ready(t, n)
	wantReply(t, do(t, n, "incr", "c"), reply.Integer(1))
	if got := n.Status().Cluster; got != "c" {
		t.Fatalf("born into %q", got)
	}
}
