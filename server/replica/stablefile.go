package replica

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"sync"

	"github.com/hashicorp/raft"
)

// stableValues is raft's stable store: its term and its vote, in one small file
// that is replaced as a whole. They change once an election.
type stableValues struct {
	mu     sync.Mutex
	disk   *directory
	values map[string][]byte
}

var _ raft.StableStore = (*stableValues)(nil)

// errNoValue has the text that raft compares with.
var errNoValue = errors.New("not found")

func openStable(d *directory) (*stableValues, error) {
	s := &stableValues{disk: d, values: map[string][]byte{}}
	data, err := d.read(stableFile)
	if absent(err) {
		return s, nil
	}
	if err != nil {
		return nil, fmt.Errorf("term and vote: %w", err)
	}
	if err := json.Unmarshal(data, &s.values); err != nil {
		return nil, fmt.Errorf("%s: %w", d.path(stableFile), err)
	}
	return s, nil
}

// Set is durable when it returns.
func (s *stableValues) Set(key, val []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	values := maps.Clone(s.values)
	values[string(key)] = append([]byte(nil), val...)
	data, err := json.Marshal(values)
	if err == nil {
		err = s.disk.write(stableFile, append(data, '\n'))
	}
	if err == nil {
		s.values = values
	}
	return err
}

// Get gives a copy.
func (s *stableValues) Get(key []byte) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	val, ok := s.values[string(key)]
	if !ok {
		return nil, errNoValue
	}
	return append([]byte(nil), val...), nil
}

// SetUint64 is Set with eight bytes.
func (s *stableValues) SetUint64(key []byte, val uint64) error {
	return s.Set(key, binary.BigEndian.AppendUint64(nil, val))
}

// GetUint64 is Get of what SetUint64 wrote.
func (s *stableValues) GetUint64(key []byte) (uint64, error) {
	val, err := s.Get(key)
	if err != nil {
		return 0, err
	}
	if len(val) != 8 {
		return 0, fmt.Errorf("%s: %q is not a number", s.disk.path(stableFile), key)
	}
	return binary.BigEndian.Uint64(val), nil
}
