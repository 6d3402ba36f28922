// Package redistests runs the tests of Redis itself, which are not part of this
// repository, against a Redfence node, as against a server that somebody else
// started.
//
// It promises that every unit of them either runs or is listed with the reason why
// it doesn't, and that of a unit that runs every test passes but those that are
// listed with the reason. Nothing imports it. It needs the source of Redis 7.0.15
// and tclsh, and is skipped without.
//
// Read units_test.go first, then leftout.txt (which tests are left out and why).
package redistests
