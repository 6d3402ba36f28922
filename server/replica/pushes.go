package replica

import "sync"

// pushes sends the events of entries to the other nodes that listen, as soon as the
// leader has them. A node that nobody listens at makes them itself a moment later.
//
// A push is of use only behind what went before it (feed.pushed), so whoever begins
// to listen is sent the last ones first: its own machine is one or two entries behind.
type pushes struct {
	mu     sync.Mutex
	recent []eventsPush // the last pushesKept, the oldest first
}

// push sends the events of an entry of a size to those of the guests that listen.
func (p *pushes) push(guests []*guest, push eventsPush, size int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.keep(push, size)
	for _, g := range guests {
		if g.listens {
			g.push(&push)
		}
	}
}

// keep remembers a push. Its texts are parts of the entry, so that a large one is
// forgotten, with those before it, which are of no use without it. The lock is held.
func (p *pushes) keep(push eventsPush, size int) {
	if size > pushedEntryMax {
		p.recent = nil
		return
	}
	if len(p.recent) == pushesKept {
		copy(p.recent, p.recent[1:])
		p.recent = p.recent[:pushesKept-1]
	}
	p.recent = append(p.recent, push)
}

// forget lets go of what was pushed, when this node leads no more.
func (p *pushes) forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.recent = nil
}

// setListens says whether a guest listens.
func (p *pushes) setListens(g *guest, on bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if on && !g.listens {
		for i := range p.recent {
			g.push(&p.recent[i])
		}
	}
	g.listens = on
}

func (g *guest) push(push *eventsPush) {
	g.out.send(frameEvents, func(b []byte) []byte { return appendEvents(b, push) })
}
