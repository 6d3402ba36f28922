package replica

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"time"

	"github.com/redfence/redfence/fsm"
)

// Questions of birth and membership: one frame of JSON each way.
const (
	opState   = "state"   // who are you, and whom do you know
	opPrepare = "prepare" // be one of these founders
	opGo      = "go"      // all founders are prepared: begin
	opJoin    = "join"    // let this node in
)

// question is what one node asks another.
type question struct {
	Op       string
	Cluster  string           `json:",omitempty"`
	Seats    uint8            `json:",omitempty"`
	Founders map[string]known `json:",omitempty"`
	Member   fsm.Member       // who asks
}

// response is what it gets. Every response says who answers.
type response struct {
	Error   string `json:",omitempty"` // why not
	Node    string
	Disk    string
	Cluster string
	Phase   phase
	Seats   uint8
	Line    []string         `json:",omitempty"` // ids of its --cluster line
	Leader  string           `json:",omitempty"` // who leads, and where
	Place   []string         `json:",omitempty"`
	Members map[string]known `json:",omitempty"`
}

// ask asks whoever is at an address; node is "" if anybody there will do.
func (n *Node) ask(node, addr string, q *question) (*response, error) {
	ctx, cancel := context.WithTimeout(n.life, controlTimeout)
	defer cancel()
	conn, _, err := n.port.dialAddr(ctx, kindControl, node, addr)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(controlTimeout))
	text, err := json.Marshal(q)
	if err != nil {
		return nil, err
	}
	if _, err := conn.Write(appendFrame(nil, 1, func(b []byte) []byte { return append(b, text...) })); err != nil {
		return nil, err
	}
	_, body, err := readFrame(bufio.NewReader(conn), controlMax)
	if err != nil {
		return nil, err
	}
	r := new(response)
	if err := json.Unmarshal(body, r); err != nil {
		return nil, err
	}
	if r.Error != "" {
		return r, errors.New(r.Error)
	}
	return r, nil
}

// answerControl answers one question on a greeted connection.
func (n *Node) answerControl(conn net.Conn) {
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(2 * controlTimeout))
	_, body, err := readFrame(bufio.NewReader(conn), controlMax)
	if err != nil {
		return
	}
	q := new(question)
	if err := json.Unmarshal(body, q); err != nil {
		return
	}
	err = n.heed(q)
	r := n.describeSelf()
	if err != nil {
		r.Error = err.Error()
	}
	text, err := json.Marshal(r)
	if err != nil {
		return
	}
	conn.Write(appendFrame(nil, 2, func(b []byte) []byte { return append(b, text...) })) // who asked sees that nothing came
}

// heed does what a question asks for.
func (n *Node) heed(q *question) error {
	switch q.Op {
	case opState:
		n.meet(&q.Member)
		return nil
	case opPrepare:
		return n.prepare(q)
	case opGo:
		return n.goAhead(q)
	case opJoin:
		return n.admit(q)
	}
	return fmt.Errorf("unknown question %q", q.Op)
}

// meet takes note of where a member says that it is.
func (n *Node) meet(m *fsm.Member) {
	if m.Node == "" || n.roster.judge(m.Node, m.Disk) != sameDisk || slices.Contains(n.roster.addresses(m.Node), m.Raft) {
		return
	}
	n.roster.tell(m.Node, m.Raft)
	if n.serving.Load() != nil {
		n.heard(*m)
	}
}

func (n *Node) describeSelf() *response {
	id := n.identity.get()
	r := &response{Node: id.Node, Disk: id.Disk, Cluster: id.Cluster, Phase: id.Phase, Seats: n.cfg.Seats, Members: n.roster.all()}
	if id.Cluster != "" {
		r.Seats = id.Seats
	}
	for _, p := range n.cfg.Cluster {
		r.Line = append(r.Line, p.ID)
	}
	slices.Sort(r.Line)
	if leader := n.leader(); leader != "" {
		r.Leader, r.Place = leader, n.roster.addresses(leader)
	}
	return r
}

// leader is the node that leads as far as this one knows, "" if none.
func (n *Node) leader() string {
	r := n.raft.Load()
	if r == nil {
		return ""
	}
	_, id := r.LeaderWithID()
	return string(id)
}

// askAround makes the node ask those whom it knows for whom they know.
func (n *Node) askAround() { poke(n.askDue) }

// gossip asks around when somebody unknown was met, or while nobody leads.
func (n *Node) gossip() {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		met := false
		select {
		case <-n.stop:
			return
		case <-n.askDue:
			met = true
		case <-ticker.C:
		}
		if !met && (n.leader() != "" || n.raft.Load() == nil) {
			continue
		}
		n.askMembers()
		if met { // not more often than the ticker
			select {
			case <-n.stop:
				return
			case <-ticker.C:
			}
		}
	}
}

func (n *Node) askMembers() {
	id := n.identity.get()
	for _, node := range sortedKeys(n.roster.all()) {
		if node == id.Node {
			continue
		}
		for _, addr := range n.roster.addresses(node) {
			r, err := n.ask(node, addr, &question{Op: opState, Member: n.ownRecord()})
			if err != nil {
				continue
			}
			if r.Cluster == id.Cluster && n.roster.judge(r.Node, r.Disk) == sameDisk {
				n.learn(r.Members)
			}
			break
		}
	}
}

// learn takes over what another member knows.
func (n *Node) learn(members map[string]known) {
	changed, err := n.roster.learn(members, nil)
	if err != nil {
		n.fatal(fmt.Errorf("disk: %w", err))
	}
	n.port.cut(changed)
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
