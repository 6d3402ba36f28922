package client

import "context"

// Mutex is a name that one holds at a time.
type Mutex struct{ lock }

// Mutex is the lock of that name. Nothing is asked yet.
func (c *Client) Mutex(name string, options ...Option) *Mutex {
	return &Mutex{lock{c: c, names: []string{name}, terms: newTerms(options)}}
}

// Lock waits in the lock's queue, first come first served, until it is granted or
// ctx ends. ctx bounds the wait alone: the grant outlives it.
func (m *Mutex) Lock(ctx context.Context) (*Grant, error) { return m.acquire(ctx, true) }

// TryLock takes the lock if nobody has it, and returns ErrHeld if somebody does.
func (m *Mutex) TryLock(ctx context.Context) (*Grant, error) { return m.acquire(ctx, false) }

// Do waits for the lock, runs f with a context that ends with the lock or with ctx,
// and unlocks.
func (m *Mutex) Do(ctx context.Context, f func(ctx context.Context, g *Grant) error) error {
	return m.do(ctx, f)
}

// RWMutex is a name that one holds to write or any number to read. Who waits to
// write is not passed by later readers.
type RWMutex struct{ write, read lock }

// RWMutex is the lock of that name. A name that is a Mutex elsewhere can be this, too.
func (c *Client) RWMutex(name string, options ...Option) *RWMutex {
	l := lock{c: c, names: []string{name}, terms: newTerms(options)}
	r := l
	r.shared = true
	return &RWMutex{write: l, read: r}
}

// Lock waits to be the only holder.
func (m *RWMutex) Lock(ctx context.Context) (*Grant, error) { return m.write.acquire(ctx, true) }

// TryLock is Lock without a wait: ErrHeld while anybody reads or writes.
func (m *RWMutex) TryLock(ctx context.Context) (*Grant, error) { return m.write.acquire(ctx, false) }

// RLock waits to be one of the readers.
func (m *RWMutex) RLock(ctx context.Context) (*Grant, error) { return m.read.acquire(ctx, true) }

// TryRLock is RLock without a wait: ErrHeld while somebody writes.
func (m *RWMutex) TryRLock(ctx context.Context) (*Grant, error) { return m.read.acquire(ctx, false) }

// Semaphore is a name that a number may hold at once.
type Semaphore struct{ lock }

// Semaphore is the one of that name with so many permits: at least one, and the
// same number wherever it is used.
func (c *Client) Semaphore(name string, permits int, options ...Option) *Semaphore {
	return &Semaphore{lock{c: c, names: []string{name}, terms: newTerms(options), permits: permits, counted: true}}
}

// Acquire waits for a permit. Unlock of the Grant gives it back.
func (s *Semaphore) Acquire(ctx context.Context) (*Grant, error) { return s.acquire(ctx, true) }

// TryAcquire is Acquire without a wait: ErrHeld while all permits are taken.
func (s *Semaphore) TryAcquire(ctx context.Context) (*Grant, error) { return s.acquire(ctx, false) }

// Do waits for a permit, runs f with a context that ends with the permit or with
// ctx, and gives it back.
func (s *Semaphore) Do(ctx context.Context, f func(ctx context.Context, g *Grant) error) error {
	return s.do(ctx, f)
}

// MultiLock is several names that are held together: all or none.
type MultiLock struct{ lock }

// MultiLock is the lock of all these names, each given once. Two that name them in
// a different order can't block one another. WithSession, WithDelay and WithNote
// are not for it.
func (c *Client) MultiLock(names []string, options ...Option) *MultiLock {
	return &MultiLock{lock{c: c, names: append([]string(nil), names...), terms: newTerms(options), all: true}}
}

// Lock waits until all names can be had at once.
func (m *MultiLock) Lock(ctx context.Context) (*Grant, error) { return m.acquire(ctx, true) }

// TryLock is Lock without a wait: ErrHeld while others hold one of the names.
func (m *MultiLock) TryLock(ctx context.Context) (*Grant, error) { return m.acquire(ctx, false) }

// Do waits for all names, runs f with a context that ends with the locks or with
// ctx, and unlocks.
func (m *MultiLock) Do(ctx context.Context, f func(ctx context.Context, g *Grant) error) error {
	return m.do(ctx, f)
}
