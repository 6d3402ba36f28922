package differential

import (
	"net"
	"os/exec"
	"strings"
	"testing"

	"github.com/redfence/redfence/tests/internal/process"
)

// benchmarkTests are those of redis-benchmark for what Redfence has.
const benchmarkTests = "set,get,incr,lpush,rpush,lpop,rpop,sadd,hset,spop,zadd,mset"

// TestRedisBenchmarkRunsToTheEnd: it asks for CONFIG first, and stops at the first
// error that it gets.
func TestRedisBenchmarkRunsToTheEnd(t *testing.T) {
	host, port, err := net.SplitHostPort(process.Start(t, 1).Nodes[0].Client)
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), "redis-benchmark", "-h", host, "-p", port,
		"-t", benchmarkTests, "-n", "10000", "--csv").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if want := len(strings.Split(benchmarkTests, ",")); len(lines)-1 != want {
		t.Errorf("%d results, want %d:\n%s", len(lines)-1, want, out)
	}
}
