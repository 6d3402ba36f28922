package compat_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/redfence/redfence/tests/internal/process"
)

// fairLimit bounds the test below, far below the lock's lease: a thread whose wake-up
// is lost would wait for that.
const fairLimit = 90 * time.Second

// TestRedissonFairLockThroughAFailover: eight threads wait for Redisson's fair lock at
// a follower, the leader is killed while the fourth has it, and every thread gets its
// turn, in the order in which they came.
func TestRedissonFairLockThroughAFailover(t *testing.T) {
	if !strings.Contains("java fairlock", *only) {
		t.Skip("-only asks for others")
	}
	program, err := builtJava()
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	c := process.Start(t, 3)
	leader := c.Leader()
	cmd := program("FairOrder", c.Others(leader)[0].Client, "redisson")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	late := time.AfterFunc(fairLimit, func() { cmd.Process.Kill() })
	seen := playFair(out, in, leader)
	inTime := late.Stop()
	err = cmd.Wait()
	want := []string{"queued"}
	for i := range 8 {
		want = append(want, fmt.Sprintf("turn %d", i))
	}
	if strings.Join(seen, ", ") != strings.Join(want, ", ") || err != nil {
		t.Errorf("%v; want %v (%v, in time: %v)\n%s", seen, want, err, inTime, stderr.String())
	}
}

// playFair reads what the program prints, lets it go on where it waits for that, and
// kills the leader at the fourth turn, so that the release meets no leader.
func playFair(out io.Reader, in io.Writer, leader *process.Node) []string {
	var seen []string
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		seen = append(seen, lines.Text())
		switch lines.Text() {
		case "turn 3":
			leader.Kill()
			fallthrough
		case "queued":
			io.WriteString(in, "\n")
		}
	}
	return seen
}
