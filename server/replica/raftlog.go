package replica

import (
	"context"
	"fmt"
	"io"
	"log"
	"log/slog"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
)

// raftLogger gives raft's lines to slog. Raft repeats itself while a member is
// away, so the same message comes at most once a second.
type raftLogger struct {
	hclog.Logger // the null logger, for what raft never calls
	out          *slog.Logger
	name         string
	args         []any
	seen         *repeats
	stop         <-chan struct{} // once closed nothing is said: all connections break then
}

func newRaftLogger(out *slog.Logger, seen *repeats, name string, stop <-chan struct{}) *raftLogger {
	return &raftLogger{Logger: hclog.NewNullLogger(), out: out.With("part", name), name: name, seen: seen, stop: stop}
}

// repeats remembers when a text was last said.
type repeats struct {
	mu   sync.Mutex
	last map[string]time.Time
}

func newRepeats() *repeats { return &repeats{last: map[string]time.Time{}} }

// again says whether a text was said within the last d.
func (r *repeats) again(text string, d time.Duration) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	if at, ok := r.last[text]; ok && now.Sub(at) < d {
		return true
	}
	if len(r.last) > 1000 {
		clear(r.last) // texts with addresses in them must not gather for ever
	}
	r.last[text] = now
	return false
}

// Raft's levels are lowered by one: what it calls information is of use to who debugs it.
var slogLevels = map[hclog.Level]slog.Level{
	hclog.Trace: slog.LevelDebug - 4, hclog.Debug: slog.LevelDebug - 2,
	hclog.Info: slog.LevelDebug, hclog.Warn: slog.LevelInfo, hclog.Error: slog.LevelWarn,
}

func (l *raftLogger) say(level hclog.Level, msg string, args []any) {
	select {
	case <-l.stop:
		return
	default:
	}
	at := slogLevels[level]
	if !l.out.Enabled(context.Background(), at) || l.seen.again(l.name+msg, time.Second) {
		return
	}
	all := append(l.args[:len(l.args):len(l.args)], args...)
	for i := range all {
		if f, ok := all[i].(hclog.Format); ok && len(f) > 0 {
			all[i] = fmt.Sprintf(f[0].(string), f[1:]...)
		}
	}
	l.out.Log(context.Background(), at, "raft: "+msg, all...)
}

func (l *raftLogger) Log(level hclog.Level, msg string, args ...any) { l.say(level, msg, args) }
func (l *raftLogger) Trace(msg string, args ...any)                  { l.say(hclog.Trace, msg, args) }
func (l *raftLogger) Debug(msg string, args ...any)                  { l.say(hclog.Debug, msg, args) }
func (l *raftLogger) Info(msg string, args ...any)                   { l.say(hclog.Info, msg, args) }
func (l *raftLogger) Warn(msg string, args ...any)                   { l.say(hclog.Warn, msg, args) }
func (l *raftLogger) Error(msg string, args ...any)                  { l.say(hclog.Error, msg, args) }
func (l *raftLogger) Name() string                                   { return l.name }
func (l *raftLogger) ImpliedArgs() []any                             { return l.args }

func (l *raftLogger) With(args ...any) hclog.Logger {
	c := *l
	c.args = append(l.args[:len(l.args):len(l.args)], args...)
	return &c
}

func (l *raftLogger) Named(name string) hclog.Logger { return l.ResetNamed(l.name + "." + name) }

func (l *raftLogger) ResetNamed(name string) hclog.Logger {
	c := *l
	c.name = name
	return &c
}

func (l *raftLogger) StandardLogger(*hclog.StandardLoggerOptions) *log.Logger {
	return log.New(io.Discard, "", 0)
}

var _ hclog.Logger = (*raftLogger)(nil)
