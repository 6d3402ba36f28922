package compare

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// Faults is what a node of Redfence that compare started reads from its file of
// faults: the seam by which its wall clock and its connections to other nodes are
// bent. It is read again every FaultsEvery.
type Faults struct {
	// WallOffset is added to every reading of the node's wall clock.
	WallOffset time.Duration `json:"wall_offset"`
	// Isolated cuts every connection to and from the other nodes.
	Isolated bool `json:"isolated"`
}

// FaultsVariable is the environment variable that names a node's file of faults.
const FaultsVariable = "REDFENCE_COMPARE_FAULTS"

// FaultsEvery is how often a node looks whether its faults have changed.
const FaultsEvery = 20 * time.Millisecond

// ReadFaults reads a file of faults.
func ReadFaults(path string) (f Faults, err error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return f, err
	}
	return f, json.Unmarshal(b, &f)
}

// write replaces the file in one step, so that nobody reads half of it.
func (f Faults) write(path string) error {
	b, err := json.Marshal(f)
	if err != nil {
		return err
	}
	if err := os.WriteFile(path+".new", b, 0o644); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// nodePorts is what a node listens on: the shared port, the seats, raft and HTTP.
const nodePorts = 6

// redfenceCluster starts n nodes of Redfence.
func redfenceCluster(ctx context.Context, c *children, path string, n int) ([]*master, error) {
	addrs := make([][]string, n)
	var line []string
	for i := range n {
		for range nodePorts {
			a, err := c.freeAddr()
			if err != nil {
				return nil, err
			}
			addrs[i] = append(addrs[i], a)
		}
		line = append(line, fmt.Sprintf("n%d=%s", i+1, addrs[i][4]))
	}
	var all []*master
	for i := range n {
		m, err := redfenceNode(c, path, i+1, addrs[i], strings.Join(line, ","))
		if err != nil {
			return nil, err
		}
		if err := m.start(); err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	for _, m := range all {
		if err := m.waitReady(ctx); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func redfenceNode(c *children, path string, number int, addrs []string, line string) (*master, error) {
	dir, err := c.folder(fmt.Sprintf("redfence-%d-%s", number, portOf(addrs[0])))
	if err != nil {
		return nil, err
	}
	file := filepath.Join(dir, "faults.json")
	if err := (Faults{}).write(file); err != nil {
		return nil, err
	}
	args := []string{
		"serve", "--node-id", fmt.Sprintf("n%d", number), "--data-dir", filepath.Join(dir, "data"), "--cluster", line,
		"--listen", addrs[0], "--seats", strings.Join(addrs[1:4], ","), "--raft-listen", addrs[4], "--http-listen", addrs[5],
	}
	m := &master{process: c.process(fmt.Sprintf("redfence node %d", number), path, args, []string{FaultsVariable + "=" + file}), addrs: addrs[:4]}
	var mu sync.Mutex
	var now Faults
	m.jump = func(d time.Duration) error {
		mu.Lock()
		defer mu.Unlock()
		now.WallOffset = d
		return now.write(file)
	}
	m.cut = func(on bool) {
		mu.Lock()
		defer mu.Unlock()
		now.Isolated = on
		// The file was written before, in the same folder.
		_ = now.write(file)
	}
	m.ready = func() bool { return isReady(addrs[5]) }
	return m, nil
}

func isReady(httpAddr string) bool {
	c := http.Client{Timeout: askWait}
	resp, err := c.Get("http://" + httpAddr + "/readyz")
	if err != nil {
		return false
	}
	resp.Body.Close()
	return resp.StatusCode == http.StatusOK
}

func splitAddr(addr string) (host, port string) {
	host, port, _ = net.SplitHostPort(addr)
	return host, port
}

func portOf(addr string) string {
	_, port := splitAddr(addr)
	return port
}
