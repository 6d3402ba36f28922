//go:build !race

package script

// raceEnabled: see the other file.
const raceEnabled = false
