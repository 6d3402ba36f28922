package replica

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"runtime/debug"

	"github.com/hashicorp/raft"
)

// checkedLog puts a checksum on every entry and notes how far the log has come,
// because neither store notices a flipped bit, and both take a log that lost its
// end for a shorter one. The checksum lies behind the entry's extensions, which
// this program doesn't use otherwise (docs/format.md).
type checkedLog struct {
	raft.LogStore
	end       *logEnd
	snapshots snapshotStore
	path      string
	cause     func() error              // why the store went out of order earlier, if it knows
	file      func(index uint64) string // the file that holds an entry
	newFile   func(written uint64) bool // whether an append of so many bytes is the first to a file
}

const checksumBytes = 4

// checksum covers what raft and the machine act on.
func checksum(l *raft.Log, extensions []byte) uint32 {
	var head [25]byte
	binary.BigEndian.PutUint64(head[:], l.Index)
	binary.BigEndian.PutUint64(head[8:], l.Term)
	head[16] = byte(l.Type)
	binary.BigEndian.PutUint64(head[17:], uint64(len(l.Data)))
	sum := crc32.Update(0, castagnoli, head[:])
	sum = crc32.Update(sum, castagnoli, l.Data)
	return crc32.Update(sum, castagnoli, extensions)
}

// IsMonotonic says whether the store needs entries without a gap.
func (l *checkedLog) IsMonotonic() bool {
	m, ok := l.LogStore.(raft.MonotonicLogStore)
	return ok && m.IsMonotonic()
}

func (l *checkedLog) FirstIndex() (index uint64, err error) {
	defer unfault(&err)()
	return l.LogStore.FirstIndex()
}

func (l *checkedLog) LastIndex() (index uint64, err error) {
	defer unfault(&err)()
	return l.LogStore.LastIndex()
}

func (l *checkedLog) StoreLog(log *raft.Log) error { return l.StoreLogs([]*raft.Log{log}) }

// StoreLogs leaves the caller's entries as they are: raft applies them.
func (l *checkedLog) StoreLogs(logs []*raft.Log) (err error) {
	defer unfault(&err)()
	if len(logs) == 0 {
		return nil
	}
	summed, pointers := make([]raft.Log, len(logs)), make([]*raft.Log, len(logs))
	written := uint64(0)
	for i, log := range logs {
		summed[i], pointers[i] = *log, &summed[i]
		ext := log.Extensions
		summed[i].Extensions = binary.BigEndian.AppendUint32(ext[:len(ext):len(ext)], checksum(log, ext))
		written += uint64(len(log.Data))
	}
	if err := l.LogStore.StoreLogs(pointers); err != nil {
		if cause := l.cause(); cause != nil {
			err = fmt.Errorf("%w (%w)", cause, err)
		}
		return err
	}
	return l.end.reached(logs[len(logs)-1].Index, l.newFile(written))
}

// DeleteRange notes a new end before it shortens the log: a log that ends later
// than noted has lost nothing.
func (l *checkedLog) DeleteRange(from, to uint64) (err error) {
	defer unfault(&err)()
	first, err := l.LogStore.FirstIndex()
	if err != nil {
		return err
	}
	last, err := l.LogStore.LastIndex()
	if err != nil {
		return err
	}
	switch {
	case last == 0 || from > last:
	case to < last: // entries that a snapshot holds
		err = l.end.sync()
	case from > first:
		err = l.end.cut(from - 1)
	default: // all of it, because a snapshot stands for it
		var metas []*raft.SnapshotMeta
		if metas, err = l.snapshots.List(); err != nil {
			return err
		}
		newest := uint64(0)
		if len(metas) > 0 {
			newest = metas[0].Index
		}
		err = l.end.emptied(newest)
	}
	if err != nil {
		return err
	}
	return l.LogStore.DeleteRange(from, to)
}

// GetLog verifies the entry. An error other than raft.ErrLogNotFound means that
// the log is damaged or can't be read.
func (l *checkedLog) GetLog(index uint64, log *raft.Log) error {
	err := l.get(index, log)
	switch {
	case errors.Is(err, raft.ErrLogNotFound):
		return raft.ErrLogNotFound // raft compares, it doesn't unwrap
	case err != nil:
		return fmt.Errorf("entry %d of the log in %s is corrupt: %w", index, l.file(index), err)
	}
	return nil
}

var errChecksum = errors.New("wrong checksum")

func (l *checkedLog) get(index uint64, log *raft.Log) (err error) {
	defer unfault(&err)()
	if err := l.LogStore.GetLog(index, log); err != nil {
		return err
	}
	at := len(log.Extensions) - checksumBytes
	if at < 0 || log.Index != index ||
		binary.BigEndian.Uint32(log.Extensions[at:]) != checksum(log, log.Extensions[:at]) {
		return errChecksum
	}
	if log.Extensions = log.Extensions[:at]; at == 0 {
		log.Extensions = nil
	}
	return nil
}

// verify reads the whole log. Up to snapshot there may be gaps: bolt has one where
// an installed snapshot took entries' place.
func (l *checkedLog) verify(first, last, snapshot uint64) error {
	for i := first; i <= last && last > 0; i++ {
		var entry raft.Log
		err := l.GetLog(i, &entry)
		switch {
		case err == raft.ErrLogNotFound && i > snapshot:
			return fmt.Errorf("%s: the log has no entry %d", l.path, i)
		case err != nil && err != raft.ErrLogNotFound:
			return err
		}
	}
	return nil
}

// unfault turns a panic of a store, and an access to memory behind a file that
// is shorter than it says, into an error: defer unfault(&err)().
func unfault(err *error) func() {
	before := debug.SetPanicOnFault(true)
	return func() {
		debug.SetPanicOnFault(before)
		if reason := recover(); reason != nil {
			*err = fmt.Errorf("the file is damaged: %v", reason)
		}
	}
}

var (
	_ raft.LogStore          = (*checkedLog)(nil)
	_ raft.MonotonicLogStore = (*checkedLog)(nil)
)
