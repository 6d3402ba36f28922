package server

import (
	"maps"
	"strings"
	"sync"
	"time"

	"github.com/redfence/redfence/fsm"
	"github.com/redfence/redfence/redlockcompat"
)

// misdirected counts locks that clients asked of several nodes' shared ports, as
// if those were masters of their own, and says so in the log, once in HintEvery.
type misdirected struct {
	mu      sync.Mutex
	clients map[string]int64 // by client, at most HintClientsMax of them
	last    time.Time
	partial bool // what was said last lacked the addresses of a node
	unsaid  int64
	asked   map[string]time.Time // by client and lock, when it was last asked in vain
}

// again says whether a client has asked in vain for one lock within HintEvery
// before. One that lists several nodes as masters does so with each attempt, or at
// the next; one that lost a reply asks another node once, and is right to.
func (m *misdirected) again(client, lock string, now time.Time) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.asked == nil || len(m.asked) >= HintLocksMax {
		m.asked = map[string]time.Time{}
	}
	key := client + "\x00" + lock
	before, known := m.asked[key]
	m.asked[key] = now
	return known && now.Sub(before) < HintEvery
}

// note counts one and answers how many there were since it was last to be said,
// 0 for nothing to say now. What is said while a node has not told its addresses
// yet, as in a cluster's first moments, doesn't keep the whole from being said.
func (m *misdirected) note(client string, now time.Time, partial bool) int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.clients == nil {
		m.clients = map[string]int64{}
	}
	if _, known := m.clients[client]; !known && len(m.clients) >= HintClientsMax {
		client = "others"
	}
	m.clients[strings.Clone(client)]++
	m.unsaid++
	if whole := m.partial && !partial; !whole && !m.last.IsZero() && now.Sub(m.last) < HintEvery {
		return 0
	}
	n := m.unsaid
	m.last, m.partial, m.unsaid = now, partial, 0
	return n
}

func (m *misdirected) all() map[string]int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.clients)
}

// quorumAsked takes the machine's word that a client of this node, or of another,
// lists several nodes as masters. The node that was asked in vain tells.
func (s *Server) quorumAsked(e *fsm.Event) {
	now := time.Now()
	again, st := s.misdirected.again(e.Name, e.Key, now), s.backend.Status()
	if !again || e.Payload != st.Node {
		return
	}
	var nodes []redlockcompat.Node
	partial := false
	for _, m := range st.Members {
		nodes = append(nodes, redlockcompat.Node{Name: m.Node, Seats: m.Seats})
		partial = partial || m.Client == ""
	}
	times := s.misdirected.note(e.Name, now, partial)
	if times == 0 {
		return
	}
	s.log.Warn(redlockcompat.Hint(e.Name, nodes), "lock", e.Key, "times", times)
}
