package compare

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// Options says what to run.
type Options struct {
	// Redfence is the path of the redfence binary, RedisServer of a redis-server.
	Redfence, RedisServer string
	// Env is the environment of what is started.
	Env []string
	// Version is Redfence's.
	Version string
	// Out is the folder that the report goes to; it is made if it isn't there.
	Out string
	// Quick runs fewer and shorter rounds: under two minutes in all.
	Quick bool
	// Seed repeats a run's choices; 0 draws one.
	Seed uint64
	// Progress receives a line a step.
	Progress func(line string)
}

// Names of the systems, as the report shows them.
const (
	redlock3     = "Redlock, 3 masters, nothing kept"
	redlock3Sync = "Redlock, 3 masters, fsync always"
	redlock5     = "Redlock, 5 masters, nothing kept"
	redlock5Sync = "Redlock, 5 masters, fsync always"
	onShared     = "Redfence, 3 nodes, shared port"
	onSeats      = "Redfence, 3 nodes, seats"
)

// plan is how much is run.
type plan struct {
	workers []int
	rounds  int
	length  time.Duration
	pace    pace
	repeats int // of each fault on each system
}

func (o *Options) plan() plan {
	if o.Quick {
		return plan{
			workers: []int{1, 16, 64, 256}, rounds: 1, length: 700 * time.Millisecond, repeats: 1,
			pace: pace{lease: lease / 2, outage: outage / 2, calm: calm / 2},
		}
	}
	return plan{
		workers: []int{1, 16, 64, 256}, rounds: 5, length: 3 * time.Second, repeats: 3,
		pace: pace{lease: lease, outage: outage, calm: calm},
	}
}

// Run runs everything and writes report.md, report.json and report.html. When ctx
// ends it stops, and nothing that it started is left.
func Run(ctx context.Context, o Options) (*Report, error) {
	for what, path := range map[string]string{"redfence": o.Redfence, "redis-server": o.RedisServer} {
		if path == "" {
			return nil, fmt.Errorf("no %s was found: install it, or name it", what)
		}
	}
	// Looked at before minutes of work.
	if err := os.MkdirAll(o.Out, 0o755); err != nil {
		return nil, err
	}
	// What the driver logs about masters that a fault has taken away is no news.
	redis.SetLogger(silence{})
	c, err := newChildren(o.Env)
	if err != nil {
		return nil, err
	}
	defer c.close()
	began := time.Now()
	r := &Report{
		Began: began.UTC().Truncate(time.Second), Seed: o.Seed, Quick: o.Quick, Version: o.Version,
		Machine: fmt.Sprintf("%s/%s, %d processors", runtime.GOOS, runtime.GOARCH, runtime.NumCPU()),
		Redis:   redisVersion(ctx, o.RedisServer),
	}
	b := &bench{Options: o, plan: o.plan(), children: c, report: r}
	if err := b.start(ctx); err != nil {
		return nil, err
	}
	if err := b.speeds(ctx); err != nil {
		return nil, err
	}
	if err := b.faults(ctx); err != nil {
		return nil, err
	}
	r.Took = time.Since(began).Seconds()
	return r, r.write(o.Out)
}

type silence struct{}

func (silence) Printf(context.Context, string, ...any) {}

func redisVersion(ctx context.Context, path string) string {
	out, err := exec.CommandContext(ctx, path, "--version").Output()
	if err != nil {
		return "unknown"
	}
	for word := range strings.FieldsSeq(string(out)) {
		if v, ok := strings.CutPrefix(word, "v="); ok {
			return v
		}
	}
	return "unknown"
}

// bench is one run.
type bench struct {
	Options
	plan
	*children
	report *Report
	fast   []*system // for the speed
	bent   []*system // for the faults: five masters fail as three do
}

func (b *bench) say(format string, args ...any) {
	if b.Progress != nil {
		b.Progress(fmt.Sprintf(format, args...))
	}
}

// start starts every process.
func (b *bench) start(ctx context.Context) error {
	lib := faketimeLibrary()
	for _, s := range []struct {
		name    string
		masters int
		durable bool
	}{{redlock3, 3, false}, {redlock3Sync, 3, true}, {redlock5, 5, false}, {redlock5Sync, 5, true}} {
		b.say("starting %s", s.name)
		masters, err := redisMasters(ctx, b.children, b.RedisServer, s.masters, s.durable, "")
		if err != nil {
			return err
		}
		b.fast = append(b.fast, plainSystem(s.name, masters))
		if s.masters > 3 {
			continue
		}
		if masters, err = redisMasters(ctx, b.children, b.RedisServer, s.masters, s.durable, lib); err != nil {
			return err
		}
		b.bent = append(b.bent, plainSystem(s.name, masters))
	}
	b.say("starting three nodes of Redfence")
	nodes, err := redfenceCluster(ctx, b.children, b.Redfence, 3)
	if err != nil {
		return err
	}
	ours := []*system{sharedSystem(onShared, nodes), seatSystem(onSeats, nodes)}
	b.fast, b.bent = append(b.fast, ours...), append(b.bent, ours...)
	for _, s := range b.fast {
		b.report.Systems = append(b.report.Systems, s.name)
	}
	return nil
}

// speeds runs the workload, the systems by turns: what the machine does meanwhile
// hits all of them alike.
func (b *bench) speeds(ctx context.Context) error {
	total, order := b.rounds*len(b.workers)*len(b.fast), 0
	for round := range b.rounds {
		for _, workers := range b.workers {
			for i := range b.fast {
				s := b.fast[(i+round)%len(b.fast)]
				order++
				b.say("speed %d of %d: %s, %d workers", order, total, s.name, workers)
				run, err := s.speed(ctx, fmt.Sprintf("speed:%x:%d", b.Seed, order), workers, b.length)
				if err != nil {
					return err
				}
				run.Round, run.Order = round+1, order
				b.report.Speed = append(b.report.Speed, run)
			}
		}
	}
	return nil
}

func (b *bench) faults(ctx context.Context) error {
	for i := range faults {
		f := &faults[i]
		b.report.Faults = append(b.report.Faults, FaultKind{ID: f.id, Title: f.title, What: f.what, Service: f.service})
		for repeat := range b.repeats {
			for _, s := range b.bent {
				b.say("fault %d of %d: %s; %s", i+1, len(faults), f.title, s.name)
				run, err := f.run(ctx, s, b.pace, b.Seed+uint64(repeat))
				if err != nil {
					return errors.Join(err, ctx.Err())
				}
				b.report.Runs = append(b.report.Runs, run)
			}
		}
	}
	return nil
}

// FindRedisServer is the path of a redis-server, "" if none is installed.
func FindRedisServer() string {
	path, err := exec.LookPath("redis-server")
	if err != nil {
		return ""
	}
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}
