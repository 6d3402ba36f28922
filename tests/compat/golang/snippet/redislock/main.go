// Command redislock takes the lock "report" with bsm/redislock.
package main

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/bsm/redislock"
	"github.com/redis/go-redis/v9"
)

func main() {
	ctx := context.Background()
	client := redis.NewClient(&redis.Options{Addr: "127.0.0.1:6379"})
	lock, err := redislock.New(client).Obtain(ctx, "report", 8*time.Second, &redislock.Options{
		RetryStrategy: redislock.LinearBackoff(100 * time.Millisecond),
	})
	if err != nil {
		log.Fatal(err)
	}
	defer lock.Release(ctx)
	token, err := client.Do(ctx, "LOCK.TOKEN", "report").Int64()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("locked", token)
}
