package main

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/redfence/redfence/fsm"
	"github.com/redfence/redfence/server"
	"github.com/redfence/redfence/server/replica"
)

// node is a replica with the server in front of it.
type node struct {
	replica *replica.Node
	server  *server.Server
	http    *http.Server
	log     *slog.Logger
	failed  chan error // has the first reason why the node can't go on
}

// startNode starts the replica and puts a server in front of it, which accepts
// nothing yet.
func startNode(ctx context.Context, c *config, p *ports, log *slog.Logger) (*node, error) {
	n := &node{log: log, failed: make(chan error, 1)}
	// The replica has events before there is a server; nobody listens to those.
	var front atomic.Pointer[server.Server]
	settings := replicaConfig(c, p, log)
	// Raft counts from its start on; the server, which shows the numbers, comes later.
	raftNumbers := prometheus.NewRegistry()
	var err error
	if settings.Metrics, err = replica.PrometheusSink(raftNumbers); err != nil {
		return nil, err
	}
	if err := bendIfTold(ctx, &settings); err != nil {
		return nil, err
	}
	settings.Fatal = n.fail
	settings.OnEvents = func(events []fsm.Event) {
		if s := front.Load(); s != nil {
			s.Events(events)
		}
	}
	settings.OnMissedEvents = func() {
		if s := front.Load(); s != nil {
			s.DropSubscribers()
		}
	}
	if n.replica, err = replica.Start(ctx, settings); err != nil {
		return nil, err
	}
	n.server, err = server.New(n.replica, server.Config{
		NodeID: c.NodeID, Version: version, Password: c.password, MaxClients: c.MaxClients, IdleTimeout: c.Timeout,
		NotifyKeyspaceEvents: c.KeyEvents, MemoryMax: uint64(c.MaxMemory), Profiles: c.Profiles, Log: log,
	})
	if err != nil {
		n.replica.Close()
		return nil, err
	}
	front.Store(n.server)
	n.server.Registry().MustRegister(raftNumbers)
	n.http = n.server.HTTPServer()
	n.http.ErrorLog = slog.NewLogLogger(log.Handler(), slog.LevelWarn)
	return n, nil
}

func replicaConfig(c *config, p *ports, log *slog.Logger) replica.Config {
	r := replica.Config{
		NodeID: c.NodeID, Dir: c.DataDir, RaftListen: c.RaftListen, RaftAdvertise: c.raftAddress(), Join: c.Join,
		Seats: uint8(len(c.Seats)), Version: version,
		Addresses: c.announced(p),
		LogStore:  c.LogStore, EntriesInFlight: c.InFlight, SnapshotBytes: int64(c.SnapshotBytes), MemoryMax: uint64(c.MaxMemory), ReplyMemory: int64(c.ReplyMemory),
		Heartbeat: c.Heartbeat, NoLeaderWait: c.NoLeaderWait,
		KeyEvents: c.KeyEvents != "", ScriptLog: scriptLog(log), Log: log,
	}
	if strings.HasSuffix(c.RaftListen, ":0") {
		r.RaftAdvertise = c.RaftAdvertise // the port is known once it is open
	}
	for _, x := range c.Cluster {
		r.Cluster = append(r.Cluster, replica.Peer{ID: x.id, Addr: x.addr})
	}
	return r
}

// announced is what other nodes and people are told of where this node serves.
// Of a port that is open on every interface it names the host that other nodes use.
func (c *config) announced(p *ports) replica.Addresses {
	host, _, _ := net.SplitHostPort(c.raftAddress())
	name := func(addr string) string {
		if !isWildcard(addr) {
			return addr
		}
		_, port, _ := net.SplitHostPort(addr)
		return net.JoinHostPort(host, port)
	}
	var a replica.Addresses
	if shared := p.of(fsm.SharedSpace); len(shared) > 0 {
		a.Client = name(shared[0])
	}
	for _, seat := range p.seats() {
		a.Seats = append(a.Seats, name(seat))
	}
	if web := addrsOf(p.http); len(web) > 0 {
		a.HTTP = name(web[0])
	}
	return a
}

