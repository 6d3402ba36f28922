// Package client takes locks from a Redfence cluster over its Redis port.
//
//	c, err := client.New("10.0.0.1:6379", "10.0.0.2:6379", "10.0.0.3:6379")
//	grant, err := c.Mutex("door").Lock(ctx)
//	defer grant.Unlock(ctx)
//	write(grant.Context(), grant.Token())
//
// What is had is a Grant: a name, a fencing token, and a lease that is renewed in
// the background until Unlock. Mutex, RWMutex, Semaphore, MultiLock, Election and
// Once are ways to come by one; a Session is one lease for many of them.
//
// Promises:
//
//   - Two grants of one name never overlap, as long as every holder stops when its
//     Context is done. That is before the cluster can give the lease away: it is
//     counted from before the request was sent, on a monotonic clock, less what
//     clocks may differ, less a margin.
//   - Whatever reply is lost, the same owner asks again, of another node if need be:
//     never two grants for one call, and no lock is left behind that nobody holds.
//   - Renewal ends with the grant, and a Grant that the program has forgotten is
//     not renewed for ever.
//
// A process that stands still can't look at its Context. Send Token with every
// write and let the resource refuse an old one: package client/fence.
//
// A Client and everything made from it may be used from any number of goroutines.
// The package never reads the environment or panics on what a server says. What
// fails is told by errors and states; go-redis beneath also writes a line for each
// failed connection, which redis.SetLogger redirects. Read client.go, then claim.go and
// lease.go.
package client
