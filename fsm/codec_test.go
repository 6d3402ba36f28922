package fsm

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// goldenEntries are entries of each kind; their bytes are in testdata, by the
// version of the format, and may never change: a log on
// somebody's disk holds such bytes.
var goldenEntries = map[string]*Entry{
	"checkpoint": {Kind: Batches, Stamp: Stamp{Term: 3, Now: 1_500_000, Wall: 1_796_000_000_000_000}, Batches: []Batch{}},
	"termstart":  {Kind: TermStart},
	"open": {
		Kind: OpenOrigin, Stamp: Stamp{Term: 3, Now: 7},
		Open: Open{Node: "n1", Disk: "d-1", Boot: 12},
	},
	"member": {
		Kind: RecordMember, Stamp: Stamp{Term: 1, Now: -1},
		Member: Member{
			Node: "n2", Disk: "d-2", Raft: "h2:7379", Client: "h2:6379", HTTP: "h2:8379", Version: "1.0.0",
			Seats: []string{"h2:6381", "h2:6382"}, Removed: true,
		},
	},
	"birth": {Kind: Birth, Birth: BirthRecord{Cluster: "c-1", Seats: 3}},
	"batch": {
		Kind: Batches, Stamp: Stamp{Term: 9, Now: 1 << 40, Wall: 1}, Seed: 77, MemoryMax: 1 << 30,
		Batches: []Batch{
			{Origin: 5, Number: 300, Acked: 299, Clients: []Client{{"app", "10.0.0.1:999", "go-redis/9", "n1"}}, Commands: []Command{
				{Space: 2, DB: 15, Args: []string{"set", "k\x00", "", "nx"}},
				{Args: []string{"exec"}, Exec: &Exec{
					Watched:  []Watched{{DB: 1, Key: "w", Version: 1 << 63}},
					Commands: []Queued{{DB: 2, Args: []string{"get", "k"}}},
				}},
			}},
			{Origin: 6, Number: 1, Cancel: true, Clients: []Client{}, Commands: []Command{}},
		},
	},
	"wait": {
		Kind: Batches, Stamp: Stamp{Term: 2, Now: 9}, Batches: []Batch{
			{Origin: 5, Number: 7, Acked: 6, Settled: []uint64{3, 1 << 40}, Clients: []Client{{}}, Commands: []Command{
				{Args: []string{"blpop", "k", "0"}, Ticket: 300},
			}},
		},
	},
	"losewaits": {Kind: LoseWaits, Stamp: Stamp{Term: 2, Now: 9}, Lost: 300},
}

func TestGoldenEntryBytes(t *testing.T) {
	for name, e := range goldenEntries {
		path := filepath.Join("testdata", "entries", fmt.Sprint("v", EntryVersion), name+".hex")
		want, err := os.ReadFile(path)
		if errors.Is(err, os.ErrNotExist) && os.Getenv("REWRITE") != "" {
			want = []byte(hex.EncodeToString(AppendEntry(nil, e)) + "\n")
			err = os.WriteFile(path, want, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
		if got := hex.EncodeToString(AppendEntry(nil, e)); got != strings.TrimSpace(string(want)) {
			t.Errorf("%s is now encoded as\n%s, the format says\n%s", name, got, want)
		}
		data, err := hex.DecodeString(strings.TrimSpace(string(want)))
		if err != nil {
			t.Fatal(err)
		}
		back, err := DecodeEntry(data)
		if err != nil || !reflect.DeepEqual(back, e) {
			t.Errorf("%s decodes as %+v (%v), want %+v", name, back, err, e)
		}
	}
}

func TestForeignEntryStopsTheNode(t *testing.T) {
	data := AppendEntry(nil, goldenEntries["batch"])
	newer := bytes.Clone(data)
	newer[0] = EntryVersion + 1
	older := bytes.Clone(data)
	older[0] = EntryVersion - 1
	unknown := bytes.Clone(data)
	unknown[1] = 200
	for name, b := range map[string][]byte{"newer": newer, "older": older, "of an unknown kind": unknown} {
		var v *VersionError
		s := New()
		if _, err := s.Apply(1, 1, b); !errors.As(err, &v) {
			t.Errorf("%s: got error %v, want a VersionError", name, err)
		}
		if s.Applied() != 0 {
			t.Errorf("%s: the entry counts as applied", name)
		}
	}
	for cut := range len(data) {
		if _, err := New().Apply(1, 1, data[:cut]); err == nil {
			t.Fatalf("an entry cut to %d of %d bytes was applied", cut, len(data))
		}
	}
}

func text() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string { return string(rapid.SliceOfN(rapid.Byte(), 0, 40).Draw(t, "bytes")) })
}

func TestEntryRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := &Entry{
			Kind:  Batches,
			Stamp: Stamp{Term: rapid.Uint64().Draw(t, "term"), Now: rapid.Int64().Draw(t, "now"), Wall: rapid.Int64().Draw(t, "wall")},
			Seed:  rapid.Uint64().Draw(t, "seed"), MemoryMax: rapid.Uint64().Draw(t, "memory"), Batches: []Batch{},
		}
		for range rapid.IntRange(0, 3).Draw(t, "batches") {
			b := Batch{Settled: rapid.SliceOfN(rapid.Uint64(), 1, 3).Draw(t, "settled"), Origin: rapid.Uint64().Draw(t, "origin"), Number: rapid.Uint64().Draw(t, "number"), Clients: []Client{{}}, Commands: []Command{}}
			for range rapid.IntRange(0, 3).Draw(t, "commands") {
				args := rapid.SliceOfN(text(), 1, 5).Draw(t, "args")
				b.Commands = append(b.Commands, Command{
					Space: 1, DB: uint8(rapid.IntRange(0, 15).Draw(t, "db")), Args: args, Ticket: rapid.Uint64Max(300).Draw(t, "ticket"),
				})
			}
			e.Batches = append(e.Batches, b)
		}
		back, err := DecodeEntry(AppendEntry(nil, e))
		if err != nil || !reflect.DeepEqual(back, e) {
			t.Fatalf("got %+v (%v), want %+v", back, err, e)
		}
	})
}

func FuzzEntry(f *testing.F) {
	for _, e := range goldenEntries {
		f.Add(AppendEntry(nil, e))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		e, err := DecodeEntry(data)
		if err != nil {
			return
		}
		again := AppendEntry(nil, e)
		back, err := DecodeEntry(again)
		if err != nil || !reflect.DeepEqual(back, e) {
			t.Fatalf("decoded %+v, and its encoding decodes as %+v (%v)", e, back, err)
		}
		a, b := New(), New()
		ra, erra := a.Apply(1, e.Stamp.Term, data)
		rb, errb := b.Apply(1, e.Stamp.Term, data)
		if (erra == nil) != (errb == nil) || !reflect.DeepEqual(ra, rb) || a.Hash() != b.Hash() {
			t.Fatal("two machines differ after the same entry")
		}
	})
}
