package replica

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/hashicorp/raft"
	raftboltdb "github.com/hashicorp/raft-boltdb/v2"
	wal "github.com/hashicorp/raft-wal"
	"github.com/hashicorp/raft-wal/metadb"
	"go.etcd.io/bbolt"
)

// openLog opens the log of a directory. Both kinds fsync each append.
func openLog(d *directory, kind string, n *Node) (raft.LogStore, func() error, error) {
	if kind == LogStoreBolt {
		store, err := openBolt(d.path(boltLogFile))
		if err != nil {
			return nil, nil, fmt.Errorf("log %s: %w", d.path(boltLogFile), err)
		}
		return store, store.Close, nil
	}
	path := d.path(walDir)
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, nil, fmt.Errorf("log: %w", err)
	}
	meta := &metadb.BoltMetaDB{} // made here because the log doesn't close its own
	store, err := wal.Open(path, wal.WithLogger(n.raftLog("wal")), wal.WithSegmentSize(logSegmentBytes), wal.WithMetaStore(meta))
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("log %s: %w", path, err), meta.Close())
	}
	closeAll := func() error { return errors.Join(store.Close(), meta.Close()) }
	if err := syncDir(d.dir); err != nil {
		return nil, nil, errors.Join(err, closeAll())
	}
	return store, closeAll, nil
}

func openBolt(path string) (*raftboltdb.BoltStore, error) {
	return raftboltdb.New(raftboltdb.Options{
		Path: path,
		// The freelist is rebuilt at the start instead of written with each commit;
		// the map finds free pages fast in a file that was once large.
		BoltOptions:             &bbolt.Options{Timeout: time.Second, NoFreelistSync: true, FreelistType: bbolt.FreelistMapType},
		MsgpackUseNewTimeFormat: true,
	})
}

// diskWatch notices writes that fail or don't end, and ends the node. Raft's
// main loop hangs in a write while heartbeats go on, so a leader with a frozen
// disk can't step down by itself.
type diskWatch struct {
	mu      sync.Mutex
	counted func() time.Duration // capped time: a stopped process doesn't end itself
	fatal   func(error)
	writes  map[*diskWrite]struct{}
}

type diskWrite struct {
	what  string
	since time.Duration
}

func newDiskWatch(counted func() time.Duration, fatal func(error)) *diskWatch {
	return &diskWatch{counted: counted, fatal: fatal, writes: map[*diskWrite]struct{}{}}
}

// do runs one write.
func (w *diskWatch) do(what string, write func() error) error {
	op := &diskWrite{what, w.counted()}
	w.mu.Lock()
	w.writes[op] = struct{}{}
	w.mu.Unlock()
	err := write()
	w.mu.Lock()
	delete(w.writes, op)
	w.mu.Unlock()
	if err != nil {
		err = fmt.Errorf("disk: %s: %w", what, err)
		w.fatal(err)
	}
	return err
}

// oldest is the write that has run longest, and for how long.
func (w *diskWatch) oldest() (what string, runs time.Duration) {
	now := w.counted()
	w.mu.Lock()
	defer w.mu.Unlock()
	for op := range w.writes {
		if now-op.since >= runs {
			what, runs = op.what, now-op.since
		}
	}
	return what, runs
}

// run looks at the writes until stop is closed.
func (w *diskWatch) run(stop <-chan struct{}) {
	ticker := time.NewTicker(clockTick)
	defer ticker.Stop()
	for {
		select {
		case <-stop:
			return
		case <-ticker.C:
		}
		w.look()
	}
}

func (w *diskWatch) look() {
	if what, runs := w.oldest(); runs > diskWriteMax {
		w.fatal(fmt.Errorf("disk: %s has taken %v and has not ended", what, runs.Round(time.Millisecond)))
	}
}

// watchedLog is a log whose writes are watched.
type watchedLog struct {
	raft.LogStore
	watch *diskWatch
	path  string
	hook  func(op string) error // of tests: a fault to inject
}

var (
	_ raft.LogStore          = (*watchedLog)(nil)
	_ raft.MonotonicLogStore = (*watchedLog)(nil)
)

// IsMonotonic says whether the store needs entries without a gap.
func (l *watchedLog) IsMonotonic() bool {
	m, ok := l.LogStore.(raft.MonotonicLogStore)
	return ok && m.IsMonotonic()
}

func (l *watchedLog) fault(op string) error {
	if l.hook == nil {
		return nil
	}
	return l.hook(op)
}

func (l *watchedLog) StoreLog(log *raft.Log) error { return l.StoreLogs([]*raft.Log{log}) }

func (l *watchedLog) StoreLogs(logs []*raft.Log) error {
	return l.watch.do("append to the log "+l.path, func() error {
		return errors.Join(l.fault("append"), l.LogStore.StoreLogs(logs))
	})
}

func (l *watchedLog) DeleteRange(from, to uint64) error {
	return l.watch.do("shorten the log "+l.path, func() error {
		return errors.Join(l.fault("shorten"), l.LogStore.DeleteRange(from, to))
	})
}

func (l *watchedLog) GetLog(index uint64, log *raft.Log) error {
	err := l.LogStore.GetLog(index, log)
	if err == nil || errors.Is(err, raft.ErrLogNotFound) || errors.Is(err, wal.ErrNotFound) {
		if err != nil {
			err = raft.ErrLogNotFound // raft compares, it doesn't unwrap
		}
		return err
	}
	return l.watch.do(fmt.Sprintf("read entry %d of the log %s", index, l.path), func() error { return err })
}

// watchedStable is a stable store whose writes are watched.
type watchedStable struct {
	raft.StableStore
	watch *diskWatch
	path  string
}

func (s *watchedStable) Set(key, val []byte) error {
	return s.watch.do("write "+s.path, func() error { return s.StableStore.Set(key, val) })
}

func (s *watchedStable) SetUint64(key []byte, val uint64) error {
	return s.watch.do("write "+s.path, func() error { return s.StableStore.SetUint64(key, val) })
}
