package replica

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/redfence/redfence/fsm"
)

// enterCluster makes a node without data a member of a cluster: its own, one
// that is born now, or one that lets it in. It returns false when the node is
// closed meanwhile.
func (n *Node) enterCluster() bool {
	if len(n.cfg.Cluster) == 0 && n.cfg.Join == "" && n.identity.get().Phase == phaseNew {
		if err := n.foundAlone(); err != nil {
			n.fatal(err)
			return false
		}
		return true
	}
	for {
		done, err := n.tryToEnter()
		if err != nil {
			n.sayOften("waiting to enter the cluster: " + err.Error())
		}
		if done {
			return true
		}
		select {
		case <-n.stop:
			return false
		case <-n.council.begin:
			return true
		case <-time.After(birthRetry):
		}
	}
}

func (n *Node) tryToEnter() (bool, error) {
	if n.cfg.Join != "" && n.identity.get().Phase == phaseNew {
		return n.join(n.cfg.Join)
	}
	return n.beBorn()
}

// foundAlone begins a cluster of this one node.
func (n *Node) foundAlone() error {
	return n.identity.change(func(id *identity) {
		id.Cluster, id.Phase, id.Seats = randomID(), phaseChosen, orDefaultSeats(n.cfg.Seats)
		id.Founders = map[string]known{id.Node: {Disk: id.Disk, Raft: n.cfg.RaftAdvertise}}
	})
}

func orDefaultSeats(seats uint8) uint8 {
	if seats == 0 {
		return defaultSeats // no seat port here says nothing about the cluster
	}
	return seats
}

// beBorn asks every node of the line what it has. If anybody has data, the
// cluster is there and this node asks to be let in. If nobody has, the first by
// name makes the cluster: all fsync its id and everybody's disk before any begins.
func (n *Node) beBorn() (bool, error) {
	id := n.identity.get()
	heard := map[string]*response{id.Node: n.describeSelf()}
	var silent []error
	for node, addr := range n.candidates() {
		r, err := n.ask(node, addr, &question{Op: opState})
		if err != nil {
			silent = append(silent, err)
			continue
		}
		heard[node] = r
		if r.Phase == phaseBorn || r.Phase == phaseJoined {
			return n.enterBorn(&id, r, addr)
		}
	}
	if len(silent) > 0 {
		return false, errors.Join(silent...)
	}
	names := sortedKeys(heard)
	for _, node := range names {
		if line := heard[node].Line; len(line) > 0 && !slices.Equal(line, names) {
			return false, fmt.Errorf("node %s has another --cluster line: %v, not %v", node, line, names)
		}
	}
	if names[0] != id.Node {
		return false, nil // the first by name asks us
	}
	return n.found(names, heard)
}

// candidates are the other nodes of the line, or of the founders when the line
// is not given any more, with an address each.
func (n *Node) candidates() map[string]string {
	out := map[string]string{}
	for _, p := range n.cfg.Cluster {
		out[p.ID] = p.Addr
	}
	if len(out) == 0 {
		for node, k := range n.identity.get().Founders {
			out[node] = k.Raft
		}
	}
	delete(out, n.cfg.NodeID)
	return out
}

// enterBorn enters a cluster that has data.
func (n *Node) enterBorn(id *identity, r *response, addr string) (bool, error) {
	if id.Phase == phaseChosen && id.Cluster == r.Cluster && r.Members[id.Node].Disk == id.Disk {
		return true, nil // the birth went on while this node was away: it has lost nothing
	}
	if id.Phase == phaseChosen && id.Cluster != r.Cluster {
		return false, fmt.Errorf("node %s belongs to cluster %s, this node has agreed to be born into %s", r.Node, r.Cluster, id.Cluster)
	}
	return n.join(addr)
}

