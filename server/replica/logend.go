package replica

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"sync"
)

// logEnd is a small file that says how far a node's history has come, and where
// its log ends: 0 once it was emptied because a snapshot stands for it. It is
// written after each append without an fsync, so that it never says more than the
// log holds; a killed process leaves it exact, a power failure leaves it as of
// the last fsync or later.
//
// It has two slots that are written in turn, so that one is always whole.
type logEnd struct {
	mu    sync.Mutex
	file  *os.File
	count uint64 // of writes: the newer slot has the higher one
	index uint64 // how far history has come
	log   uint64 // the log's last entry
}

const (
	logEndMagic   = "RFEND1\n\x00"
	logEndSlot    = 512 // a sector, so that a torn write spoils one slot
	logEndContent = 36  // magic, count, index, log, checksum
)

// createLogEnd makes the file before the log itself.
func createLogEnd(path string) (*logEnd, error) {
	f, err := os.OpenFile(path+tempSuffix, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, fmt.Errorf("log end: %w", err)
	}
	e := &logEnd{file: f}
	err = errors.Join(f.Truncate(2*logEndSlot), e.write(), f.Sync())
	if err == nil {
		err = os.Rename(path+tempSuffix, path)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("log end %s: %w", path, err), f.Close())
	}
	return e, nil
}

func openLogEnd(path string) (*logEnd, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, fmt.Errorf("log end: %w", err)
	}
	e := &logEnd{file: f}
	whole := false
	for slot := range int64(2) {
		var b [logEndContent]byte
		if _, err := f.ReadAt(b[:], slot*logEndSlot); err != nil || string(b[:8]) != logEndMagic ||
			binary.BigEndian.Uint32(b[32:]) != crc32.Checksum(b[:32], castagnoli) {
			continue
		}
		if count := binary.BigEndian.Uint64(b[8:]); !whole || count > e.count {
			e.count, whole = count, true
			e.index, e.log = binary.BigEndian.Uint64(b[16:]), binary.BigEndian.Uint64(b[24:])
		}
	}
	if !whole {
		return nil, errors.Join(fmt.Errorf("%s is damaged, and with it how far the log had come; %s", path, joinAnew), f.Close())
	}
	return e, nil
}

// joinAnew is the way out of any loss. A node that is alone must not be told to throw
// away what is left.
const joinAnew = "where a majority of other nodes runs, empty the whole directory to let it join anew; " +
	"of a cluster of one node this is the only copy: keep it"

func (e *logEnd) write() error {
	e.count++
	var b [logEndContent]byte
	copy(b[:], logEndMagic)
	binary.BigEndian.PutUint64(b[8:], e.count)
	binary.BigEndian.PutUint64(b[16:], e.index)
	binary.BigEndian.PutUint64(b[24:], e.log)
	binary.BigEndian.PutUint32(b[32:], crc32.Checksum(b[:32], castagnoli))
	_, err := e.file.WriteAt(b[:], int64(e.count%2)*logEndSlot)
	return err
}

// get is how far history had come, where the log ended, and whether it had begun.
func (e *logEnd) get() (index, log uint64, begun bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.index, e.log, e.count > 1
}

// reached notes the last entry of a durable append. The first note is fsynced.
func (e *logEnd) reached(index uint64, sync bool) error { return e.note(index, index, sync) }

// cut notes that the log is about to end at an entry, on purpose.
func (e *logEnd) cut(index uint64) error { return e.note(index, index, true) }

// emptied notes that the log is about to be empty, because a snapshot stands for it.
func (e *logEnd) emptied(snapshot uint64) error { return e.note(snapshot, 0, true) }

func (e *logEnd) note(index, log uint64, sync bool) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	sync = sync || e.count == 1
	e.index, e.log = index, log
	if err := e.write(); err != nil || !sync {
		return err
	}
	return e.file.Sync()
}

func (e *logEnd) sync() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.file.Sync()
}

func (e *logEnd) close() error { return errors.Join(e.sync(), e.file.Close()) }
