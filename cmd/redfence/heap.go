package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// heapFloor is how much garbage may gather before it is collected, however little
// is in use. A node with few locks has some megabytes in use: collected whenever as
// much again was made, as Go does by itself, it would spend an eighth of its time
// on that under load.
const heapFloor = 64 << 20

// collectRarely keeps to heapFloor from now on. GOGC in the environment goes
// before it, and GOMEMLIMIT holds in any case.
func collectRarely() {
	if _, given := os.LookupEnv("GOGC"); given {
		return
	}
	percent := percentFor(inUse())
	debug.SetGCPercent(percent)
	afterEachCollection(func() {
		// Setting it stops all goroutines for a moment.
		if want := percentFor(inUse()); want*10 > percent*11 || want*10 < percent*9 {
			percent = want
			debug.SetGCPercent(percent)
		}
	})
}

// percentFor is Go's GC percentage with so many bytes in use.
func percentFor(used uint64) int {
	return int(max(100, heapFloor*100/max(used, 1<<20)))
}

// inUse is what the last collection left, with what it looked through beside the
// heap: Go's percentage is of all that.
func inUse() uint64 {
	samples := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/gc/scan/stack:bytes"}, {Name: "/gc/scan/globals:bytes"}}
	metrics.Read(samples)
	sum := uint64(0)
	for i := range samples {
		if samples[i].Value.Kind() == metrics.KindUint64 {
			sum += samples[i].Value.Uint64()
		}
	}
	return sum
}

// afterEachCollection calls f after each garbage collection, one call at a time.
func afterEachCollection(f func()) {
	type sentinel struct{ _ [16]byte }
	var again func(*sentinel)
	again = func(s *sentinel) {
		f()
		runtime.SetFinalizer(s, again)
	}
	runtime.SetFinalizer(&sentinel{}, again)
}
