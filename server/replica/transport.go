package replica

import (
	"errors"
	"sync"
	"time"

	"github.com/hashicorp/raft"
)

// watchedTransport is raft's transport with one more duty: it notes when each
// AppendEntries began to be sent, and what its success proves about the reads
// that wait (reads.go) and about how far a member has come.
type watchedTransport struct {
	*raft.NetworkTransport
	gate     *readGate
	progress *progress
	log      raft.LogStore
	place    func() (last, term uint64) // of this node's log, and the newest term it knows
}

var (
	_ raft.Transport   = (*watchedTransport)(nil)
	_ raft.WithPreVote = (*watchedTransport)(nil)
	_ raft.WithClose   = (*watchedTransport)(nil)
)

// AppendEntries sends one message and waits for its answer.
func (t *watchedTransport) AppendEntries(id raft.ServerID, target raft.ServerAddress,
	args *raft.AppendEntriesRequest, resp *raft.AppendEntriesResponse,
) error {
	if err := t.fill(args); err != nil {
		return err
	}
	began := t.gate.next()
	err := t.NetworkTransport.AppendEntries(id, target, args, resp)
	if err == nil {
		t.answered(id, began, args, resp)
	}
	return err
}

// fill adds to a message that has as many entries as raft puts into one (see
// entriesPerMessage), up to messageBytes: a member that was away for a moment, or is
// far away, gets all that it lacks at once. Raft goes on behind the last of args'
// entries, whoever added it. An entry read after a newer leader has replaced a part of
// this log must not follow older ones: nothing is replaced before the newer term is known.
func (t *watchedTransport) fill(args *raft.AppendEntriesRequest) error {
	n := len(args.Entries)
	if n < entriesPerMessage {
		return nil
	}
	bytes := 0
	for _, e := range args.Entries {
		bytes += len(e.Data)
	}
	last, _ := t.place()
	for index := args.Entries[n-1].Index + 1; index <= last; index++ {
		e := new(raft.Log)
		if err := t.log.GetLog(index, e); err != nil {
			break // compacted or unreadable: raft itself asks for it next, and says so
		}
		if bytes += len(e.Data); bytes > messageBytes {
			break
		}
		args.Entries = append(args.Entries, e)
	}
	if _, term := t.place(); term != args.Term {
		return errOldTerm
	}
	return nil
}

func (t *watchedTransport) answered(id raft.ServerID, began uint64, args *raft.AppendEntriesRequest, resp *raft.AppendEntriesResponse) {
	if !resp.Success || resp.Term != args.Term {
		return
	}
	t.gate.answered(string(id), args.Term, began)
	index := args.PrevLogEntry
	if n := len(args.Entries); n > 0 {
		index = args.Entries[n-1].Index
	}
	t.progress.note(string(id), args.Term, index)
}

// AppendEntriesPipeline opens a pipeline whose answers are noted likewise.
func (t *watchedTransport) AppendEntriesPipeline(id raft.ServerID, target raft.ServerAddress) (raft.AppendPipeline, error) {
	inner, err := t.NetworkTransport.AppendEntriesPipeline(id, target)
	if err != nil {
		return nil, err
	}
	p := &watchedPipeline{AppendPipeline: inner, t: t, id: id, out: make(chan raft.AppendFuture), closed: make(chan struct{})}
	go p.pump()
	return p, nil
}

// watchedPipeline hands answers on after it has noted them. They come in the
// order of the messages, so a queue of when those began is enough.
type watchedPipeline struct {
	raft.AppendPipeline
	t      *watchedTransport
	id     raft.ServerID
	out    chan raft.AppendFuture
	closed chan struct{}
	once   sync.Once
	last   uint64 // index of the log when the last message was made

	mu    sync.Mutex
	began []uint64
}

var (
	// errBehind ends a pipeline to a member that is behind by more than a message.
	errBehind  = errors.New("the member is behind: it gets one message after the other until it isn't")
	errOldTerm = errors.New("a newer term has begun")
)

// AppendEntries sends one message. Raft sends a pipeline a message when the log grows
// and each commitTimeout, and no more: who is behind by more than one takes, and gets
// none because nothing is written, would stay so. Without a pipeline raft sends until
// nothing is left.
func (p *watchedPipeline) AppendEntries(args *raft.AppendEntriesRequest, resp *raft.AppendEntriesResponse) (raft.AppendFuture, error) {
	if err := p.t.fill(args); err != nil {
		return nil, err
	}
	last, _ := p.t.place()
	if n := len(args.Entries); n > 0 && args.Entries[n-1].Index < last && last == p.last {
		return nil, errBehind
	}
	p.last = last
	p.mu.Lock()
	p.began = append(p.began, p.t.gate.next())
	p.mu.Unlock()
	return p.AppendPipeline.AppendEntries(args, resp)
}

func (p *watchedPipeline) pump() {
	for {
		select {
		case f := <-p.AppendPipeline.Consumer():
			p.mu.Lock()
			began := p.began[0]
			p.began = p.began[1:]
			p.mu.Unlock()
			if f.Error() == nil {
				p.t.answered(p.id, began, f.Request(), f.Response())
			}
			select {
			case p.out <- f:
			case <-p.closed:
				return
			}
		case <-p.closed:
			return
		}
	}
}

// Consumer gives the answered messages.
func (p *watchedPipeline) Consumer() <-chan raft.AppendFuture { return p.out }

// Close ends the pipeline and what was in flight on it.
func (p *watchedPipeline) Close() error {
	p.once.Do(func() { close(p.closed) })
	return p.AppendPipeline.Close()
}

// progress is how far each member's log has come, as this node's own messages
// as a leader have shown.
type progress struct {
	mu      sync.Mutex
	term    uint64
	members map[string]memberProgress
}

type memberProgress struct {
	index    uint64
	answered time.Time
}

// note takes over what an answer proved. Numbers of an older term are dropped:
// they say nothing about a log that was shortened since.
func (p *progress) note(id string, term, index uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if term < p.term {
		return
	}
	if term > p.term {
		p.term, p.members = term, map[string]memberProgress{}
	}
	m := p.members[id]
	m.index, m.answered = max(m.index, index), time.Now()
	p.members[id] = m
}

// of is what is known of a member in a term.
func (p *progress) of(id string, term uint64) (memberProgress, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	m, ok := p.members[id]
	return m, ok && p.term == term
}
