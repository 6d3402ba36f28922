package replica

import (
	"fmt"
	"io"
	"log/slog"
	"sync"
	"testing"

	"github.com/hashicorp/raft"
)

// TestSnapshotsFinishAtOnce: raft finishes a snapshot of its own while it installs
// one of the leader's, perhaps of the same index, and lists them meanwhile. An
// error of any of these ends a node.
func TestSnapshotsFinishAtOnce(t *testing.T) {
	s, err := openSnapshots(t.TempDir(), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	const rounds = 50
	var all sync.WaitGroup
	for writer := range 3 {
		all.Go(func() {
			for i := range rounds {
				text := fmt.Sprintf("snapshot %d", i+writer/2)
				if err := writeSnapshot(s, uint64(i+writer/2), text); err != nil {
					t.Errorf("writer %d, snapshot %d: %v", writer, i, err)
				}
				if _, err := s.List(); err != nil {
					t.Errorf("writer %d, list: %v", writer, err)
				}
			}
		})
	}
	all.Wait()
	metas, err := s.List()
	if err != nil || len(metas) != snapshotsKept || metas[0].Index != rounds {
		t.Fatalf("kept: %v, %v", metas, err)
	}
	_, body, err := s.Open(metas[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	defer body.Close()
	if got, err := io.ReadAll(body); err != nil || string(got) != fmt.Sprintf("snapshot %d", rounds) {
		t.Errorf("the newest has %q, %v", got, err)
	}
}

func writeSnapshot(s *snapshotFiles, index uint64, text string) error {
	sink, err := s.Create(1, index, 1, raft.Configuration{}, 0, nil)
	if err != nil {
		return err
	}
	if _, err := io.WriteString(sink, text); err != nil {
		return err
	}
	return sink.Close()
}
