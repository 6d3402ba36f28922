// Command redsync takes the lock "report" with redsync.
package main

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/go-redsync/redsync/v4"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/redis/go-redis/v9"
)

func main() {
	ctx := context.Background()
	client := redis.NewClient(&redis.Options{Addr: "127.0.0.1:6379"})
	mutex := redsync.New(goredis.NewPool(client)).NewMutex("report", redsync.WithExpiry(8*time.Second))
	if err := mutex.LockContext(ctx); err != nil {
		log.Fatal(err)
	}
	token, err := client.Do(ctx, "LOCK.TOKEN", "report").Int64()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("locked", token)
	if ok, err := mutex.UnlockContext(ctx); !ok || err != nil {
		log.Fatal("not released: ", err)
	}
}
