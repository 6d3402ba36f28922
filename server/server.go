package server

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redfence/redfence/fsm"
	"github.com/redfence/redfence/server/replica"
)

// Backend executes commands; *replica.Node is the real one. All methods may be
// called from any goroutine.
type Backend interface {
	// Do executes cmds in order and answers each. It sets their Client and does
	// not use cmds after it has answered; after an error it may. An error is one
	// of package replica's sentinels or, if nothing was executed, ctx's, and
	// concerns all of cmds.
	Do(ctx context.Context, client fsm.Client, cmds []fsm.Command) ([]fsm.Answer, error)
	// DoSome is Do for answers of any size: it answers the first of cmds, at least
	// one, as many as the budget of replies has room for. The share is empty before,
	// and holds the answers until they are written.
	DoSome(ctx context.Context, client fsm.Client, cmds []fsm.Command, share *replica.Share) ([]fsm.Answer, error)
	// Replies is the budget of replies.
	Replies() *replica.Budget
	// Block is DoSome for commands of which the last one may wait. If it does, waiting
	// is not nil, and wake is called once that has an answer, perhaps before Block
	// has returned; it returns soon and may be called from anywhere.
	Block(ctx context.Context, client fsm.Client, cmds []fsm.Command, share *replica.Share, wake func()) (answers []fsm.Answer, waiting replica.Waiting, err error)
	// Status tells what the node knows, without asking anybody.
	Status() replica.Status
	// Ready is nil if the node can serve within a second.
	Ready() error
	// Loading says that the node replays or restores and can't serve yet.
	Loading() bool
	// Stats are the node's counters.
	Stats() *replica.Stats
	// SetKeyEvents says whether Events should be told of changes of keys.
	SetKeyEvents(on bool)
	// SetListens says whether anybody here listens to Events, which may come late
	// otherwise. It returns at once.
	SetListens(on bool)
	// StateHash is a digest of the whole state, and the index that it is of.
	StateHash() (index uint64, digest [32]byte)
}

var _ Backend = (*replica.Node)(nil)

// Config is what a Server needs to know. Its zero value but for NodeID serves
// without a password, with Redis's limits.
type Config struct {
	NodeID  string
	Version string // of the binary, shown as redfence_version

	// Password is asked of every client; empty asks for none.
	Password string
	// MaxClients bounds connections; 0 is DefaultMaxClients, lowered to what the
	// process may open.
	MaxClients int
	// IdleTimeout closes connections that send nothing for so long; 0 never
	// does. Connections that listen to channels are never closed for it.
	IdleTimeout time.Duration
	// NotifyKeyspaceEvents is Redis's setting of that name; empty is off.
	NotifyKeyspaceEvents string
	// MemoryMax is the memory limit in bytes, shown as maxmemory; the machine
	// enforces it. 0 is none.
	MemoryMax uint64

	// Profiles adds /debug/pprof to Handler: whoever reaches that can see what this
	// process does and keep it busy.
	Profiles bool

	// Elapsed is a clock for how long a grant has waited for its reply. It must
	// not stand still while the process or the machine sleeps; nil is the
	// system's boot-time clock.
	Elapsed func() time.Duration
	Log     *slog.Logger // nil discards
}

// Server is one node's edge. Its methods may be called from any goroutine.
type Server struct {
	mu        sync.Mutex // guards what follows
	sessions  map[int64]*session
	listeners map[net.Listener]uint8 // and the keyspace it is for
	attackAt  time.Time              // when an attack was last logged
	refusedAt time.Time              // when a full house was last logged

	cfg         Config
	log         *slog.Logger
	backend     Backend
	elapsed     func() time.Duration
	reading     atomic.Pointer[clockReading] // of elapsed, see lately
	started     time.Time
	ctx         context.Context // ends when Shutdown stops waiting
	cancel      context.CancelFunc
	closing     atomic.Bool
	done        sync.WaitGroup // of sessions
	lastID      atomic.Int64
	inputHeld   atomic.Int64
	outputHeld  atomic.Int64
	blocked     atomic.Int64 // connections whose command waits
	settings    settings
	stats       stats
	rate        rate
	hub         hub
	trackers    trackers
	keyEvents   keyEventsSwitch
	listening   listening
	misdirected misdirected
	walks       chan struct{} // holds one for each command that visits the whole keyspace
	making      chan struct{} // holds one for each long answer of the edge that is being made
	cursors     cursors
	slow        slowLog
	latency     latencyMonitor
	metrics     *metrics
	httpPlaces  chan struct{} // has an element for each connection of HTTP
}

