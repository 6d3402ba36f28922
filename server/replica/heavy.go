package replica

import (
	"context"

	"github.com/redfence/redfence/fsm"
)

// read answers lone reads from the state as applied. The lock is taken for each
// of them, and for no longer than lightRead: one client's long pipeline must not
// hold up what others wait for. What can't be answered before ctx ends is put off.
func (m *machine) read(ctx context.Context, client *fsm.Client, cmds []fsm.Command, at fsm.At) []fsm.Answer {
	out := make([]fsm.Answer, len(cmds))
	for i := range cmds {
		ok := false
		m.look(func(s *fsm.State) { out[i], ok = s.ReadWithin(&cmds[i], client, at, lightRead) })
		if !ok {
			out[i] = m.readHeavy(ctx, client, &cmds[i], at)
		}
	}
	return out
}

// readHeavy answers a read that takes long from a copy of the state, beside what
// is applied meanwhile.
func (m *machine) readHeavy(ctx context.Context, client *fsm.Client, cmd *fsm.Command, at fsm.At) fsm.Answer {
	select {
	case m.heavy <- struct{}{}:
		defer func() { <-m.heavy }()
	case <-ctx.Done():
		return fsm.Answer{Value: fsm.ErrPutOff}
	}
	if ctx.Err() != nil {
		return fsm.Answer{Value: fsm.ErrPutOff}
	}
	m.mu.Lock()
	s := m.state.ReadCopy()
	m.mu.Unlock()
	return s.Read(cmd, client, at)
}
