package client_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"os"
	"testing"
	"time"

	"github.com/redfence/redfence/client"
	"github.com/redfence/redfence/fsm"
	"github.com/redfence/redfence/server"
	"github.com/redfence/redfence/server/replica"
)

// node is the address of a real node, which lives as long as the tests.
var node string

func TestMain(m *testing.M) {
	r, err := replica.Start(context.Background(), replica.Config{
		NodeID: "n1", RaftListen: "127.0.0.1:0", Held: replica.NewMemory(), Fatal: func(err error) { log.Fatal(err) },
	})
	if err != nil {
		log.Fatal(err)
	}
	s, err := server.New(r, server.Config{NodeID: "n1"})
	if err != nil {
		log.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	go s.Serve(ln, fsm.SharedSpace)
	node = ln.Addr().String()
	os.Exit(m.Run())
}

// connect is a client of that node; with several, list them all.
func connect() *client.Client {
	c, err := client.New(node)
	if err != nil {
		log.Fatal(err)
	}
	return c
}

func ExampleMutex_Lock() {
	c := connect()
	defer c.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second) // for the wait alone
	defer cancel()
	grant, err := c.Mutex("door").Lock(ctx)
	if err != nil {
		log.Fatal(err)
	}
	// Work under grant.Context(), and send grant.Token() with each write.
	fmt.Println(grant.State(), grant.Token() > 0)
	fmt.Println(grant.Unlock(ctx), context.Cause(grant.Context()))
	// Output:
	// safe true
	// <nil> client: the lock was released
}

func ExampleMutex_TryLock() {
	c := connect()
	defer c.Close()
	ctx := context.Background()
	grant, err := c.Mutex("window").TryLock(ctx)
	if err != nil {
		log.Fatal(err)
	}
	_, err = c.Mutex("window").TryLock(ctx)
	fmt.Println(errors.Is(err, client.ErrHeld))
	fmt.Println(grant.Unlock(ctx))
	// Output:
	// true
	// <nil>
}

func ExampleMutex_Do() {
	c := connect()
	defer c.Close()
	err := c.Mutex("report").Do(context.Background(), func(ctx context.Context, g *client.Grant) error {
		// ctx ends before the lock can be given to another.
		fmt.Println("alone:", ctx.Err() == nil)
		return nil
	})
	fmt.Println(err)
	// Output:
	// alone: true
	// <nil>
}

func ExampleElection() {
	c := connect()
	defer c.Close()
	ctx := context.Background()
	election := c.Election("scheduler")
	lead, err := election.Campaign(ctx, "10.0.0.7:8080")
	if err != nil {
		log.Fatal(err)
	}
	leader, err := election.Leader(ctx)
	fmt.Println(leader.Value, leader.Token == lead.Token(), err)
	fmt.Println(lead.Resign(ctx))
	// Output:
	// 10.0.0.7:8080 true <nil>
	// <nil>
}

func ExampleOnce() {
	c := connect()
	defer c.Close()
	job := c.Once("nightly-report", client.WithAtLeast(5*time.Minute), client.WithAtMost(time.Hour))
	// Two machines start it at nearly the same time.
	for range 2 {
		ran, err := job.Do(context.Background(), func(context.Context, *client.Grant) error { return nil })
		fmt.Println(ran, err)
	}
	// Output:
	// true <nil>
	// false <nil>
}

func ExampleSemaphore() {
	c := connect()
	defer c.Close()
	ctx := context.Background()
	printers := c.Semaphore("printers", 2)
	first, err1 := printers.Acquire(ctx)
	second, err2 := printers.Acquire(ctx)
	_, err3 := printers.TryAcquire(ctx)
	fmt.Println(err1, err2, err3)
	fmt.Println(first.Unlock(ctx), second.Unlock(ctx))
	// Output:
	// <nil> <nil> client: the lock is held
	// <nil> <nil>
}

func ExampleMultiLock() {
	c := connect()
	defer c.Close()
	ctx := context.Background()
	both, err := c.MultiLock([]string{"account:1", "account:2"}).Lock(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(both.Tokens()), both.Unlock(ctx))
	// Output: 2 <nil>
}

func ExampleClient_OpenSession() {
	c := connect()
	defer c.Close()
	ctx := context.Background()
	session, err := c.OpenSession(ctx, client.WithTTL(10*time.Second), client.WithNote("worker 7"))
	if err != nil {
		log.Fatal(err)
	}
	shard, err := c.Mutex("shard:3", client.WithSession(session)).TryLock(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(session.Close(ctx), shard.State())
	// Output: <nil> lost
}
