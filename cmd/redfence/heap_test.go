package main

import (
	"runtime"
	"testing"
	"time"
)

// Little in use: garbage up to the floor. Much in use: as Go does by itself.
func TestPercentFor(t *testing.T) {
	for _, tt := range []struct{ used, garbage uint64 }{
		{4 << 20, heapFloor}, {16 << 20, heapFloor}, {48 << 20, heapFloor}, {64 << 20, 64 << 20}, {1 << 30, 1 << 30}, {0, heapFloor},
	} {
		if got := max(tt.used, 1<<20) * uint64(percentFor(tt.used)) / 100; got < tt.garbage*9/10 || got > tt.garbage*11/10 {
			t.Errorf("with %d bytes in use %d of garbage may gather, want about %d", tt.used, got, tt.garbage)
		}
	}
}

func TestAfterEachCollection(t *testing.T) {
	calls := make(chan struct{}, 100)
	afterEachCollection(func() { calls <- struct{}{} })
	for i := range 3 {
		end := time.After(10 * time.Second)
		for done := false; !done; {
			runtime.GC()
			select {
			case <-calls:
				done = true
			case <-end:
				t.Fatalf("no call after a collection, %d before", i)
			default:
				runtime.Gosched()
			}
		}
	}
}