// scriptLog writes what scripts give to redis.log, by Redis's levels.
func scriptLog(log *slog.Logger) func(int, string) {
	levels := []slog.Level{slog.LevelDebug, slog.LevelDebug, slog.LevelInfo, slog.LevelWarn}
	return func(level int, text string) {
		log.Log(context.Background(), levels[max(0, min(level, len(levels)-1))], "script", "text", text)
	}
}

// fail notes why the node can't go on; only the first reason counts.
func (n *node) fail(err error) {
	select {
	case n.failed <- err:
	default:
	}
}

// serve accepts on every port.
func (n *node) serve(p *ports) {
	for _, ln := range p.clients {
		go func() {
			if err := n.server.Serve(ln.Listener, ln.space); err != nil {
				n.fail(err)
			}
		}()
	}
	for _, ln := range p.http {
		go func() {
			if err := n.http.Serve(n.server.HTTPListener(ln)); err != nil && err != http.ErrServerClosed {
				n.fail(err)
			}
		}()
	}
}

// announce waits until the node can serve and then says, in one line, where.
func (n *node) announce(ctx context.Context, p *ports) {
	const look = 10 * time.Millisecond
	tick := time.NewTicker(look)
	defer tick.Stop()
	began := time.Now()
	for said := false; n.replica.Ready() != nil; {
		if !said && time.Since(began) > 5*time.Second {
			n.log.Warn("not ready yet", "reason", n.replica.Ready())
			said = true
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
	s := n.replica.Status()
	n.log.Info("ready", "node", s.Node, "cluster", s.Cluster, "role", s.Role, "shared", orNone(p.of(fsm.SharedSpace)),
		"seats", orNone(p.seats()), "raft", n.replica.RaftAddr(), "http", orNone(addrsOf(p.http)))
}

// farewell is what a node does before it ends. One that is alone has nobody to hand
// leadership to.
func (n *node) farewell() string {
	if s := n.replica.Status(); s.Role == "leader" && len(s.Members) > 1 {
		return "handing leadership over and answering what is in flight"
	}
	return "answering what is in flight"
}

// end hands leadership over, answers what is in flight, and closes everything.
// After a failure there is nothing to hand over, and each moment counts: a leader
// whose write hangs still sends heartbeats, so the others can't elect another.
func (n *node) end(failed bool) {
	most := shutdownMax
	if failed {
		most = failedMax
	}
	ctx, cancel := context.WithTimeout(context.Background(), most)
	defer cancel()
	if !failed {
		n.handOver(ctx)
	}
	answer, cancelAnswer := context.WithTimeout(ctx, answerMax)
	defer cancelAnswer()
	if err := n.server.Shutdown(answer); err != nil {
		n.log.Warn("some commands in flight were given up", "error", err)
	}
	n.http.Close()
	closed := make(chan error, 1)
	go func() { closed <- n.replica.Close() }()
	select {
	case err := <-closed:
		if err != nil {
			n.log.Warn("the data was not closed cleanly", "error", err)
		}
		n.log.Info("ended")
	case <-ctx.Done():
		// What was acknowledged is on disk; a store that hangs must not hold up the end.
		n.log.Warn("the data could not be closed in time")
	}
}

// handOver waits for the handover, but not for a store that hangs in it.
func (n *node) handOver(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, handoverMax)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- n.replica.Handover(ctx) }()
	select {
	case err := <-done:
		if err != nil {
			n.log.Warn("leadership was not handed over", "error", err)
		}
	case <-ctx.Done():
		n.log.Warn("leadership was not handed over in time")
	}
}

func newLogger(c *config, w io.Writer) *slog.Logger {
	var level slog.Level
	// validate has checked the word.
	_ = level.UnmarshalText([]byte(c.LogLevel))
	options := &slog.HandlerOptions{Level: level}
	if c.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(w, options))
	}
	return slog.New(slog.NewTextHandler(w, options))
}
