package replica

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"sync"
)

// phase is how far a data directory has come.
type phase string

const (
	phaseNew    phase = ""       // in no cluster
	phaseChosen phase = "chosen" // agreed with others on a birth; it may have no log yet
	phaseJoined phase = "joined" // let in by a leader; it may have no log yet
	phaseBorn   phase = "born"   // has had a log: a missing one is a loss, not a beginning
)

const identityFormat = 1

// identity is who a node is, fsynced before anybody is told.
type identity struct {
	Format   int    `json:"format"`
	Node     string `json:"node"`
	Disk     string `json:"disk"` // made with the directory: a wiped disk is another one
	Cluster  string `json:"cluster"`
	Phase    phase  `json:"phase"`
	Seats    uint8  `json:"seats"`
	Boot     uint64 `json:"boot"` // the last number used for an origin
	LogStore string `json:"log_store"`
	// Founders are the members agreed at birth, by node.
	Founders map[string]known `json:"founders,omitempty"`
}

// identityStore keeps the identity in memory and on disk alike.
type identityStore struct {
	mu   sync.Mutex
	disk disk
	id   identity
}

// loadIdentity reads the directory's identity, or makes one for a new directory.
func loadIdentity(d disk, cfg *Config) (*identityStore, error) {
	s := &identityStore{disk: d}
	data, err := d.read(identityFile)
	switch {
	case absent(err):
		return s, s.create(d, cfg)
	case err != nil:
		return nil, fmt.Errorf("identity: %w", err)
	}
	if err := json.Unmarshal(data, &s.id); err != nil {
		return nil, fmt.Errorf("identity %s: %w", d.path(identityFile), err)
	}
	return s, s.id.fits(d, cfg)
}

func (s *identityStore) create(d disk, cfg *Config) error {
	if dir, ok := d.(*directory); ok {
		if file, found := dir.hasLog(); found {
			return fmt.Errorf("%s is missing though %s is there: this directory has lost its identity; "+
				"restore the file, or empty the directory to join the cluster anew", d.path(identityFile), file)
		}
	}
	s.id = identity{Format: identityFormat, Node: cfg.NodeID, Disk: randomID(), LogStore: cfg.LogStore}
	return s.save()
}

// fits says why this directory can't be run with these settings.
func (id *identity) fits(d disk, cfg *Config) error {
	switch {
	case id.Format > identityFormat:
		return fmt.Errorf("%s has format %d, this binary reads up to %d: upgrade the binary of this node", d.path(identityFile), id.Format, identityFormat)
	case id.Node != cfg.NodeID:
		return fmt.Errorf("%s belongs to node %q, not to %q: give --node-id %s or another directory", d.path(identityFile), id.Node, cfg.NodeID, id.Node)
	case id.LogStore != cfg.LogStore:
		return fmt.Errorf("%s says that the log is kept by %q, not by %q", d.path(identityFile), id.LogStore, cfg.LogStore)
	case id.Cluster != "" && cfg.Seats != 0 && cfg.Seats != id.Seats:
		return fmt.Errorf("this cluster has %d seats, not %d (if REDFENCE SEATS changed that while the node was down, start it once with --seats none)", id.Seats, cfg.Seats)
	}
	return nil
}

func (s *identityStore) save() error {
	data, err := json.MarshalIndent(&s.id, "", "  ")
	if err != nil {
		return err
	}
	if err := s.disk.write(identityFile, append(data, '\n')); err != nil {
		return fmt.Errorf("identity %s: %w", s.disk.path(identityFile), err)
	}
	return nil
}

// get is a copy. Founders must not be changed.
func (s *identityStore) get() identity {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.id
}

// change changes the identity and fsyncs it before it returns.
func (s *identityStore) change(f func(*identity)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.id
	f(&s.id)
	if err := s.save(); err != nil {
		s.id = before
		return err
	}
	return nil
}

// nextBoot is a number that this disk has never used for an origin.
func (s *identityStore) nextBoot() (uint64, error) {
	err := s.change(func(id *identity) { id.Boot++ })
	return s.get().Boot, err
}

// randomID makes a name for a cluster or a disk.
func randomID() string {
	var b [10]byte
	rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

func cryptoSeed() uint64 {
	var b [8]byte
	rand.Read(b[:])
	return binary.LittleEndian.Uint64(b[:])
}
