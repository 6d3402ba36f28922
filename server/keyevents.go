package server

import "sync"

// keyEventsSwitch asks the machine for events of keys while somebody needs
// them: the setting notify-keyspace-events, or connections that track. It is
// safe for concurrent use. Its lock is not one that an event needs.
type keyEventsSwitch struct {
	mu       sync.Mutex
	notify   bool
	trackers int
	set      func(on bool)
}

func (k *keyEventsSwitch) setNotify(on bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.notify = on
	k.set(k.notify || k.trackers > 0)
}

func (k *keyEventsSwitch) add(trackers int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.trackers += trackers
	k.set(k.notify || k.trackers > 0)
}
