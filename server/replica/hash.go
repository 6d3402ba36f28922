package replica

import "crypto/sha256"

// StateHash is a digest of the machine's whole state and the index of the last
// entry in it. Nodes that agree have the same digest at the same index. It reads
// all records, while the machine goes on.
func (n *Node) StateHash() (index uint64, digest [32]byte) {
	n.machine.mu.Lock()
	snapshot := n.machine.state.Snapshot()
	n.machine.mu.Unlock()
	h := sha256.New()
	// A hash accepts every write.
	_, _ = snapshot.WriteTo(h)
	return snapshot.Index(), [32]byte(h.Sum(nil))
}
