package server

import (
	"testing"
	"time"
)

// The backend is told whether anybody listens, before who begins to is answered:
// while nobody does, events may come late, and behind replies.
func TestListenersAreTold(t *testing.T) {
	ts := serveFake(t, Config{})
	if ts.fake.listens.Load() {
		t.Error("nobody has connected, and somebody listens")
	}
	for _, tt := range []struct{ begin, end string }{
		{"SUBSCRIBE a", "UNSUBSCRIBE a"}, {"PSUBSCRIBE a*", "PUNSUBSCRIBE"}, {"SSUBSCRIBE a", "SUNSUBSCRIBE a"},
		{"LOCK.WATCH *", "RESET"}, {"CLIENT TRACKING ON", "CLIENT TRACKING OFF"}, {"SUBSCRIBE b", "QUIT"}, {"CLIENT TRACKING ON", "QUIT"},
	} {
		p := dial(t, ts.addr)
		p.do("HELLO 3")
		p.do(tt.begin)
		if !ts.fake.listens.Load() {
			t.Errorf("%s was answered, and nobody listens", tt.begin)
		}
		p.do(tt.begin) // once more changes nothing
		p.do(tt.end)
		for end := time.Now().Add(10 * time.Second); ts.fake.listens.Load(); {
			if time.Now().After(end) {
				t.Fatalf("%s, and %s is still listened to", tt.end, tt.begin)
			}
		}
	}
}
