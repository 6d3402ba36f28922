package replica

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/hashicorp/raft"
)

// A snapshot is one file: magic, length and JSON of raft's meta data, the
// machine's bytes, then their length and the CRC-32C of everything before it
// (docs/format.md). It is written under another name, fsynced and renamed, so a
// file with a snapshot's name was whole once.
const (
	snapshotMagic   = "RFSNAP1\n"
	snapshotTrailer = 12
	snapshotSuffix  = ".snap"
	tempSuffix      = ".tmp"
	corruptSuffix   = ".corrupt"
	snapshotMetaMax = 1 << 20
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// snapshotStore is raft's snapshot store and the check that a start needs.
type snapshotStore interface {
	raft.SnapshotStore
	// check verifies every snapshot, sets the broken ones aside and names all that
	// were set aside, now or at an earlier start.
	check() (broken []string, err error)
}

// snapshotFiles keeps snapshots in a directory. Raft may finish one of its own
// while it installs the leader's, and lists them at any time.
type snapshotFiles struct {
	dir string
	log *slog.Logger
	mu  sync.Mutex // held by who lists, names and removes files
}

func openSnapshots(dir string, log *slog.Logger) (*snapshotFiles, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("snapshots: %w", err)
	}
	s := &snapshotFiles{dir: dir, log: log}
	names, err := s.names(tempSuffix)
	if err != nil {
		return nil, err
	}
	for _, name := range names { // left by a crash
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			return nil, fmt.Errorf("snapshots: %w", err)
		}
	}
	return s, syncDir(filepath.Dir(dir))
}

// names lists the files with a suffix, the newest first.
func (s *snapshotFiles) names(suffix string) ([]string, error) {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return nil, fmt.Errorf("snapshots: %w", err)
	}
	var names []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), suffix) {
			names = append(names, e.Name())
		}
	}
	slices.Sort(names)
	slices.Reverse(names)
	return names, nil
}

func (s *snapshotFiles) check() (broken []string, err error) {
	earlier, err := s.names(corruptSuffix)
	if err != nil {
		return nil, err
	}
	for _, name := range earlier {
		broken = append(broken, filepath.Join(s.dir, name))
	}
	names, err := s.names(snapshotSuffix)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		path := filepath.Join(s.dir, name)
		_, body, err := openSnapshot(path)
		if err == nil {
			body.Close()
			continue
		}
		s.log.Error("corrupt snapshot, set aside", "file", path, "error", err)
		broken = append(broken, path+corruptSuffix)
		if err := os.Rename(path, path+corruptSuffix); err != nil {
			return broken, fmt.Errorf("snapshots: %w", err)
		}
	}
	return broken, nil
}

// List lists the snapshots, the newest first.
func (s *snapshotFiles) List() ([]*raft.SnapshotMeta, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	names, err := s.names(snapshotSuffix)
	if err != nil {
		return nil, err
	}
	var metas []*raft.SnapshotMeta
	for _, name := range names {
		meta, err := statSnapshot(filepath.Join(s.dir, name))
		if err != nil {
			return nil, err
		}
		metas = append(metas, meta)
	}
	return metas, nil
}

// Open verifies a snapshot and gives its bytes.
func (s *snapshotFiles) Open(id string) (*raft.SnapshotMeta, io.ReadCloser, error) {
	return openSnapshot(filepath.Join(s.dir, id+snapshotSuffix))
}

// Create begins a snapshot.
func (s *snapshotFiles) Create(version raft.SnapshotVersion, index, term uint64, conf raft.Configuration,
	confIndex uint64, _ raft.Transport,
) (raft.SnapshotSink, error) {
	if version != 1 {
		return nil, fmt.Errorf("snapshots: version %d of raft's meta data is unknown", version)
	}
	// The number of digits is fixed, so that names sort as (index, term) do.
	id := fmt.Sprintf("%020d-%020d", index, term)
	meta := raft.SnapshotMeta{Version: version, ID: id, Index: index, Term: term, Configuration: conf, ConfigurationIndex: confIndex}
	// Two may be of the same index: one taken here and one installed.
	f, err := os.CreateTemp(s.dir, id+".*"+tempSuffix)
	if err != nil {
		return nil, fmt.Errorf("snapshots: %w", err)
	}
	sink := &snapshotSink{store: s, id: id, file: f, sum: crc32.New(castagnoli)}
	sink.out = bufio.NewWriterSize(io.MultiWriter(f, sink.sum), 256<<10)
	if _, err := sink.out.Write(snapshotHead(&meta)); err != nil {
		return nil, errors.Join(err, sink.Cancel())
	}
	return sink, nil
}

func snapshotHead(meta *raft.SnapshotMeta) []byte {
	text, _ := json.Marshal(meta) // strings and numbers: it can't fail
	b := append([]byte(snapshotMagic), 0, 0, 0, 0)
	binary.BigEndian.PutUint32(b[len(snapshotMagic):], uint32(len(text)))
	return append(b, text...)
}

// snapshotSink writes one snapshot.
type snapshotSink struct {
	store *snapshotFiles
	id    string
	file  *os.File
	out   *bufio.Writer
	sum   hash.Hash32
	size  uint64
	done  bool
}

func (k *snapshotSink) ID() string { return k.id }

func (k *snapshotSink) Write(p []byte) (int, error) {
	n, err := k.out.Write(p)
	k.size += uint64(n)
	return n, err
}

