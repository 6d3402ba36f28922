package replica

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/hashicorp/raft"
	raftboltdb "github.com/hashicorp/raft-boltdb/v2"
	"go.etcd.io/bbolt"
)

// openLog opens the log of a directory. Both kinds fsync each append. The caller
// says where the snapshots are.
func openLog(d *directory, kind string, end *logEnd, n *Node) (*checkedLog, func() error, error) {
	path := d.path(logPath(kind))
	if kind == LogStoreBolt {
		switch _, _, begun := end.get(); {
		case begun && !exists(path):
			return nil, nil, fmt.Errorf("%s is gone, and with it this node's log; %s", path, joinAnew)
		case !begun: // at most half of it was made when a crash came
			if err := os.RemoveAll(path); err != nil {
				return nil, nil, err
			}
		}
		store, err := openBolt(path)
		if err != nil {
			return nil, nil, fmt.Errorf("log %s: %w; %s", path, err, joinAnew)
		}
		written := uint64(0)
		return &checkedLog{
			LogStore: store, end: end, path: path, cause: func() error { return nil },
			file: func(uint64) string { return path },
			newFile: func(n uint64) bool {
				if written += n; written < logSegmentBytes {
					return false
				}
				written = 0
				return true
			},
		}, store.Close, nil
	}
	store, parts, err := openWAL(path, end, n.raftLog("wal"))
	if err != nil {
		return nil, nil, fmt.Errorf("log %s: %w", path, err)
	}
	logs := &checkedLog{LogStore: store, end: end, path: path, cause: parts.cause, file: parts.file, newFile: parts.newFile}
	if err := syncDir(d.dir); err != nil {
		return nil, nil, errors.Join(err, store.Close())
	}
	return logs, store.Close, nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// openBolt opens a bolt file. bolt trusts its pages, and panics in goroutines of
// its own over what it finds in them, so they are looked at first.
func openBolt(path string) (store *raftboltdb.BoltStore, err error) {
	if exists(path) {
		if err := checkBolt(path); err != nil {
			return nil, err
		}
	}
	var file *os.File
	defer func() {
		if err != nil && file != nil {
			file.Close() // a panic leaves it open and locked
		}
	}()
	defer unfault(&err)()
	return raftboltdb.New(raftboltdb.Options{
		Path: path,
		// The freelist is rebuilt at the start instead of written with each commit;
		// the map finds free pages fast in a file that was once large.
		BoltOptions: &bbolt.Options{
			Timeout: time.Second, NoFreelistSync: true, FreelistType: bbolt.FreelistMapType,
			OpenFile: func(name string, flag int, mode os.FileMode) (*os.File, error) {
				file, err = os.OpenFile(name, flag, mode)
				return file, err
			},
		},
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

// look ends the node when a write hangs.
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

// GetLog ends the node over an entry that is damaged or can't be read: nothing
// is to be done without it.
func (l *watchedLog) GetLog(index uint64, log *raft.Log) error {
	err := l.LogStore.GetLog(index, log)
	if err == nil || err == raft.ErrLogNotFound {
		return err
	}
	return l.watch.do("read the log "+l.path, func() error { return err })
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
