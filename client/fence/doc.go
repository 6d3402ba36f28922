// Package fence keeps late writes out of a resource. A holder of a lock that stood
// still past its lease doesn't know it, and writes on. Its fencing token is lower
// than that of the next holder, so a resource that remembers the highest token it
// has seen can refuse it.
//
//   - Gate and Gates remember it in memory: for a resource that is this process.
//   - Table and Exec leave it to the database, in the transaction that writes.
//   - Handler refuses HTTP requests with an old token; SetToken puts it into one.
//
// In all of them the check and the write are one step: a check that is done before
// the write lets a newer holder in between. An equal token passes, since a holder
// writes more than once. The tokens of one name must be compared with one another
// only, though they rise over all names.
//
// What is in this package may be used by any number of goroutines. It doesn't talk
// to Redfence: the token is all that a resource has to know. Read gate.go first.
package fence