// New makes a Server in front of backend. It serves nothing before Serve.
func New(backend Backend, cfg Config) (*Server, error) {
	flags, ok := parseEventFlags(cfg.NotifyKeyspaceEvents)
	if !ok {
		return nil, errors.New("notify-keyspace-events: unknown letter in " + cfg.NotifyKeyspaceEvents)
	}
	s := &Server{
		sessions: map[int64]*session{}, listeners: map[net.Listener]uint8{},
		walks: make(chan struct{}, WalksMax), making: make(chan struct{}, LongAnswersMax), cfg: cfg, log: cfg.Log, backend: backend, elapsed: cfg.Elapsed,
		started: time.Now(), httpPlaces: make(chan struct{}, HTTPConnectionsMax),
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if s.elapsed == nil {
		s.elapsed = bootClock
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.settings.init(&cfg)
	s.stats.init()
	s.hub.init(s)
	s.trackers.init()
	s.keyEvents.set = backend.SetKeyEvents
	s.listening.init(backend.SetListens)
	s.cursors.init()
	s.slow.init()
	s.metrics = newMetrics(s)
	s.setEventFlags(flags)
	return s, nil
}

// Serve accepts connections for a keyspace (fsm.SharedSpace or a seat's number)
// until the listener fails or Shutdown is called, which is no error. It owns ln.
func (s *Server) Serve(ln net.Listener, space uint8) error {
	defer ln.Close()
	s.mu.Lock()
	closing := s.closing.Load()
	s.listeners[ln] = space
	s.mu.Unlock()
	if closing {
		return nil
	}
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.listeners, ln)
	}()
	return s.acceptLoop(ln, space)
}

// start makes a session of a connection, or answers false if there are too many.
func (s *Server) start(conn net.Conn, space uint8) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing.Load() {
		conn.Close()
		return true
	}
	if len(s.sessions) >= s.settings.maxClients() {
		return false
	}
	c := newSession(s, conn, space)
	s.sessions[c.id] = c
	s.done.Add(1)
	go c.serve()
	return true
}

// forget drops a session that has ended.
func (s *Server) forget(c *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.sessions, c.id)
	s.done.Done()
}

// connected counts the sessions.
func (s *Server) connected() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.sessions)
}

// portText is the port of the first listener for the lowest keyspace, for CONFIG GET port.
func (s *Server) portText() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	port, lowest := "0", 256
	for ln, space := range s.listeners {
		if p := portOf(ln.Addr().String()); p != "0" && int(space) < lowest {
			port, lowest = p, int(space)
		}
	}
	return port
}

// everySession lists the sessions as they are now, by id.
func (s *Server) everySession() []*session {
	s.mu.Lock()
	defer s.mu.Unlock()
	return sortedSessions(s.sessions)
}

// Shutdown stops listening and reading, waits until what was read is answered,
// and closes all connections. When ctx ends first, what is still in flight is
// given up and its clients are told so, those that read within FarewellTime.
func (s *Server) Shutdown(ctx context.Context) error {
	defer s.cancel()
	ended := s.close()
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
	}
	s.cancel()
	timer := time.NewTimer(FarewellTime)
	defer timer.Stop()
	select {
	case <-ended:
	case <-timer.C:
		for _, c := range s.everySession() {
			c.kill()
		}
	}
	return ctx.Err()
}

// close begins the end: nothing new is accepted or read. The channel is closed
// when all sessions have ended.
func (s *Server) close() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closing.Store(true)
	for ln := range s.listeners {
		ln.Close()
	}
	for _, c := range s.sessions {
		c.link.conn.SetReadDeadline(time.Unix(1, 0))
		c.wake()
	}
	ended := make(chan struct{})
	go func() {
		s.done.Wait()
		close(ended)
	}()
	return ended
}
