package bench_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
	wal "github.com/hashicorp/raft-wal"
	"github.com/tidwall/redcon"

	"github.com/redfence/redfence/tests/internal/process"
)

// This file has what Redfence stands on, without Redfence: this binary is started
// again as a node of raft, or as a server of redcon.

// bareEnv makes this binary a node of bare raft: "number address,address,address folder".
const bareEnv = "REDFENCE_BENCH_BARE_RAFT"

// bareNode runs raft with a machine that does nothing. Whenever a line comes in and
// the node leads, it applies floorBlock commands, one after the other, and writes how
// many milliseconds each took.
func bareNode(spec string) error {
	var number int
	var line, dir string
	if _, err := fmt.Sscan(spec, &number, &line, &dir); err != nil {
		return err
	}
	addrs := strings.Split(line, ",")
	r, err := startBareRaft(addrs, number, dir)
	if err != nil {
		return err
	}
	command := make([]byte, 100) // about what an entry with one SET NX PX has
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		took := []float64{}
		for range floorBlock {
			began := time.Now()
			if r.Apply(command, 0).Error() != nil {
				break
			}
			took = append(took, millis(time.Since(began)))
		}
		if err := json.NewEncoder(os.Stdout).Encode(took); err != nil {
			return err
		}
	}
	return nil
}

func startBareRaft(addrs []string, number int, dir string) (*raft.Raft, error) {
	null := hclog.NewNullLogger()
	log, err := wal.Open(dir, wal.WithLogger(null))
	if err != nil {
		return nil, err
	}
	at, err := net.ResolveTCPAddr("tcp", addrs[number])
	if err != nil {
		return nil, err
	}
	transport, err := raft.NewTCPTransportWithLogger(addrs[number], at, 4, ioWait, null)
	if err != nil {
		return nil, err
	}
	c := raft.DefaultConfig()
	c.LocalID, c.Logger = raft.ServerID(addrs[number]), null
	var all raft.Configuration
	for _, a := range addrs {
		all.Servers = append(all.Servers, raft.Server{ID: raft.ServerID(a), Address: raft.ServerAddress(a)})
	}
	snapshots := raft.NewDiscardSnapshotStore()
	if err := raft.BootstrapCluster(c, log, log, snapshots, transport, all); err != nil {
		return nil, err
	}
	return raft.NewRaft(c, &raft.MockFSM{}, log, log, snapshots, transport)
}

// bareRaft is three processes of bareNode.
type bareRaft struct {
	nodes []*bufio.Scanner
	tell  []*os.File
}

func startBare(t *testing.T) *bareRaft {
	t.Helper()
	b := &bareRaft{}
	addrs := strings.Join(process.FreeAddrs(t, 3), ",")
	for i := range 3 {
		dir := filepath.Join(t.TempDir(), "wal")
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d %s %s", bareEnv, i, addrs, dir))
		cmd.Stderr = os.Stderr
		cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		in, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		cmd.Stdin = in
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
		scan := bufio.NewScanner(out)
		scan.Buffer(nil, 1<<20)
		b.nodes, b.tell = append(b.nodes, scan), append(b.tell, w)
	}
	return b
}

// apply has whoever leads apply a block of commands.
func (b *bareRaft) apply() ([]float64, error) {
	for end := time.Now().Add(hangWait); time.Now().Before(end); {
		for i := range b.nodes {
			if _, err := b.tell[i].WriteString("\n"); err != nil {
				return nil, err
			}
			if !b.nodes[i].Scan() {
				return nil, fmt.Errorf("a node of bare raft has ended: %v", b.nodes[i].Err())
			}
			var took []float64
			if err := json.Unmarshal(b.nodes[i].Bytes(), &took); err != nil {
				return nil, err
			}
			if len(took) == floorBlock {
				return took, nil
			}
		}
	}
	return nil, fmt.Errorf("bare raft has no leader within %v", hangWait)
}

// bareRedconEnv makes this binary a server on that address that answers +OK to
// everything: what redcon and the sockets take, and nothing else.
const bareRedconEnv = "REDFENCE_BENCH_BARE_REDCON"

func bareRedcon(addr string) error {
	return redcon.ListenAndServe(addr, func(c redcon.Conn, _ redcon.Command) { c.WriteString("OK") }, nil, nil)
}

func startBareRedcon(t *testing.T) string {
	t.Helper()
	addr := process.FreeAddrs(t, 1)[0]
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), bareRedconEnv+"="+addr)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	process.Until(t, "bare redcon answers", func() bool {
		c, err := net.Dial("tcp", addr)
		if err == nil {
			c.Close()
		}
		return err == nil
	})
	return addr
}
