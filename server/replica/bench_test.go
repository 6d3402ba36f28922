package replica

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"sync"
	"testing"

	"github.com/redfence/redfence/fsm"
)

// benchNodes starts a cluster without a testing.T's log.
func benchNodes(b *testing.B, size int) []*Node {
	b.Helper()
	var line []Peer
	if size > 1 {
		for i := range size {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				b.Fatal(err)
			}
			line = append(line, Peer{fmt.Sprintf("n%d", i+1), l.Addr().String()})
			l.Close()
		}
	} else {
		line = []Peer{{"n1", "127.0.0.1:0"}}
	}
	var nodes []*Node
	for _, p := range line {
		cfg := Config{NodeID: p.ID, Dir: b.TempDir(), RaftListen: p.Addr, Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
			Fatal: func(err error) { b.Error(err) }}
		if size > 1 {
			cfg.Cluster = line
		}
		n, err := Start(context.Background(), cfg)
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { n.Close() })
		nodes = append(nodes, n)
	}
	for _, n := range nodes {
		for n.Ready() != nil {
		}
	}
	return nodes
}

// BenchmarkDo is one command a call, from a number of callers, on the leader or
// on a follower; writes are fsynced on every node.
func BenchmarkDo(b *testing.B) {
	for _, size := range []int{1, 3} {
		nodes := benchNodes(b, size)
		for _, place := range []string{"leader", "follower"} {
			at := pick(nodes, place)
			if at == nil {
				continue
			}
			for _, callers := range []int{1, 16, 64, 256} {
				for _, name := range []string{"set", "get"} {
					b.Run(fmt.Sprintf("nodes=%d/%s/%s/callers=%d", size, place, name, callers), func(b *testing.B) {
						benchDo(b, at, callers, name)
					})
				}
			}
		}
	}
}

func pick(nodes []*Node, place string) *Node {
	for _, n := range nodes {
		if leads := n.serving.Load() != nil; leads == (place == "leader") {
			return n
		}
	}
	return nil
}

func benchDo(b *testing.B, n *Node, callers int, name string) {
	args := map[string][]string{"set": {"set", "k", "v", "px", "10000"}, "get": {"get", "k"}}[name]
	var wg sync.WaitGroup
	for i := range callers {
		share := b.N / callers
		if i < b.N%callers {
			share++
		}
		wg.Add(1)
		go func() {
			defer wg.Done()
			for range share {
				if _, err := n.Do(context.Background(), fsm.Client{Addr: "x"}, []fsm.Command{{Args: args}}); err != nil {
					b.Error(err)
				}
			}
		}()
	}
	wg.Wait()
}
