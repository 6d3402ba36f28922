package replica

import (
	"sync"
	"time"
)

// clock is the lease clock, and the only place where this package looks at the
// time for what leases mean. It follows the monotonic clock in steps that are
// capped: a process that was stopped, or starved, loses the time instead of
// ending every lease before it has read the renewals that wait in its sockets.
//
// It runs on every node, so that time spent stopped is never counted; only a
// leader sets it (start) and reads it for stamps.
type clock struct {
	mu      sync.Mutex
	mono    func() time.Duration
	wall    func() int64
	last    time.Duration // of mono, at the last step
	elapsed time.Duration // the sum of the capped steps
	lost    time.Duration // what the caps cut off
	base    int64         // lease time in microseconds at elapsed 0

	windowStart time.Duration // of mono
	windowLost  time.Duration
}

// monotonic is the machine's monotonic clock, from an arbitrary start.
func monotonic() func() time.Duration {
	start := time.Now()
	return func() time.Duration { return time.Since(start) }
}

// wallMicros is the machine's wall clock in microseconds since 1970.
func wallMicros() int64 { return time.Now().UnixMicro() }

func newClock(mono func() time.Duration, wall func() int64) *clock {
	now := mono()
	return &clock{mono: mono, wall: wall, last: now, windowStart: now}
}

// run steps the clock each tick until stop is closed. starved is called when more than
// half of the last lossWindow was lost, and also after each step, for what else is to
// be looked at now and then: each ticker of its own would wake an idle process.
func (c *clock) run(stop <-chan struct{}, tick time.Duration, starved, also func()) {
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	for {
		select {
		case <-stop:
			return
		case <-ticker.C:
			if c.tick() {
				starved()
			}
			also()
		}
	}
}

// tick steps the clock and says whether a window has just ended in which more
// than half was lost.
func (c *clock) tick() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.step()
	window := c.last - c.windowStart
	if window < lossWindow {
		return false
	}
	starved := c.windowLost > window/2
	c.windowStart, c.windowLost = c.last, 0
	return starved
}

func (c *clock) step() {
	now := c.mono()
	passed := max(now-c.last, 0)
	c.last = max(now, c.last)
	counted := min(passed, clockStepMax)
	c.elapsed += counted
	c.lost += passed - counted
	c.windowLost += passed - counted
}

// start sets the clock to the machine's time, in microseconds.
func (c *clock) start(now int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.step()
	c.base = now - c.elapsed.Microseconds()
}

// now is the lease time in microseconds.
func (c *clock) now() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.step()
	return c.base + c.elapsed.Microseconds()
}

// counted is how much time has been counted since the process began, for what
// must not take the time of a stopped process for its own.
func (c *clock) counted() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.step()
	return c.elapsed
}

// lostTime is how much time the caps have cut off since the process began.
func (c *clock) lostTime() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lost
}