// Close makes the snapshot durable and gives it its name.
func (k *snapshotSink) Close() error {
	if k.done {
		return nil
	}
	k.done = true
	var tail [8]byte
	binary.BigEndian.PutUint64(tail[:], k.size)
	_, err := k.out.Write(tail[:])
	if err == nil {
		err = k.out.Flush()
	}
	if err == nil {
		_, err = k.file.Write(k.sum.Sum(nil))
	}
	if err == nil {
		err = k.file.Sync()
	}
	temp := k.file.Name()
	if err = errors.Join(err, k.file.Close()); err != nil {
		return errors.Join(err, os.Remove(temp))
	}
	return k.store.finish(temp, k.id)
}

// Cancel gives the snapshot up.
func (k *snapshotSink) Cancel() error {
	if k.done {
		return nil
	}
	k.done = true
	return errors.Join(k.file.Close(), os.Remove(k.file.Name()))
}

// finish gives a whole snapshot its name, and removes those that it replaces.
func (s *snapshotFiles) finish(temp, id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := os.Rename(temp, filepath.Join(s.dir, id+snapshotSuffix)); err != nil {
		return err
	}
	if err := syncDir(s.dir); err != nil {
		return err
	}
	return s.reap()
}

// reap removes all but the newest snapshots, and the broken ones: a whole one
// has just been written.
func (s *snapshotFiles) reap() error {
	names, err := s.names(snapshotSuffix)
	if err != nil {
		return err
	}
	broken, err := s.names(corruptSuffix)
	if err != nil {
		return err
	}
	for _, name := range append(broken, names[min(snapshotsKept, len(names)):]...) {
		if err := os.Remove(filepath.Join(s.dir, name)); err != nil {
			return err
		}
	}
	return nil
}

// statSnapshot reads a snapshot's meta data without its bytes.
func statSnapshot(path string) (*raft.SnapshotMeta, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("snapshots: %w", err)
	}
	defer f.Close()
	meta, _, err := readSnapshotHead(f)
	if err != nil {
		return nil, fmt.Errorf("snapshot %s: %w", path, err)
	}
	return meta, nil
}

var errTorn = errors.New("the file is cut short or damaged")

// readSnapshotHead reads the meta data; start is where the machine's bytes begin.
func readSnapshotHead(f *os.File) (meta *raft.SnapshotMeta, start int64, err error) {
	info, err := f.Stat()
	if err != nil {
		return nil, 0, err
	}
	head := make([]byte, len(snapshotMagic)+4)
	if _, err := f.ReadAt(head, 0); err != nil || string(head[:len(snapshotMagic)]) != snapshotMagic {
		return nil, 0, errTorn
	}
	length := int64(binary.BigEndian.Uint32(head[len(snapshotMagic):]))
	start = int64(len(head)) + length
	if length > snapshotMetaMax || start+snapshotTrailer > info.Size() {
		return nil, 0, errTorn
	}
	text := make([]byte, length)
	if _, err := f.ReadAt(text, int64(len(head))); err != nil {
		return nil, 0, errTorn
	}
	meta = new(raft.SnapshotMeta)
	if err := json.Unmarshal(text, meta); err != nil {
		return nil, 0, errTorn
	}
	meta.Size = info.Size() - start - snapshotTrailer
	return meta, start, nil
}

// openSnapshot verifies the whole file before it gives its bytes away.
func openSnapshot(path string) (*raft.SnapshotMeta, io.ReadCloser, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, fmt.Errorf("snapshots: %w", err)
	}
	meta, start, err := readSnapshotHead(f)
	if err == nil {
		err = verifySnapshot(f, start+meta.Size, uint64(meta.Size))
	}
	if err != nil {
		f.Close()
		return nil, nil, fmt.Errorf("snapshot %s: %w", path, err)
	}
	body := bufio.NewReaderSize(io.NewSectionReader(f, start, meta.Size), 256<<10)
	return meta, struct {
		io.Reader
		io.Closer
	}{body, f}, nil
}

func verifySnapshot(f *os.File, end int64, size uint64) error {
	sum := crc32.New(castagnoli)
	if _, err := io.Copy(sum, io.NewSectionReader(f, 0, end+8)); err != nil {
		return err
	}
	var tail [snapshotTrailer]byte
	if _, err := f.ReadAt(tail[:], end); err != nil {
		return errTorn
	}
	if binary.BigEndian.Uint64(tail[:]) != size || binary.BigEndian.Uint32(tail[8:]) != sum.Sum32() {
		return errTorn
	}
	return nil
}

// watchedSnapshots ends the node when a snapshot can't be written or read.
type watchedSnapshots struct {
	snapshotStore
	watch *diskWatch
	path  string
	taken func()
}

func (s *watchedSnapshots) Create(version raft.SnapshotVersion, index, term uint64, conf raft.Configuration,
	confIndex uint64, trans raft.Transport,
) (sink raft.SnapshotSink, err error) {
	err = s.watch.do("begin a snapshot in "+s.path, func() error {
		sink, err = s.snapshotStore.Create(version, index, term, conf, confIndex, trans)
		return err
	})
	if err != nil {
		return nil, err
	}
	return &watchedSink{sink, s}, nil
}

func (s *watchedSnapshots) Open(id string) (meta *raft.SnapshotMeta, body io.ReadCloser, err error) {
	err = s.watch.do("read a snapshot in "+s.path, func() error {
		meta, body, err = s.snapshotStore.Open(id)
		return err
	})
	return meta, body, err
}

type watchedSink struct {
	raft.SnapshotSink
	store *watchedSnapshots
}

func (k *watchedSink) Write(p []byte) (n int, err error) {
	err = k.store.watch.do("write a snapshot in "+k.store.path, func() error {
		n, err = k.SnapshotSink.Write(p)
		return err
	})
	return n, err
}

func (k *watchedSink) Close() error {
	err := k.store.watch.do("finish a snapshot in "+k.store.path, k.SnapshotSink.Close)
	if err == nil {
		k.store.taken()
	}
	return err
}
