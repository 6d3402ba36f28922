package server

import "sync"

// listening counts what connections of this node listen to and keep in caches, so
// that events come without delay while there is anything. It is safe for concurrent use.
type listening struct {
	mu    sync.Mutex
	count int
	set   func(on bool)
}

func (l *listening) init(set func(on bool)) {
	l.set = set
	set(false)
}

// add counts n more, or fewer. Whoever begins to listen is told so afterwards.
func (l *listening) add(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	before := l.count
	l.count += n
	if (before > 0) != (l.count > 0) {
		l.set(l.count > 0)
	}
}
