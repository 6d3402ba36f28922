package server

import (
	"net"
	"sync"
)

// HTTPListener is ln for an http.Server: all that a Server has given out together
// have at most HTTPConnectionsMax connections open. File descriptors that HTTP
// takes without a bound would be missing for the log, and end the node.
func (s *Server) HTTPListener(ln net.Listener) net.Listener {
	return &httpListener{Listener: ln, places: s.httpPlaces, closed: make(chan struct{})}
}

// httpListener accepts only while there is a place.
type httpListener struct {
	net.Listener
	places chan struct{}
	closed chan struct{}
	once   sync.Once
}

// Accept waits for a place, then for a connection.
func (l *httpListener) Accept() (net.Conn, error) {
	select {
	case l.places <- struct{}{}:
	case <-l.closed:
		return nil, net.ErrClosed
	}
	conn, err := l.Listener.Accept()
	if err != nil {
		<-l.places
		return nil, err
	}
	return &httpConn{Conn: conn, places: l.places}, nil
}

// Close closes the listener. It may be called more than once.
func (l *httpListener) Close() error {
	err := l.Listener.Close()
	l.once.Do(func() { close(l.closed) })
	return err
}

// httpConn gives its place back when it is closed.
type httpConn struct {
	net.Conn
	places chan struct{}
	once   sync.Once
}

// Close closes the connection. It may be called more than once.
func (c *httpConn) Close() error {
	err := c.Conn.Close()
	c.once.Do(func() { <-c.places })
	return err
}
