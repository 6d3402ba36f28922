package replica

import (
	"testing"
	"testing/synctest"
	"time"
)

// Promise 2: a step counts 200 ms at most, so a process that was stopped loses
// the time it did not run.
func TestClockCapsItsSteps(t *testing.T) {
	var mono time.Duration
	c := newClock(func() time.Duration { return mono }, nil)
	c.start(1_000_000)
	for _, step := range []struct{ passes, counts time.Duration }{
		{0, 0},
		{50 * time.Millisecond, 50 * time.Millisecond},
		{clockStepMax, clockStepMax},
		{clockStepMax + 1, clockStepMax},
		{10 * time.Second, clockStepMax},
		{-time.Second, 0}, // a source that goes back is not followed
		{time.Second + time.Millisecond, time.Millisecond},
	} {
		before := c.now()
		mono += step.passes
		if got := c.now() - before; got != step.counts.Microseconds() {
			t.Errorf("%v passed: the clock moved by %d µs, want %v", step.passes, got, step.counts)
		}
	}
	if want := 10*time.Second - clockStepMax + 1; c.lostTime() != want {
		t.Errorf("lost %v, want %v", c.lostTime(), want)
	}
}

func TestClockFollowsAndNoticesStarvation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		rate := 1.0
		mono := func() time.Duration { return time.Duration(float64(time.Since(start)) * rate) }
		c := newClock(mono, nil)
		c.start(0)
		stop, starved := make(chan struct{}), 0
		go c.run(stop, clockTick, func() { starved++ }, func() {})
		<-time.After(time.Minute)
		synctest.Wait()
		if got := c.now(); got != time.Minute.Microseconds() || starved != 0 || c.lostTime() != 0 {
			t.Errorf("after a minute: %d µs, starved %d times, lost %v", got, starved, c.lostTime())
		}
		close(stop)
		synctest.Wait()

		// A process that runs only once in half a second: 60 % of its time is lost.
		c.last = mono()
		for range 60 {
			<-time.After(500 * time.Millisecond)
			if c.tick() {
				starved++
			}
		}
		if starved < 2 {
			t.Errorf("starved for half a minute and noticed %d times", starved)
		}
	})
}
