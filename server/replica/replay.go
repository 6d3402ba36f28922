package replica

import (
	"context"
	"sync"

	"github.com/hashicorp/raft"
)

// replay applies what was in the log when the node started, beside raft. Raft
// hands its machine everything that is committed at once, and can't answer a vote
// while more than some 2,000 entries wait: a node that replays would keep the
// others from electing a leader. Nobody waits for the outcome of these entries: this
// process has proposed none of them.
type replay struct {
	mu      sync.Mutex
	changed sync.Cond // queue, bytes, running or closed changed
	queue   []*raft.Log
	bytes   int // of queue
	running bool
	closed  bool

	passOn sync.Once // a leader that replays gives up its office once

	until uint64 // the last entry that was in the log at the start
	apply func(*raft.Log) any
	spawn func(func())
}

// newReplay is closed when life ends.
func newReplay(life context.Context, apply func(*raft.Log) any, spawn func(func())) *replay {
	r := &replay{apply: apply, spawn: spawn}
	r.changed.L = &r.mu
	context.AfterFunc(life, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.closed, r.queue = true, nil
		r.changed.Broadcast()
	})
	return r
}

// take queues entries if all of them were in the log at the start.
func (r *replay) take(logs []*raft.Log) bool {
	if len(logs) == 0 || logs[len(logs)-1].Index > r.until {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.bytes > replayBytes && !r.closed {
		r.changed.Wait()
	}
	if r.closed {
		return true
	}
	r.queue = append(r.queue, logs...)
	for _, l := range logs {
		r.bytes += len(l.Data)
	}
	if !r.running {
		r.running = true
		r.spawn(r.run)
	}
	return true
}

// run applies what is queued until there is nothing left.
func (r *replay) run() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for len(r.queue) > 0 {
		l := r.queue[0]
		r.queue[0], r.queue = nil, r.queue[1:]
		r.bytes -= len(l.Data)
		r.mu.Unlock()
		r.apply(l)
		r.mu.Lock()
		r.changed.Broadcast()
	}
	r.running = false
	r.changed.Broadcast()
}

// pending says whether anything is queued.
func (r *replay) pending() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.running
}

// drain waits until all that was queued is applied. It answers false if the node
// closes first: then something may be missing, and nothing may be applied any more.
func (r *replay) drain() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.running && !r.closed {
		r.changed.Wait()
	}
	return !r.closed
}

// passOn hands leadership on if this node, just elected, has yet to replay what the
// others may have long applied: it could serve nobody meanwhile. It does so once, since
// after a stop of the whole cluster all of them replay.
func (n *Node) passOn() {
	if !n.machine.replay.pending() {
		return
	}
	n.machine.replay.passOn.Do(func() {
		n.log.Info("this node was elected while it replays its log: it hands leadership on")
		n.spawn(func() {
			if err := n.Handover(context.Background()); err != nil {
				n.log.Warn("handover failed", "error", err)
			}
		})
	})
}
