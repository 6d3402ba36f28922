package replica

import "github.com/hashicorp/raft"

// recentLog keeps the newest entries in memory, since each is read again soon: a
// leader sends it to each follower, a follower applies it. It keeps recentEntries,
// and none of an append of more than recentBytes.
type recentLog struct {
	*raft.LogCache
	below raft.LogStore
}

func newRecentLog(below raft.LogStore) (*recentLog, error) {
	cache, err := raft.NewLogCache(recentEntries, below)
	return &recentLog{cache, below}, err
}

func (l *recentLog) StoreLog(log *raft.Log) error { return l.StoreLogs([]*raft.Log{log}) }

// StoreLogs never meets an older entry of the same index in memory: raft shortens
// the log before it writes an entry anew, and that forgets all that is kept.
func (l *recentLog) StoreLogs(logs []*raft.Log) error {
	size := 0
	for _, entry := range logs {
		size += len(entry.Data)
	}
	if size > recentBytes {
		return l.below.StoreLogs(logs)
	}
	return l.LogCache.StoreLogs(logs)
}

var (
	_ raft.LogStore          = (*recentLog)(nil)
	_ raft.MonotonicLogStore = (*recentLog)(nil)
)
