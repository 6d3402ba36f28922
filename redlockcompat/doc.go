// Package redlockcompat is what clients of Redis, and Redlock libraries among
// them, expect of a server beyond plain commands: what a seat is called, and
// what the handshakes of drivers look at before they send a first lock.
//
// It promises nothing but constants and pure functions: no socket, no clock, no
// state, no raft. Package server uses it when it speaks to a driver. It never
// decides who holds a lock: that seats are masters of their own, the majority
// token and the rule that one name is one lock are the machine's, in package fsm.
//
// Read identity.go first, then seats.go.
package redlockcompat
