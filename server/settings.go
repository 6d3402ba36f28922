package server

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/redfence/redfence/fsm"
)

// settings is what CONFIG SET can change while the node runs. Each field may be
// read at any time.
type settings struct {
	clients    atomic.Int64 // at most
	idle       atomic.Int64 // seconds; 0 is for ever
	eventFlags atomic.Uint32
	slowMicros atomic.Int64 // from which a command is slow; negative logs none
	slowMax    atomic.Int64 // entries of the slow log
	// latencyMillis is from which time a command is a latency event; 0 keeps none.
	latencyMillis atomic.Int64
}

func (s *settings) init(cfg *Config) {
	n := cfg.MaxClients
	if n <= 0 {
		n = DefaultMaxClients
	}
	s.clients.Store(int64(min(n, openable())))
	s.idle.Store(int64(math.Ceil(cfg.IdleTimeout.Seconds())))
	s.slowMicros.Store(10_000)
	s.slowMax.Store(SlowLogMax)
}

func (s *settings) maxClients() int { return int(s.clients.Load()) }

func (s *settings) idleTimeout() time.Duration { return time.Duration(s.idle.Load()) * time.Second }

// setEventFlags is notify-keyspace-events. The machine makes such events only
// while somebody could see them.
func (s *Server) setEventFlags(flags uint32) {
	s.settings.eventFlags.Store(flags)
	classes := uint32(1<<keyspaceLetter - 1)
	s.keyEvents.setNotify(flags&(keyspaceBit|keyeventBit) != 0 && flags&classes != 0)
}

// parameter is one name of CONFIG. Names are Redis's, since drivers and tools ask for them.
type parameter struct {
	name string
	get  func(*Server) string
	set  func(*Server, string) error // nil: it can't be changed
}

// fixed is a parameter of Redis that has one value here. Setting it to that
// value is no error.
func fixed(name, value string) parameter {
	return parameter{name: name, get: func(*Server) string { return value }}
}

// number is a parameter that holds a number from min to max.
func number(name string, min, max int64, field func(*settings) *atomic.Int64) parameter {
	return parameter{
		name: name,
		get:  func(s *Server) string { return strconv.FormatInt(field(&s.settings).Load(), 10) },
		set: func(s *Server, text string) error {
			n, err := strconv.ParseInt(text, 10, 64)
			if err != nil {
				return errors.New("argument couldn't be parsed into an integer")
			}
			if n < min || n > max {
				return errors.New("argument must be between " + strconv.FormatInt(min, 10) + " and " +
					strconv.FormatInt(max, 10) + " inclusive")
			}
			field(&s.settings).Store(n)
			return nil
		},
	}
}

// maxClientsParameter is a number that the process's own limit bounds, too.
func maxClientsParameter() parameter {
	p := number("maxclients", 1, math.MaxUint32, func(s *settings) *atomic.Int64 { return &s.clients })
	change := p.set
	p.set = func(s *Server, text string) error {
		old := s.settings.clients.Load()
		if err := change(s, text); err != nil {
			return err
		}
		if limit := int64(openable()); s.settings.clients.Load() > limit {
			s.settings.clients.Store(old)
			return errors.New("The operating system is not able to handle the specified number of clients, try with " +
				strconv.FormatInt(limit, 10))
		}
		return nil
	}
	return p
}

// parameters is what CONFIG GET and SET know, in the order in which it is shown.
var parameters = []parameter{
	{name: "maxmemory", get: func(s *Server) string { return strconv.FormatUint(s.cfg.MemoryMax, 10) }},
	fixed("maxmemory-policy", "noeviction"),
	maxClientsParameter(),
	number("timeout", 0, math.MaxInt32, func(s *settings) *atomic.Int64 { return &s.idle }),
	number("slowlog-log-slower-than", -1, math.MaxInt64, func(s *settings) *atomic.Int64 { return &s.slowMicros }),
	number("slowlog-max-len", 0, SlowLogMax, func(s *settings) *atomic.Int64 { return &s.slowMax }),
	{
		name: "notify-keyspace-events",
		get:  func(s *Server) string { return eventFlagsText(s.settings.eventFlags.Load()) },
		set: func(s *Server, text string) error {
			flags, ok := parseEventFlags(text)
			if !ok {
				return errors.New("Invalid event class character. Use 'Ag$lshzxeKEtmdn'.")
			}
			s.setEventFlags(flags)
			return nil
		},
	},
	fixed("databases", strconv.Itoa(fsm.Databases)),
	fixed("proto-max-bulk-len", strconv.Itoa(BulkAnnouncedMax)),
	fixed("tcp-keepalive", strconv.Itoa(int(KeepAlive.Seconds()))),
	fixed("client-output-buffer-limit", outputLimits),
	fixed("save", ""),
	fixed("appendonly", "yes"),
	fixed("appendfsync", "always"),
	fixed("replica-read-only", "no"),
	fixed("slave-read-only", "no"),
	fixed("min-replicas-to-write", "0"),
	fixed("min-slaves-to-write", "0"),
	fixed("cluster-enabled", "no"),
	number("latency-monitor-threshold", 0, math.MaxInt64, func(s *settings) *atomic.Int64 { return &s.latencyMillis }),
	fixed("enable-debug-command", "no"),
	fixed("tracking-table-max-keys", strconv.Itoa(TrackedKeysMax)),
	{name: "port", get: func(s *Server) string { return s.portText() }},
}

const outputLimits = "normal 0 0 0 slave 0 0 0 pubsub 67108864 8388608 60"

// set changes a parameter, or says why it can't.
func (p *parameter) change(s *Server, text string) error {
	if p.set != nil {
		return p.set(s, text)
	}
	if strings.EqualFold(text, p.get(s)) {
		return nil
	}
	return errors.New("can't be changed while the node runs")
}
