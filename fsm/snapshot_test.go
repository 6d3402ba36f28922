package fsm

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

var snapshotWords = []string{
	"set %s v nx px 500", "set %s w", "set %s v px 3000", "del %s", "incr n:%s", "pexpire %s 100", "append %s x",
	"eval return(redis.call('set',KEYS[1],ARGV[1],'px',700)) 1 %s y", "rename %s other", "getset %s z",
	"blpop %s other 0", "rpush %s x y", "bzpopmin %s 0", "zadd %s 1 m",
}

// TestSnapshotChangesNothing: the same entries make the same state byte for
// byte, whether a replica played them all or was restored on the way.
func TestSnapshotChangesNothing(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		m := newMachine(t, 3)
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 0))
		for i := range 60 {
			var commands []string
			for range rng.IntN(4) {
				commands = append(commands, fmt.Sprintf(snapshotWords[rng.IntN(len(snapshotWords))], string(rune('a'+rng.IntN(6)))))
			}
			m.pass(time.Duration(rng.IntN(400)) * time.Millisecond)
			b := m.batch(commands...)
			for j := range b.Commands {
				b.Commands[j].Space = uint8(rng.IntN(4))
				b.Commands[j].Ticket = uint64(4*i + j + 1)
			}
			m.apply(&Entry{Kind: Batches, Seed: rng.Uint64(), Batches: []Batch{b}})
			if i%7 == 3 {
				m.state = restored(t, m.state)
			}
		}
		other := m.replay()
		if m.state.Hash() != other.Hash() {
			rt.Fatal("a replica that was restored and one that played the whole log differ")
		}
		if m.state.Memory() != other.Memory() || m.state.empty() != other.empty() {
			rt.Fatalf("what is derived differs: %d and %d bytes", m.state.Memory(), other.Memory())
		}
	})
}

// TestSnapshotIsAMoment: a snapshot that is written while the machine goes on
// shows the moment at which it was taken.
func TestSnapshotIsAMoment(t *testing.T) {
	m := newMachine(t, 0)
	for i := range 200 {
		m.do(fmt.Sprintf("set k%d v px 5000", i))
	}
	want := m.state.Hash()
	sn := m.state.Snapshot()
	for i := range 100 {
		m.do(fmt.Sprintf("del k%d", i))
		m.do(fmt.Sprintf("set k%d w", 300+i))
	}
	var b bytes.Buffer
	if _, err := sn.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	back, err := Restore(&b)
	if err != nil {
		t.Fatal(err)
	}
	if back.Hash() != want {
		t.Error("the snapshot shows later changes")
	}
}

func TestDamagedSnapshotIsRefused(t *testing.T) {
	m := newMachine(t, 1)
	m.do("set k v px 5000")
	m.do("script load return(1)")
	var b bytes.Buffer
	if _, err := m.state.Snapshot().WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	whole := b.Bytes()
	for i := range whole {
		if i >= len(snapshotMagic) && i < len(snapshotMagic)+3 {
			continue // the versions have an error of their own
		}
		broken := bytes.Clone(whole)
		broken[i] ^= 0x20
		if _, err := Restore(bytes.NewReader(broken)); !errors.Is(err, ErrSnapshot) {
			t.Fatalf("byte %d changed: %v", i, err)
		}
		if _, err := Restore(bytes.NewReader(whole[:i])); err == nil {
			t.Fatalf("cut to %d bytes: no error", i)
		}
	}
}

// TestSnapshotOfAnotherVersion: P8. The format must be this binary's; what the
// content needs may be less than this binary knows, and never more.
func TestSnapshotOfAnotherVersion(t *testing.T) {
	m := newMachine(t, 1)
	m.do("set k v")
	var b bytes.Buffer
	if _, err := m.state.Snapshot().WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		version, change int
		refused         string
	}{
		{0, 1, "snapshot has version"}, {0, -1, "before the first release"},
		{1, 1, "feature level of the snapshot has version"}, {1, -1, ""},
		{2, 1, "script engine of the snapshot has version"}, {2, -1, ""},
	} {
		changed := bytes.Clone(b.Bytes())
		changed[len(snapshotMagic)+c.version] += byte(c.change)
		body := changed[:len(changed)-4]
		binary.BigEndian.PutUint32(changed[len(body):], crc32.Checksum(body, castagnoli))
		back, err := Restore(bytes.NewReader(changed))
		var v *VersionError
		switch {
		case c.refused == "":
			if err != nil || back.Hash() != m.state.Hash() {
				t.Errorf("version %d changed by %d: %v", c.version, c.change, err)
			}
		case !errors.As(err, &v) || !strings.Contains(err.Error(), c.refused):
			t.Errorf("version %d changed by %d: %v, want %q", c.version, c.change, err, c.refused)
		}
	}
}

// TestExpiryIsBounded: P8. What one entry ends is bounded; the rest counts as gone.
func TestExpiryIsBounded(t *testing.T) {
	m := newMachine(t, 0)
	const leases = ExpirePerEntry + 500
	var commands []string
	for i := range leases {
		commands = append(commands, fmt.Sprintf("set k%05d v px 1000", i))
	}
	m.apply(&Entry{Kind: Batches, Batches: []Batch{m.batch(commands...)}})
	m.pass(2 * time.Second)
	m.apply(&Entry{Kind: Batches})
	if got := m.state.Keys(SharedSpace); got != 500 {
		t.Errorf("%d leases are left of %d after one entry", got, leases)
	}
	last := fmt.Sprintf("k%05d", leases-1)
	m.state = restored(t, m.state)
	if got := m.state.Read(&Command{Args: []string{"exists", last}}, &Client{}, At{Now: m.now}).Value.Int; got != 0 {
		t.Error("a lease past its end is seen")
	}
}

func FuzzSnapshot(f *testing.F) {
	m := newMachine(f, 2)
	m.do("set k v px 5000")
	m.do("script load return(1)")
	var b bytes.Buffer
	if _, err := m.state.Snapshot().WriteTo(&b); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := Restore(bytes.NewReader(data))
		if err == nil && restored(t, s).Hash() != s.Hash() {
			t.Fatal("restored, written and restored again it differs")
		}
	})
}
