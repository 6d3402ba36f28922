package replica

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/redfence/redfence/fsm"
)

// known is what a node knows of a member.
type known struct {
	Disk  string `json:"disk"`
	Raft  string `json:"raft"`  // its raft address, as it told
	Index uint64 `json:"index"` // of the entry that said so; 0 from a birth
}

// roster is what a node knows of the members: their disks and their addresses.
// It is kept on disk, because after a restart the machine learns them only from
// a leader, and without them no leader could be found.
type roster struct {
	mu      sync.Mutex
	line    map[string]string // addresses of the --cluster line
	members map[string]known
	told    map[string]string // addresses that members gave themselves since this start
	disk    disk
}

func loadRoster(d disk, cfg *Config, founders map[string]known) (*roster, error) {
	r := &roster{line: map[string]string{}, members: map[string]known{}, told: map[string]string{}, disk: d}
	for _, p := range cfg.Cluster {
		r.line[p.ID] = p.Addr
	}
	data, err := d.read(rosterFile)
	switch {
	case absent(err):
		maps.Copy(r.members, founders)
	case err != nil:
		return nil, fmt.Errorf("roster: %w", err)
	default:
		if err := json.Unmarshal(data, &r.members); err != nil {
			return nil, fmt.Errorf("roster %s: %w", d.path(rosterFile), err)
		}
	}
	return r, nil
}

// verdict is what the roster thinks of a node that says who it is.
type verdict int

const (
	sameDisk  verdict = iota // it is the member that we know
	otherDisk                // its id is known with another disk: it has lost what it knew
	stranger                 // its id is not known
)

func (r *roster) judge(node, disk string) verdict {
	r.mu.Lock()
	defer r.mu.Unlock()
	k, ok := r.members[node]
	switch {
	case !ok:
		return stranger
	case k.Disk != disk:
		return otherDisk
	}
	return sameDisk
}

// addresses are the places to look for a node: what the line says, what is
// recorded, and what the node told.
func (r *roster) addresses(node string) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []string
	if a := r.line[node]; a != "" {
		out = append(out, a)
	}
	for _, a := range []string{r.members[node].Raft, r.told[node]} {
		if a != "" && !slices.Contains(out, a) {
			out = append(out, a)
		}
	}
	return out
}

// tell notes where a member says that it is: one that has moved finds the others
// before they find it.
func (r *roster) tell(node, addr string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.told[node] = addr
}

// all is a copy of what is known.
func (r *roster) all() map[string]known {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.members)
}

// learn takes over what is newer than what is known, and drops members that
// left. It returns the nodes whose disk is not the one they had.
func (r *roster) learn(news map[string]known, gone func(node string, k known) bool) (changed []string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	touched := false
	for node, k := range news {
		old, ok := r.members[node]
		if ok && (old == k || k.Index < old.Index) {
			continue
		}
		if ok && old.Disk != k.Disk {
			changed = append(changed, node)
		}
		r.members[node], touched = k, true
	}
	for node, k := range r.members {
		if gone != nil && gone(node, k) {
			delete(r.members, node)
			changed, touched = append(changed, node), true
		}
	}
	if !touched {
		return nil, nil
	}
	data, err := json.MarshalIndent(r.members, "", "  ")
	if err != nil {
		return nil, err
	}
	return changed, r.disk.write(rosterFile, append(data, '\n'))
}

// adopt takes over what the machine says at index.
func (r *roster) adopt(members []fsm.Member, ship fsm.Membership, index uint64) ([]string, error) {
	news := map[string]known{}
	for i := range members {
		m := &members[i]
		news[m.Node] = known{Disk: m.Disk, Raft: m.Raft, Index: index}
	}
	r.mu.Lock()
	for node, k := range news {
		// A record that says the same keeps its index, so that nothing is written for it.
		if old, ok := r.members[node]; ok && old.Disk == k.Disk && old.Raft == k.Raft {
			delete(news, node)
		}
	}
	r.mu.Unlock()
	return r.learn(news, func(node string, k known) bool {
		return len(ship.Voters) > 0 && !ship.Has(node) && k.Index < ship.Index
	})
}
