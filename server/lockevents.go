package server

import "github.com/redfence/redfence/fsm"

// lockChanged takes the machine's word about a lock. That an operator broke one
// is logged where it was asked for.
func (s *Server) lockChanged(e *fsm.Event) {
	if e.Name == "break" && e.Node == s.backend.Status().Node {
		s.log.Warn("a lock was broken", "lock", e.Key, "database", e.DB, "by", e.Payload)
	}
}
