package fence

import (
	"errors"
	"fmt"
	"sync"
)

// ErrOldToken is returned when a token is lower than one that was seen before: its
// holder has lost the lock and must stop.
var ErrOldToken = errors.New("fence: the token is older than one that was seen before")

// ErrNoToken is returned for a token below 1, which no grant has.
var ErrNoToken = errors.New("fence: there is no token")

// ErrFull is returned by Gates for a new name when it has as many as it may have.
var ErrFull = errors.New("fence: there are too many names")

// Gate guards one resource in memory. The zero Gate has seen no token.
type Gate struct {
	mu      sync.Mutex
	highest int64
}

// Do runs f if the token is not older than the highest that was seen. Others wait
// meanwhile, so that nothing newer can come between the check and what f does.
// The token counts as seen whatever f returns.
func (g *Gate) Do(token int64, f func() error) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case token < 1:
		return ErrNoToken
	case token < g.highest:
		return fmt.Errorf("%w: %d after %d", ErrOldToken, token, g.highest)
	}
	g.highest = token
	return f()
}

// Highest is the highest token that was seen, 0 if none was.
func (g *Gate) Highest() int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.highest
}

// Gates is a Gate a name, for names that come and go.
type Gates struct {
	most int

	mu    sync.Mutex
	gates map[string]*Gate
}

// NewGates keeps gates of at most so many names. A name keeps its place until Forget.
func NewGates(most int) *Gates { return &Gates{most: most, gates: map[string]*Gate{}} }

// Do is Gate.Do for one name; ErrFull if there is no place for a new one.
func (g *Gates) Do(name string, token int64, f func() error) error {
	gate, err := g.gate(name)
	if err != nil {
		return err
	}
	return gate.Do(token, f)
}

func (g *Gates) gate(name string) (*Gate, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	gate := g.gates[name]
	if gate == nil {
		if len(g.gates) >= g.most {
			return nil, ErrFull
		}
		gate = new(Gate)
		g.gates[name] = gate
	}
	return gate, nil
}

// Forget gives a name's place free: of a resource that is no more. A later write
// with any token would pass.
func (g *Gates) Forget(name string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.gates, name)
}
