package compare

import (
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-redsync/redsync/v4"
	redsyncredis "github.com/go-redsync/redsync/v4/redis"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/redis/go-redis/v9"
)

// system is a way to lock: what a Redlock client lists as its masters.
type system struct {
	name     string
	masters  []*master
	lists    [][]route // one a master that the client believes in: the ways to it
	redfence bool
}

// route is an address of a master.
type route struct {
	to   *master
	addr string
}

// plainSystem is Redlock as it is meant: one list a redis-server.
func plainSystem(name string, masters []*master) *system {
	s := &system{name: name, masters: masters}
	for _, m := range masters {
		s.lists = append(s.lists, []route{{m, m.addrs[0]}})
	}
	return s
}

// sharedSystem is one master that every node is a way to.
func sharedSystem(name string, nodes []*master) *system {
	s := &system{name: name, masters: nodes, lists: make([][]route, 1), redfence: true}
	for _, n := range nodes {
		s.lists[0] = append(s.lists[0], route{n, n.addrs[0]})
	}
	return s
}

// seatSystem is seat i on the i-th node.
func seatSystem(name string, nodes []*master) *system {
	s := &system{name: name, masters: nodes, redfence: true}
	for i, n := range nodes {
		s.lists = append(s.lists, []route{{n, n.addrs[1+i]}})
	}
	return s
}

// reach is which masters a client can't get to at the moment.
type reach struct {
	mu    sync.Mutex
	gone  map[*master]bool
	conns map[*master]map[net.Conn]bool
}

func newReach() *reach {
	return &reach{gone: map[*master]bool{}, conns: map[*master]map[net.Conn]bool{}}
}

// cut ends every connection to a master and lets none be made.
func (r *reach) cut(m *master) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.gone[m] = true
	for c := range r.conns[m] {
		c.Close()
	}
	delete(r.conns, m)
}

func (r *reach) heal(m *master) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.gone, m)
}

var errCutOff = errors.New("compare: cut off")

func (r *reach) dial(ctx context.Context, to route) (net.Conn, error) {
	r.mu.Lock()
	gone := r.gone[to.to]
	r.mu.Unlock()
	if gone {
		return nil, errCutOff
	}
	conn, err := (&net.Dialer{Timeout: ioWait}).DialContext(ctx, "tcp", to.addr)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.gone[to.to] {
		conn.Close()
		return nil, errCutOff
	}
	if r.conns[to.to] == nil {
		r.conns[to.to] = map[net.Conn]bool{}
	}
	r.conns[to.to][conn] = true
	return &tracked{conn, r, to.to}, nil
}

// tracked is a connection that its reach forgets when it is closed.
type tracked struct {
	net.Conn
	of *reach
	to *master
}

func (t *tracked) Close() error {
	t.of.mu.Lock()
	delete(t.of.conns[t.to], t.Conn)
	t.of.mu.Unlock()
	return t.Conn.Close()
}

// client is one program with a Redlock library.
type client struct {
	*redsync.Redsync
	conns []*redis.Client // one a list
}

// client makes one; its connections may be as many as workers use at once.
func (s *system) client(r *reach, workers int) *client {
	c := &client{}
	var pools []redsyncredis.Pool
	for _, list := range s.lists {
		var next atomic.Int64
		conn := redis.NewClient(&redis.Options{
			MaxRetries: -1, DialerRetries: 1, PoolSize: workers + 8, ContextTimeoutEnabled: true,
			DialTimeout: ioWait, ReadTimeout: ioWait, WriteTimeout: ioWait, PoolTimeout: 2 * ioWait,
			// Each connection goes another way first, and takes the next one that answers.
			Dialer: func(ctx context.Context, _, _ string) (net.Conn, error) {
				first := int(next.Add(1))
				var last error
				for i := range list {
					conn, err := r.dial(ctx, list[(first+i)%len(list)])
					if err == nil {
						return conn, nil
					}
					last = err
				}
				return nil, last
			},
		})
		c.conns = append(c.conns, conn)
		pools = append(pools, goredis.NewPool(conn))
	}
	c.Redsync = redsync.New(pools...)
	return c
}

func (c *client) close() {
	for _, conn := range c.conns {
		conn.Close()
	}
}

// mutex is a lock that is tried once a call.
func (c *client) mutex(name string, lease time.Duration) *redsync.Mutex {
	return c.NewMutex(name, redsync.WithExpiry(lease), redsync.WithTries(1), redsync.WithTimeoutFactor(0.3))
}

// token is the fencing token of the grant by which name has the value, 0 if the
// system has none.
func (s *system) token(ctx context.Context, c *client, name, value string) (int64, error) {
	if !s.redfence {
		return 0, nil
	}
	var last error
	for _, conn := range c.conns {
		n, err := conn.Do(ctx, "LOCK.TOKEN", name, value).Int64()
		if err == nil {
			return n, nil
		}
		last = err
	}
	return 0, last
}
