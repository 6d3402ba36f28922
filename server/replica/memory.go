package replica

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"sync"

	"github.com/hashicorp/raft"
)

// Memory is a disk for simulations: it keeps what a Node wrote and outlives it,
// so that a node can be stopped and started again without a file. Everything
// written is durable at once.
type Memory struct {
	mu    sync.Mutex
	inUse bool
	files map[string][]byte
	log   *raft.InmemStore
	snaps []memorySnapshot // the newest first
}

type memorySnapshot struct {
	meta raft.SnapshotMeta
	data []byte
}

// NewMemory is an empty disk.
func NewMemory() *Memory {
	return &Memory{files: map[string][]byte{}, log: raft.NewInmemStore()}
}

var (
	_ disk          = (*Memory)(nil)
	_ snapshotStore = (*memorySnapshots)(nil)
)

func (m *Memory) take() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.inUse {
		return errors.New("data directory (in memory) is in use by another node")
	}
	m.inUse = true
	return nil
}

func (m *Memory) close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.inUse = false
}

func (m *Memory) path(name string) string { return "memory:" + name }

func (m *Memory) read(name string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	data, ok := m.files[name]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return data, nil
}

func (m *Memory) write(name string, data []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.files[name] = slices.Clone(data)
	return nil
}

func (m *Memory) open(string, *Node) (*stores, error) {
	return &stores{logs: m.log, stable: m.log, snapshots: &memorySnapshots{m}, close: func() error { return nil }}, nil
}

// memorySnapshots is a Memory as raft's snapshot store.
type memorySnapshots struct{ m *Memory }

func (s *memorySnapshots) check() ([]string, error) { return nil, nil }

func (s *memorySnapshots) List() ([]*raft.SnapshotMeta, error) {
	s.m.mu.Lock()
	defer s.m.mu.Unlock()
	var metas []*raft.SnapshotMeta
	for i := range s.m.snaps {
		meta := s.m.snaps[i].meta
		metas = append(metas, &meta)
	}
	return metas, nil
}

func (s *memorySnapshots) Open(id string) (*raft.SnapshotMeta, io.ReadCloser, error) {
	s.m.mu.Lock()
	defer s.m.mu.Unlock()
	for i := range s.m.snaps {
		if s.m.snaps[i].meta.ID == id {
			meta := s.m.snaps[i].meta
			return &meta, io.NopCloser(bytes.NewReader(s.m.snaps[i].data)), nil
		}
	}
	return nil, nil, fmt.Errorf("snapshot %s: %w", id, fs.ErrNotExist)
}

func (s *memorySnapshots) Create(version raft.SnapshotVersion, index, term uint64, conf raft.Configuration,
	confIndex uint64, _ raft.Transport,
) (raft.SnapshotSink, error) {
	return &memorySink{store: s, meta: raft.SnapshotMeta{
		Version: version, ID: fmt.Sprintf("%020d-%020d", index, term),
		Index: index, Term: term, Configuration: conf, ConfigurationIndex: confIndex,
	}}, nil
}

type memorySink struct {
	bytes.Buffer
	store *memorySnapshots
	meta  raft.SnapshotMeta
	done  bool
}

func (k *memorySink) ID() string { return k.meta.ID }

func (k *memorySink) Cancel() error {
	k.done = true
	return nil
}

func (k *memorySink) Close() error {
	if k.done {
		return nil
	}
	k.done = true
	m := k.store.m
	m.mu.Lock()
	defer m.mu.Unlock()
	k.meta.Size = int64(k.Len())
	m.snaps = slices.DeleteFunc(m.snaps, func(s memorySnapshot) bool { return s.meta.ID == k.meta.ID })
	m.snaps = slices.Insert(m.snaps, 0, memorySnapshot{k.meta, slices.Clone(k.Bytes())})
	m.snaps = m.snaps[:min(snapshotsKept, len(m.snaps))]
	return nil
}
