package bench_test

import (
	"context"
	"fmt"
	"net"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redfence/redfence/tests/internal/process"
)

// toolRun is what redis-benchmark showed of one command on one system.
type toolRun struct {
	Order     int     `json:"order"`
	Round     int     `json:"round"`
	System    string  `json:"system"`
	Command   string  `json:"command"`
	Pipeline  int     `json:"pipeline"`
	PerSecond float64 `json:"commands_per_second"`
	P50       float64 `json:"p50_ms"`
	P99       float64 `json:"p99_ms"`
}

// toolCommand is a command that redis-benchmark repeats; __rand_int__ is another
// number each time.
type toolCommand struct {
	name string
	args []string
	// prepare, if not nil, is repeated before each run, so that there is something to do.
	prepare []string
}

const (
	toolSet     = "SET NX PX"
	toolRelease = "release script"
	toolGet     = "GET"
	bareName    = "bare-redcon"
)

func toolCommands() []toolCommand {
	return []toolCommand{
		{toolSet, []string{"SET", "tool:__rand_int__", "owner", "NX", "PX", strconv.FormatInt(lease.Milliseconds(), 10)}, nil},
		{toolRelease, []string{"EVAL", releaseText, "1", "tool:__rand_int__", "owner"},
			[]string{"SET", "tool:__rand_int__", "owner", "NX", "PX", strconv.FormatInt(time.Hour.Milliseconds(), 10)}},
		{toolGet, []string{"GET", "tool:__rand_int__"}, nil},
	}
}

// measureTool runs redis-benchmark on each system in turn, round after round.
func measureTool(t *testing.T, r *report, size scale) {
	path, err := exec.LookPath("redis-benchmark")
	if err != nil {
		r.NotRun["redis-benchmark"] = err.Error()
		return
	}
	three := process.Start(t, 3)
	systems := map[string]string{
		bareName: startBareRedcon(t), oneName: process.Start(t, 1).Nodes[0].Client, leaderName: three.Leader().Client,
	}
	if server, err := exec.LookPath(*redisFlag); err == nil {
		systems[redisName] = startRedis(t, server, 1, false)[0]
		systems[redisFsyncName] = startRedis(t, server, 1, true)[0]
	}
	for round := range size.ToolRounds {
		for _, command := range toolCommands() {
			for _, pipeline := range []int{1, 16} {
				for _, name := range sortedKeys(systems) {
					run := runTool
					if command.prepare != nil && name != bareName { // which keeps nothing
						run = runToolOnHeld
					}
					got, err := run(path, systems[name], pipeline, size.ToolLength, command)
					if err != nil {
						t.Errorf("redis-benchmark, %s, %s: %v", name, command.name, err)
						continue
					}
					got.Order, got.Round, got.System, got.Command = len(r.Tool)+1, round, name, command.name
					r.Tool = append(r.Tool, *got)
				}
			}
		}
	}
}

// runTool runs redis-benchmark for about so long: first briefly, to learn how many
// commands that takes.
func runTool(path, addr string, pipeline int, length time.Duration, c toolCommand) (*toolRun, error) {
	first, err := runToolOnce(path, addr, pipeline, toolNames, toolFirst, c.args)
	if err != nil {
		return nil, err
	}
	return runToolOnce(path, addr, pipeline, toolNames, max(toolFirst, int(first.PerSecond*length.Seconds())), c.args)
}

// runToolOnHeld runs redis-benchmark once over names that are held, each about once:
// twice as many are asked for before, so that 86 % are.
func runToolOnHeld(path, addr string, pipeline int, _ time.Duration, c toolCommand) (*toolRun, error) {
	if err := flush(addr); err != nil {
		return nil, err
	}
	if _, err := runToolOnce(path, addr, 16, toolHeld, 2*toolHeld, c.prepare); err != nil {
		return nil, err
	}
	got, err := runToolOnce(path, addr, pipeline, toolHeld, toolHeld, c.args)
	if err != nil {
		return nil, err
	}
	return got, leftBehind(addr)
}

func flush(addr string) error {
	c := redisClient(addr, 1)
	defer c.Close()
	return c.FlushAll(context.Background()).Err()
}