// found makes the cluster, on the first by name.
func (n *Node) found(names []string, heard map[string]*response) (bool, error) {
	q := question{Op: opPrepare, Founders: map[string]known{}}
	places := n.candidates()
	places[n.cfg.NodeID] = n.cfg.RaftAdvertise
	for _, node := range names {
		r := heard[node]
		if r.Cluster != "" && q.Cluster != "" && r.Cluster != q.Cluster {
			return false, fmt.Errorf("node %s has agreed to be born into another cluster, %s", node, r.Cluster)
		}
		if r.Cluster != "" {
			q.Cluster = r.Cluster
		}
		if q.Seats == 0 {
			q.Seats = r.Seats // of the first by name that has any
		}
		q.Founders[node] = known{Disk: r.Disk, Raft: places[node]}
	}
	q.Seats = orDefaultSeats(q.Seats)
	if q.Cluster == "" {
		q.Cluster = randomID()
	}
	if err := n.prepare(&q); err != nil {
		return false, err
	}
	for _, node := range names[1:] {
		if _, err := n.ask(node, places[node], &q); err != nil {
			return false, fmt.Errorf("node %s can't be a founder: %w", node, err)
		}
	}
	n.log.Info("a cluster is born", "cluster", q.Cluster, "nodes", names, "seats", q.Seats)
	for _, node := range names[1:] {
		// A node that misses this sees that others have begun.
		if _, err := n.ask(node, places[node], &question{Op: opGo, Cluster: q.Cluster}); err != nil {
			n.log.Info("a founder will find out by itself that the cluster is born", "founder", node, "error", err)
		}
	}
	return true, nil
}

// prepare agrees to be a founder and fsyncs that.
func (n *Node) prepare(q *question) error {
	id := n.identity.get()
	switch {
	case n.raft.Load() != nil || id.Phase == phaseBorn || id.Phase == phaseJoined:
		return errors.New("it has data of cluster " + id.Cluster)
	case id.Phase == phaseChosen && id.Cluster != q.Cluster:
		return errors.New("it has agreed to be born into another cluster, " + id.Cluster)
	case q.Founders[id.Node].Disk != id.Disk:
		return errors.New("it is not among the founders with its disk")
	case n.cfg.Seats != 0 && n.cfg.Seats != q.Seats:
		return fmt.Errorf("it has %d seats, the first by name has %d", n.cfg.Seats, q.Seats)
	}
	if err := n.identity.change(func(id *identity) {
		id.Cluster, id.Phase, id.Seats, id.Founders = q.Cluster, phaseChosen, q.Seats, q.Founders
	}); err != nil {
		return err
	}
	n.learn(q.Founders)
	return nil
}

// goAhead begins: every founder is prepared.
func (n *Node) goAhead(q *question) error {
	id := n.identity.get()
	if id.Phase != phaseChosen || id.Cluster != q.Cluster {
		return errors.New("it has not agreed to be born into this cluster")
	}
	n.council.letBegin()
	return nil
}

// noteBorn remembers that this directory has had a log.
func (n *Node) noteBorn() error {
	if n.identity.get().Phase == phaseBorn {
		return nil
	}
	return n.identity.change(func(id *identity) { id.Phase = phaseBorn })
}

// join asks the node at an address, or whoever leads according to it, to be let in.
func (n *Node) join(addr string) (bool, error) {
	id := n.identity.get()
	r, err := n.ask("", addr, &question{Op: opState})
	if err != nil {
		return false, err
	}
	if r.Cluster != "" && n.cfg.Seats != 0 && n.cfg.Seats != r.Seats {
		return false, fmt.Errorf("the cluster has %d seats, not %d", r.Seats, n.cfg.Seats)
	}
	q := question{Op: opJoin, Cluster: id.Cluster, Member: n.ownRecord()}
	r, err = n.ask("", addr, &q)
	for hop := 0; err != nil && r != nil && r.Leader != "" && r.Leader != r.Node && hop < 3; hop++ {
		asked := r
		for _, place := range asked.Place {
			if r, err = n.ask(asked.Leader, place, &q); r != nil {
				break
			}
		}
	}
	if err != nil {
		return false, err
	}
	err = n.identity.change(func(id *identity) {
		id.Cluster, id.Phase, id.Seats, id.Founders = r.Cluster, phaseJoined, r.Seats, nil
	})
	if err != nil {
		return false, err
	}
	n.learn(r.Members)
	n.log.Info("let into a cluster", "cluster", r.Cluster, "by", r.Node)
	return true, nil
}

// ownRecord is what this node tells the cluster about itself.
func (n *Node) ownRecord() fsm.Member {
	return fsm.Member{
		Node: n.cfg.NodeID, Disk: n.identity.get().Disk, Raft: n.cfg.RaftAdvertise,
		Client: n.cfg.Addresses.Client, Seats: n.cfg.Addresses.Seats, HTTP: n.cfg.Addresses.HTTP, Version: n.cfg.Version,
	}
}
