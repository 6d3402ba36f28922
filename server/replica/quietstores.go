package replica

import (
	"runtime"
	"strings"

	"github.com/hashicorp/raft"
)

// quietLog and quietStable are the stores as raft gets them. Raft panics over an
// entry that it can't read to apply it and a term that it can't write. The node is
// told of such a fault by the watch beneath and ends for it; the last that its
// operator reads should be that fault and no stack, so raft's goroutine never gets
// the error: it waits until the node closes and ends. Elsewhere raft has to get it:
// a replication that just ended would leave behind what Shutdown waits for.
type quietLog struct {
	raft.LogStore
	stop <-chan struct{}
}

type quietStable struct {
	raft.StableStore
	stop <-chan struct{}
}

var _ raft.MonotonicLogStore = (*quietLog)(nil)

// IsMonotonic says whether the store needs entries without a gap.
func (l *quietLog) IsMonotonic() bool {
	m, ok := l.LogStore.(raft.MonotonicLogStore)
	return ok && m.IsMonotonic()
}

func (l *quietLog) GetLog(index uint64, log *raft.Log) error {
	err := l.LogStore.GetLog(index, log)
	if err != nil && err != raft.ErrLogNotFound && calledBy("(*Raft).processLogs") {
		endQuietly(l.stop)
	}
	return err
}

func (s *quietStable) SetUint64(key []byte, val uint64) error {
	err := s.StableStore.SetUint64(key, val)
	if err != nil {
		endQuietly(s.stop)
	}
	return err
}

// calledBy says whether a function, by the end of its name, is among the callers.
func calledBy(name string) bool {
	var pcs [32]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
	for {
		frame, more := frames.Next()
		if strings.HasSuffix(frame.Function, name) {
			return true
		}
		if !more {
			return false
		}
	}
}

func endQuietly(stop <-chan struct{}) {
	<-stop
	runtime.Goexit()
}
