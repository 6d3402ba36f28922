package replica

import (
	"errors"
	"fmt"
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
	stableFile   = "stable.db"
	snapshotDir  = "snapshots"
)

// disk is where a node's data lies: a directory, or a Memory in simulations.
type disk interface {
	// read returns a small file, or an error that is fs.ErrNotExist.
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

func (d *directory) read(name string) ([]byte, error) { return os.ReadFile(d.path(name)) }

func (d *directory) write(name string, data []byte) error {
	tmp := d.path(name + ".tmp")
	f, err := os.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
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
	logs, closeLogs, err := openLog(d, kind, n)
	if err != nil {
		return nil, err
	}
	stable, err := openBolt(d.path(stableFile))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", d.path(stableFile), err), closeLogs())
	}
	snaps, err := openSnapshots(d.path(snapshotDir), n.log)
	if err != nil {
		return nil, errors.Join(err, closeLogs(), stable.Close())
	}
	return &stores{
		logs: logs, stable: stable, snapshots: snaps,
		close: func() error { return errors.Join(closeLogs(), stable.Close()) },
	}, nil
}

// hasLog says whether files of a log are there, whatever the identity says.
func (d *directory) hasLog() (string, bool) {
	for _, name := range []string{walDir, boltLogFile, stableFile, snapshotDir} {
		if _, err := os.Stat(d.path(name)); err == nil {
			return d.path(name), true
		}
	}
	return "", false
}

var _ disk = (*directory)(nil)

// absent says whether a file is not there.
func absent(err error) bool { return errors.Is(err, fs.ErrNotExist) }
