package replica

import (
	"context"

	"github.com/redfence/redfence/fsm"
)

// read answers lone reads from the state as applied, as many of them as the share
// has room for. The lock is taken for each, and for no longer than lightRead: one
// client's long pipeline must not hold up what others wait for. What can't be
// answered before ctx ends is put off. Without room for the first answer the error
// is a noRoomError.
func (m *machine) read(ctx context.Context, client *fsm.Client, cmds []fsm.Command, at fsm.At, share *Share) ([]fsm.Answer, error) {
	defer share.Trim()
	out := make([]fsm.Answer, 0, len(cmds))
	for i := range cmds {
		var a fsm.Answer
		light := false
		m.look(func(s *fsm.State) { a, light = s.ReadWithin(&cmds[i], client, at, lightRead) })
		size, fits := answerBytes+Footprint(&a.Value), false
		if light {
			fits = share.Add(size)
		} else {
			a, size, fits = m.readHeavy(ctx, client, &cmds[i], at, share)
		}
		switch {
		case fits:
			out = append(out, a)
		case i == 0:
			return nil, &noRoomError{size}
		}
		if !fits || share.Full() {
			break
		}
	}
	return out, nil
}

// readHeavy answers a read that takes long from a copy of the state, beside what
// is applied meanwhile. Its answer is in the share before the next one is made.
func (m *machine) readHeavy(ctx context.Context, client *fsm.Client, cmd *fsm.Command, at fsm.At, share *Share) (fsm.Answer, int64, bool) {
	select {
	case m.heavy <- struct{}{}:
		defer func() { <-m.heavy }()
	case <-ctx.Done():
		return fsm.Answer{Value: fsm.ErrPutOff}, 0, true
	}
	if ctx.Err() != nil {
		return fsm.Answer{Value: fsm.ErrPutOff}, 0, true
	}
	m.mu.Lock()
	s := m.state.ReadCopy()
	m.mu.Unlock()
	a := s.Read(cmd, client, at)
	size := answerBytes + Footprint(&a.Value)
	return a, size, share.Add(size)
}
