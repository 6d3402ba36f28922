// Package differential sends the same commands to a real redis-server and to
// Redfence and compares the replies byte for byte.
//
// It promises that every row of the command table that Redis has, too, was
// compared at least thirty times, in sequences drawn from a seed that is printed
// and can be given again; what can't be compared is listed in one table, with
// the reason, and counted. Nothing imports it. It needs redis-server 7.0, and is
// skipped without one unless CI is set.
//
// Read differential_test.go first, then rules_test.go (what may differ and why)
// and draw_test.go (from what sequences are drawn).
package differential