// leftBehind is an error unless a release of random names left about as many as
// it must: of those that were held, 86 % of all, 63 % are hit.
func leftBehind(addr string) error {
	c := redisClient(addr, 1)
	defer c.Close()
	held, err := c.DBSize(context.Background()).Result()
	if err == nil && (held < toolHeld/5 || held > toolHeld/2) {
		err = fmt.Errorf("%d of %d locks are held after the release: it didn't release what was held", held, toolHeld)
	}
	return err
}

func runToolOnce(path, addr string, pipeline, names, count int, args []string) (*toolRun, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), hangWait)
	defer cancel()
	all := append([]string{
		"-h", host, "-p", port, "--csv", "-c", strconv.Itoa(toolClients), "-P", strconv.Itoa(pipeline),
		"-n", strconv.Itoa(count), "-r", strconv.Itoa(names),
	}, args...)
	out, err := exec.CommandContext(ctx, path, all...).Output()
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, out)
	}
	return parseTool(string(out), pipeline)
}

// toolFigures are the last seven fields of redis-benchmark's line: commands a second,
// and in milliseconds average, least, p50, p95, p99 and most. The field before them
// is the command, with its quotes as they are.
var toolFigures = regexp.MustCompile(strings.Repeat(`"([0-9.]+)",`, 6) + `"([0-9.]+)"\s*$`)

func parseTool(out string, pipeline int) (*toolRun, error) {
	m := toolFigures.FindStringSubmatch(out)
	if m == nil {
		return nil, fmt.Errorf("no figures in what redis-benchmark says: %s", out)
	}
	var x [7]float64
	for i := range x {
		x[i], _ = strconv.ParseFloat(m[i+1], 64)
	}
	return &toolRun{Pipeline: pipeline, PerSecond: x[0], P50: x[3], P99: x[5]}, nil
}

// toolFigure is a figure of redis-benchmark's runs over the rounds.
func (r *report) toolFigure(system, command string, pipeline int, of func(*toolRun) float64) spread {
	var all []float64
	for i := range r.Tool {
		if x := &r.Tool[i]; x.System == system && x.Command == command && x.Pipeline == pipeline {
			all = append(all, of(x))
		}
	}
	return spreadOf(all)
}

func (r *report) tooled(b *strings.Builder) {
	if len(r.Tool) == 0 {
		return
	}
	fmt.Fprintf(b, "\n## redis-benchmark\n\n%d clients, %d names, commands a second: median (least to most) of the rounds; below it p50 in milliseconds. Bare redcon answers OK to everything.\n\n",
		toolClients, toolNames)
	b.WriteString("| system |")
	for _, c := range toolCommands() {
		fmt.Fprintf(b, " %s, -P 1 | -P 16 |", c.name)
	}
	b.WriteString("\n| --- |" + strings.Repeat(" --- | --- |", len(toolCommands())) + "\n")
	for _, name := range []string{bareName, redisName, redisFsyncName, oneName, leaderName} {
		fmt.Fprintf(b, "| `%s` |", name)
		for _, c := range toolCommands() {
			for _, pipeline := range []int{1, 16} {
				fmt.Fprintf(b, " %s<br>%.2f |", r.toolFigure(name, c.name, pipeline, func(x *toolRun) float64 { return x.PerSecond }).show("%.0f"),
					r.toolFigure(name, c.name, pipeline, func(x *toolRun) float64 { return x.P50 }).median)
			}
		}
		b.WriteString("\n")
	}
	perSecond := func(system, command string, pipeline int) float64 {
		return r.toolFigure(system, command, pipeline, func(x *toolRun) float64 { return x.PerSecond }).median
	}
	reads := perSecond(leaderName, toolGet, 1) / perSecond(bareName, toolGet, 1)
	fmt.Fprintf(b, "\nTargets on three nodes: SET NX PX at -P 16 at least %d a second, seen %.0f; the release script %d, seen %.0f; GET at -P 1 at least %.1f times bare redcon, seen %.2f.\n",
		toolSetLeast, perSecond(leaderName, toolSet, 16), toolReleaseLeast, perSecond(leaderName, toolRelease, 16), toolReadLeast, reads)
}
