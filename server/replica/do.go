package replica

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/redfence/redfence/fsm"
	"github.com/redfence/redfence/fsm/reply"
)

// Errors of Do.
var (
	// ErrNoLeader is returned when no leader was found in time. Nothing was executed.
	ErrNoLeader = errors.New("replica: no leader; not executed")
	// ErrUnknownOutcome is returned when the commands were sent and nobody can say
	// in time whether they were executed. It never means that they were not.
	ErrUnknownOutcome = errors.New("replica: outcome unknown")
	// ErrTooBusy is returned when too much waits already. Nothing was executed.
	ErrTooBusy = errors.New("replica: too many commands wait; not executed")
	// ErrTooLarge is returned for a command that the log can't take. Nothing was executed.
	ErrTooLarge = errors.New("replica: the command is too large; not executed")
	// ErrRepliesFull is returned when there is no room for a reply in time: clients
	// of this node read too slowly. Nothing was executed.
	ErrRepliesFull = errors.New("replica: replies wait for clients to read them; not executed")
	// ErrClosed is returned after Close has begun. Nothing was executed.
	ErrClosed = errors.New("replica: node is closed; not executed")
)

// Do is DoSome until all commands are answered, for answers that are small: it
// holds nothing of the budget when it returns.
func (n *Node) Do(ctx context.Context, client fsm.Client, cmds []fsm.Command) ([]fsm.Answer, error) {
	var all []fsm.Answer
	share := n.replies.Share()
	defer share.Release()
	for len(all) < len(cmds) {
		share.Release()
		answers, err := n.DoSome(ctx, client, cmds[len(all):], share)
		if err != nil && len(all) == 0 {
			return nil, err
		}
		if err != nil {
			// The commands before were executed, so the error can't speak for all.
			return padded(all, len(cmds), fsm.ErrUnknownOutcome), nil
		}
		all = append(all, answers...)
	}
	return all, nil
}

// DoSome executes the commands of one client in order and blocks until the first
// of them, at least one, are answered: as many as the budget of replies has room
// for at once. The others were not executed; the caller asks for them when it has
// written what it got and has Released the share, which must be empty before and
// holds the answers afterwards. Command.Client is set by DoSome. Lone reads run on
// the leader once it is confirmed, everything else travels in the log, where other
// clients' commands do not come between those of one call unless several of them
// are costly scripts or they are more than a batch takes.
//
// It may be called from any number of goroutines; commands of one connection
// take effect in order if each call is awaited. The texts of cmds must not change
// any more, even after it has returned. On an error see the errors above; when
// ctx ends first, the error is ctx's if nothing was executed, else ErrUnknownOutcome.
func (n *Node) DoSome(ctx context.Context, client fsm.Client, cmds []fsm.Command, share *Share) ([]fsm.Answer, error) {
	if len(cmds) == 0 {
		return nil, nil
	}
	n.describe(&client)
	if loneReads(cmds) {
		return n.doReads(ctx, &client, cmds, share)
	}
	for i := range cmds {
		if cmds[i].Size() > commandMax {
			return nil, ErrTooLarge
		}
	}
	return n.write(ctx, client, cmds, share)
}

// Replies is the budget of replies, which the node shares with who writes them.
func (n *Node) Replies() *Budget { return n.replies }

// write sends commands through the log, in as many entries as they need: what
// the machine put off, and all behind it, goes again in another one.
func (n *Node) write(ctx context.Context, client fsm.Client, cmds []fsm.Command, share *Share) ([]fsm.Answer, error) {
	var all []fsm.Answer
	var since time.Time // since when nothing but "put off" was answered
	for {
		rest := cmds[len(all):]
		answers, err := n.submit(ctx, client, rest[:n.cut(rest)], !since.IsZero())
		if err != nil {
			if len(all) == 0 {
				return nil, err
			}
			if errors.Is(err, ErrUnknownOutcome) {
				// It may have been executed: asked for again it would run twice.
				return padded(all, len(cmds), fsm.ErrUnknownOutcome), nil
			}
			return all, nil // the rest is asked for again, and fails by itself
		}
		done := slices.IndexFunc(answers, func(a fsm.Answer) bool { return fsm.PutOff(&a) })
		switch {
		case done < 0:
			done, since = len(answers), time.Time{}
		case done > 0 || since.IsZero():
			since = time.Now()
		case time.Since(since) > n.cfg.AnswerWait:
			return padded(all, len(cmds), fsm.ErrPutOff), nil
		}
		share.Force(footprints(answers[:done]))
		if done == len(cmds) {
			return answers, nil
		}
		if all = append(all, answers[:done]...); len(all) == len(cmds) || share.Full() || n.replies.spent() {
			return all, nil
		}
	}
}

