package server

import "time"

// clockReading is what the server's clock said, and when that was on Go's clock, which is
// read without a system call.
type clockReading struct {
	elapsed time.Duration
	at      time.Time
}

// lately is the server's clock now or up to ReadingKept ago. When a command was
// read may be taken for earlier than it was: then its grant only seems to have
// waited longer. Go's clock stands still while the machine sleeps, which makes the
// reading older still.
func (s *Server) lately() time.Duration {
	now := time.Now()
	if r := s.reading.Load(); r != nil && now.Sub(r.at) < ReadingKept {
		return r.elapsed
	}
	r := &clockReading{s.elapsed(), now}
	s.reading.Store(r)
	return r.elapsed
}
