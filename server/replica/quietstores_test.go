package replica

import (
	"errors"
	"testing"
	"testing/synctest"

	"github.com/hashicorp/raft"
)

// brokenStores fail whatever raft would panic over.
type brokenStores struct{ *raft.InmemStore }

var errBroken = errors.New("broken")

func (brokenStores) GetLog(uint64, *raft.Log) error { return errBroken }

func (brokenStores) SetUint64([]byte, uint64) error { return errBroken }

// Raft reads an entry beneath a function of the name that raft's has.
type Raft struct{}

func (*Raft) processLogs(l *quietLog) error { return l.GetLog(1, &raft.Log{}) }

// A fault of a store never comes back to raft, which would end the process with a
// stack: who met it waits for the node to close and ends. A replication is told, as
// who reads a missing entry, which is no fault.
func TestRaftNeverSeesAFault(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stop := make(chan struct{})
		broken := brokenStores{raft.NewInmemStore()}
		ended := make(chan bool, 2)
		for _, call := range []func() error{
			func() error { return new(Raft).processLogs(&quietLog{broken, stop}) },
			func() error { return (&quietStable{broken, stop}).SetUint64([]byte("CurrentTerm"), 2) },
		} {
			go func() {
				defer func() { ended <- true }()
				t.Errorf("raft was told %v", call())
			}()
		}
		synctest.Wait()
		if len(ended) > 0 {
			t.Error("it ended before the node closed")
		}
		close(stop)
		<-ended
		<-ended
		if err := (&quietLog{broken, stop}).GetLog(1, &raft.Log{}); err != errBroken {
			t.Errorf("a replication: %v", err)
		}
		if err := (&quietLog{raft.NewInmemStore(), stop}).GetLog(1, &raft.Log{}); err != raft.ErrLogNotFound {
			t.Errorf("a missing entry: %v", err)
		}
	})
}
