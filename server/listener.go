package server

import (
	"cmp"
	"errors"
	"io/fs"
	"net"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Listen opens what Serve accepts from: "host:port", "[v6]:port", ":port", or
// "unix:/path/to/socket". The file of a unix socket that nobody serves any more
// is replaced.
func Listen(addr string) (net.Listener, error) {
	path, unix := strings.CutPrefix(addr, "unix:")
	if !unix {
		return net.Listen("tcp", addr)
	}
	ln, err := net.Listen("unix", path)
	if !errors.Is(err, syscall.EADDRINUSE) {
		return ln, err
	}
	if conn, dialErr := net.Dial("unix", path); dialErr == nil {
		conn.Close()
		return nil, err
	}
	if info, statErr := os.Lstat(path); statErr != nil || info.Mode()&fs.ModeSocket == 0 {
		return nil, err
	}
	if err := os.Remove(path); err != nil {
		return nil, err
	}
	return net.Listen("unix", path)
}

// acceptLoop accepts until the listener is closed. When the process has no file
// descriptor left it waits, longer each time, instead of turning in a circle.
func (s *Server) acceptLoop(ln net.Listener, space uint8) error {
	pause := 5 * time.Millisecond
	for {
		conn, err := ln.Accept()
		switch {
		case err == nil:
			pause = 5 * time.Millisecond
			s.welcome(conn, space)
			continue
		case s.closing.Load():
			return nil
		case errors.Is(err, net.ErrClosed), !passing(err):
			return err
		}
		s.stats.acceptErrors.Add(1)
		s.log.Warn("can't accept a connection", "address", ln.Addr().String(), "error", err, "pause", pause)
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-s.ctx.Done():
			timer.Stop()
		}
		pause = min(2*pause, AcceptBackoffMax)
	}
}

// passing says whether a failed accept says nothing about the next one.
func passing(err error) bool {
	for _, e := range []error{
		syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM, syscall.ECONNABORTED, syscall.EINTR, syscall.EAGAIN,
	} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// welcome starts a session, or refuses it when the house is full.
func (s *Server) welcome(conn net.Conn, space uint8) {
	s.stats.connections.Add(1)
	if tcp, ok := conn.(*net.TCPConn); ok {
		tcp.SetNoDelay(true)
		tcp.SetKeepAliveConfig(net.KeepAliveConfig{
			Enable: true, Idle: KeepAlive, Interval: KeepAlive / 3, Count: 3,
		})
	}
	if s.start(conn, space) {
		return
	}
	s.stats.rejected.Add(1)
	s.warnFull()
	conn.SetWriteDeadline(time.Now().Add(time.Second))
	conn.Write(spell(2, errMaxClients))
	conn.Close()
}

// warnFull says at most once a minute that connections are refused.
func (s *Server) warnFull() {
	s.mu.Lock()
	due := time.Since(s.refusedAt) > time.Minute
	if due {
		s.refusedAt = time.Now()
	}
	s.mu.Unlock()
	if due {
		s.log.Warn("connections are refused: maxclients is reached", "maxclients", s.settings.maxClients())
	}
}

// warnAttack says at most once a minute that somebody speaks HTTP to this port.
func (s *Server) warnAttack(c *session) {
	s.mu.Lock()
	due := time.Since(s.attackAt) > time.Minute
	if due {
		s.attackAt = time.Now()
	}
	s.mu.Unlock()
	if due {
		s.log.Warn("Possible SECURITY ATTACK detected. It looks like somebody is sending POST or Host: commands to Redfence. "+
			"This is likely due to an attacker attempting to use Cross Protocol Scripting to compromise your Redfence instance. "+
			"Connection aborted.", "client", c.addr)
	}
}

func sortedSessions(all map[int64]*session) []*session {
	out := make([]*session, 0, len(all))
	for _, c := range all {
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b *session) int { return cmp.Compare(a.id, b.id) })
	return out
}
