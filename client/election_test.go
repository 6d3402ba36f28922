package client

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestObserveGoesOn: after a refusal it asks again by itself, since what was refused
// may come to be allowed without a change of the lock; and not in a busy loop. A
// client that is closed ends it without an error.
func TestObserveGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, "a")
		var refuses atomic.Bool
		refuses.Store(true)
		c.refuse = func(_ string, args []string) string {
			switch name := strings.ToUpper(args[0]); {
			case name == "PSUBSCRIBE":
				return fmt.Sprintf(">3\r\n$10\r\npsubscribe\r\n$%d\r\n%s\r\n:1\r\n", len(args[1]), args[1])
			case name == "LOCK.INFO" && refuses.Load():
				return "-ERR not now\r\n"
			case name == "LOCK.INFO":
				return "_\r\n"
			}
			return ""
		}
		cl := c.client("a")
		defer cl.Close()
		refused := 0
		for l, err := range cl.Election("boss").Observe(context.Background()) {
			switch {
			case l != (Leader{}):
				t.Errorf("%v leads", l)
			case err == nil && refuses.Load():
				t.Error("a refusal was kept back")
			case err == nil:
				time.AfterFunc(time.Minute, func() { cl.Close() })
			case !refuses.Load():
				t.Errorf("after the client's end: %v", err)
			default:
				refused++
			}
			if refused == 1 {
				time.AfterFunc(10*time.Second, func() { refuses.Store(false) })
			}
		}
		if refused < 10 || refused > 30 {
			t.Errorf("asked %d times in 10 s of refusals", refused)
		}
	})
}
