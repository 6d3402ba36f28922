package differential

import (
	"strings"
	"testing"

	"github.com/redfence/redfence/tests/internal/process"
)

// followerShare is how many sequences there are for one through a follower.
const followerShare = 10

// TestSameRepliesThroughFollower: promise 7. A node that doesn't lead answers
// every command as Redis does, too.
func TestSameRepliesThroughFollower(t *testing.T) {
	redis := startRedis(t)
	seed := seedOf(t)
	var shared, seat *conn
	for _, node := range process.Start(t, 3).Nodes {
		c := address{"tcp", node.Client}.dial(t)
		answers, err := c.pipeline([][]string{{"info"}})
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(answers[0].text, "raft_role:follower") {
			shared, seat = c, address{"tcp", node.Seats[2]}.dial(t)
		}
	}
	if shared == nil {
		t.Fatal("no node says that it follows")
	}
	counts := &tally{rows: map[string]int{}, ruled: map[string]int{}}
	counts.sequences(t, seed, *sequencesFlag/followerShare, redis.dial(t), shared, seat)
}
