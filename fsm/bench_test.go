package fsm

import (
	"fmt"
	"testing"

	"github.com/redfence/redfence/fsm/script"
)

const benchRelease = `if redis.call("get",KEYS[1]) == ARGV[1] then return redis.call("del",KEYS[1]) else return 0 end`

// BenchmarkLockCycle is a lock taken by SET NX PX and released by the script
// that most libraries send, 64 of each in an entry. What is timed is Apply alone.
func BenchmarkLockCycle(b *testing.B) {
	const batch = 64
	m := newMachine(b, 3)
	m.one([]string{"script", "load", benchRelease})
	entry := func(args func(i int) []string) []byte {
		m.number++
		x := Batch{Origin: m.origin, Number: m.number, Acked: m.number - 1, Clients: []Client{{Name: "bench"}}}
		for i := range batch {
			x.Commands = append(x.Commands, Command{Args: args(i)})
		}
		return AppendEntry(nil, &Entry{Kind: Batches, Stamp: Stamp{Term: 1, Now: m.now}, Batches: []Batch{x}})
	}
	sha := script.SHA1(benchRelease)
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		take := entry(func(i int) []string { return []string{"set", fmt.Sprintf("lock:%d", i), "token", "nx", "px", "10000"} })
		release := entry(func(i int) []string { return []string{"evalsha", sha, "1", fmt.Sprintf("lock:%d", i), "token"} })
		b.StartTimer()
		for _, data := range [][]byte{take, release} {
			m.index++
			if _, err := m.state.Apply(m.index, 1, data); err != nil {
				b.Fatal(err)
			}
		}
	}
	if m.state.Keys(SharedSpace) != 0 {
		b.Fatal("locks are left")
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*batch), "ns/cycle")
}
