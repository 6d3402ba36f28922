package replica

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/hashicorp/raft"
)

// Files of a data directory.
const (
	lockFile     = "LOCK"
	identityFile = "node.json"    // who this node is: identity.go
	rosterFile   = "members.json" // what it knows of the others: roster.go
	walDir       = "log"
	boltLogFile  = "log.db"
	stableFile   = "stable.json" // stablefile.go
	logEndFile   = "log.end"     // logend.go
	snapshotDir  = "snapshots"
)

// disk is where a node's data lies: a directory, or a Memory in simulations.
type disk interface {
	// read returns a small file, or an error that is fs.ErrNotExist. It never
	// returns another content than was written.
	read(name string) ([]byte, error)
	// write replaces a small file in one step; it is durable when write returns.
	write(name string, data []byte) error
	// path is what messages call a file.
	path(name string) string
	// open opens raft's stores, of the given kind of log.
	open(kind string, node *Node) (*stores, error)
	// close gives the disk free for another Node.
	close()
}

// stores are raft's three stores and how they are closed.
type stores struct {
	logs      raft.LogStore
	stable    raft.StableStore
	snapshots snapshotStore
	close     func() error
	// came is how far the history of this disk had come, as noted beside the log.
	came func() uint64
	// verify reads the whole log, which must have no gap behind the snapshot.
	verify func(first, last, snapshot uint64) error
}

// directory is a disk that is a directory, held by this process alone.
type directory struct {
	dir  string
	lock *os.File
}

// openDirectory makes the directory if need be and takes its lock. A second
// process gets an error at once.
func openDirectory(dir string) (*directory, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("data directory: %w", err)
	}
	f, err := os.OpenFile(filepath.Join(dir, lockFile), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("data directory: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("data directory %s is in use by another process", dir)
		}
		return nil, fmt.Errorf("data directory %s: lock: %w", dir, err)
	}
	return &directory{dir: dir, lock: f}, nil
}

func (d *directory) path(name string) string { return filepath.Join(d.dir, name) }

func (d *directory) close() { d.lock.Close() }

// A small file ends with a line that has the checksum of what is before it.
const (
	sumLine   = "crc32c %08x\n"
	sumLength = 16
)

func (d *directory) read(name string) ([]byte, error) {
	data, err := os.ReadFile(d.path(name))
	if err != nil {
		return nil, err
	}
	at := len(data) - sumLength
	if at < 0 || string(data[at:]) != fmt.Sprintf(sumLine, crc32.Checksum(data[:at], castagnoli)) {
		return nil, fmt.Errorf("%s is damaged or cut short; %s", d.path(name), joinAnew)
	}
	return data[:at], nil
}

func (d *directory) write(name string, data []byte) error {
	tmp := d.path(name + tempSuffix)
	f, err := os.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(fmt.Appendf(data[:len(data):len(data)], sumLine, crc32.Checksum(data, castagnoli)))
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := os.Rename(tmp, d.path(name)); err != nil {
		return err
	}
	return syncDir(d.dir)
}

// syncDir makes the names in a directory durable.
func syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

func (d *directory) open(kind string, n *Node) (*stores, error) {
	end, err := d.openEnd()
	if err != nil {
		return nil, err
	}
	snaps, err := openSnapshots(d.path(snapshotDir), n.log)
	if err != nil {
		return nil, errors.Join(err, end.close())
	}
	stable, err := openStable(d)
	if err != nil {
		return nil, errors.Join(err, end.close())
	}
	logs, closeLog, err := openLog(d, kind, end, n)
	if err != nil {
		return nil, errors.Join(err, end.close())
	}
	logs.snapshots = snaps
	return &stores{
		logs: logs, stable: stable, snapshots: snaps, verify: logs.verify,
		came: func() uint64 {
			index, _, _ := end.get()
			return index
		},
		close: func() error { return errors.Join(closeLog(), end.close()) },
	}, nil
}

// openEnd opens the note of where the log ends, which is made before anything
// else of the log.
func (d *directory) openEnd() (*logEnd, error) {
	end, err := openLogEnd(d.path(logEndFile))
	if !absent(err) {
		return end, err
	}
	if file, found := d.hasLog(); found {
		return nil, fmt.Errorf("%s is missing though %s is there: nobody knows how far the log had come; %s",
			d.path(logEndFile), file, joinAnew)
	}
	if end, err = createLogEnd(d.path(logEndFile)); err != nil {
		return nil, err
	}
	return end, syncDir(d.dir)
}

// hasLog says whether files of a log are there, whatever the identity says.
func (d *directory) hasLog() (string, bool) {
	for _, name := range []string{walDir, boltLogFile, stableFile, snapshotDir, logEndFile} {
		if _, err := os.Stat(d.path(name)); err == nil {
			return d.path(name), true
		}
	}
	return "", false
}

var _ disk = (*directory)(nil)

// absent says whether a file is not there.
func absent(err error) bool { return errors.Is(err, fs.ErrNotExist) }
