// Package compare runs plain Redlock over independent redis-servers and Redfence
// beside each other: the same real redsync, the same load, the same faults, and one
// report of what was seen.
//
// It promises that every figure of the report was counted in the run, by the
// resource that the locks protect or by the workers, and that a fault which could
// not be made is shown as not run, with the reason. It starts processes of its own
// on free loopback ports, with data in a folder of its own, and ends them all,
// whatever happens. Run may be called once at a time; only cmd/redfence calls it. It
// never touches a server that it didn't start, and knows nothing of Redfence's inside.
//
// Read run.go first, then faults.go.
package compare