// padded answers v for the commands that have no answer.
func padded(all []fsm.Answer, n int, v reply.Value) []fsm.Answer {
	for len(all) < n {
		all = append(all, fsm.Answer{Value: v})
	}
	return all
}

// describe cuts a client's texts to what the log takes.
func (n *Node) describe(c *fsm.Client) {
	if c.Node == "" {
		c.Node = n.cfg.NodeID
	}
	for _, s := range []*string{&c.Name, &c.Addr, &c.Library, &c.Node} {
		*s = (*s)[:min(len(*s), fsm.ClientTextMax)]
	}
}

// loneReads says whether all commands only read and none is a script.
func loneReads(cmds []fsm.Command) bool {
	for i := range cmds {
		if cmds[i].Exec != nil || len(cmds[i].Args) == 0 {
			return false
		}
		spec := fsm.Find(cmds[i].Args[0])
		if spec == nil || spec.Where != fsm.Machine || !spec.Has(fsm.Read) || spec.Has(fsm.Write) || spec.Has(fsm.Script) {
			return false
		}
	}
	return true
}

// cut says how many of the commands travel together: what fits into a batch,
// with one costly script at most.
func (n *Node) cut(cmds []fsm.Command) int {
	size, costly := 0, false
	for i := range cmds {
		size += cmds[i].Size()
		hasCost := n.costs.of(&cmds[i]) >= costlyScript
		if i > 0 && (size > fsm.BatchBytes || costly && hasCost) {
			return i
		}
		costly = costly || hasCost
	}
	return len(cmds)
}

func (n *Node) counted(err error, cmds int) error {
	switch {
	case errors.Is(err, ErrNoLeader):
		n.stats.NoLeader.Add(uint64(cmds))
	case errors.Is(err, ErrUnknownOutcome):
		n.stats.UnknownOutcomes.Add(uint64(cmds))
	case errors.Is(err, ErrTooBusy), errors.Is(err, ErrRepliesFull):
		n.stats.TooBusy.Add(uint64(cmds))
	}
	return err
}

// doReads answers lone reads, here or on the leader. They change nothing, so
// they are asked again until somebody who leads answers and there is room.
func (n *Node) doReads(ctx context.Context, client *fsm.Client, cmds []fsm.Command, share *Share) ([]fsm.Answer, error) {
	began := time.Now()
	limit, cancel := context.WithTimeout(ctx, n.cfg.NoLeaderWait+n.cfg.AnswerWait)
	defer cancel()
	for {
		if n.isClosed() {
			return nil, ErrClosed
		}
		answers, err := n.readHere(limit, client, cmds, share)
		if errors.Is(err, errNotLeading) {
			answers, err = n.readThere(limit, client, cmds, share)
		}
		var room *noRoomError
		if errors.As(err, &room) {
			if err = share.Wait(limit, room.size); err == nil {
				continue
			}
		}
		switch {
		case err == nil:
			return answers, nil
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case errors.Is(err, ErrRepliesFull), room != nil:
			return nil, n.counted(ErrRepliesFull, len(cmds))
		case !errors.Is(err, errNotLeading) && limit.Err() == nil:
			return nil, err
		case limit.Err() != nil, time.Since(began) > n.cfg.NoLeaderWait && !n.hasLeader():
			return nil, n.counted(ErrNoLeader, len(cmds))
		}
		select {
		case <-limit.Done():
		case <-n.stop:
		case <-time.After(readRetryWait):
		}
	}
}

// noRoomError says that an answer was made and let go of, since the budget had no
// room for its size.
type noRoomError struct{ size int64 }

func (e *noRoomError) Error() string { return "replica: no room for a reply" }
