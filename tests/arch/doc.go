// Package arch holds the rules of the repository that a compiler doesn't check,
// as tests: which package may import which, what the state machine may touch,
// where the log is written and the lease clock read, how long a function gets,
// which modules may be used and why.
//
// It promises that a change that breaks one of them fails `go test ./tests/arch`
// with the file and line. It only reads sources; nothing imports it, and it
// never builds or runs anything. Read tree_test.go first, then imports_test.go.
package arch
