//go:build race

package script

// raceEnabled: the race detector makes everything many times slower.
const raceEnabled = true
