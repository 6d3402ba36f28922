package server

import (
	"strconv"
	"strings"

	"github.com/redfence/redfence/fsm"
)

// eventLetters are the letters of notify-keyspace-events in Redis's order; a
// letter's place is its bit. Those up to the letter d are what A stands for.
const (
	eventLetters   = "g$lshzxetdnKEm"
	allClasses     = 1<<10 - 1
	keyspaceLetter = 11 // the place of K
	keyspaceBit    = 1 << keyspaceLetter
	keyeventBit    = 1 << 12
)

// parseEventFlags reads a value of notify-keyspace-events.
func parseEventFlags(text string) (uint32, bool) {
	var flags uint32
	for _, letter := range text {
		switch i := strings.IndexRune(eventLetters, letter); {
		case letter == 'A':
			flags |= allClasses
		case i < 0:
			return 0, false
		default:
			flags |= 1 << i
		}
	}
	return flags, true
}

// eventFlagsText is flags as CONFIG GET shows them.
func eventFlagsText(flags uint32) string {
	var b strings.Builder
	if flags&allClasses == allClasses {
		b.WriteByte('A')
		flags &^= allClasses
	}
	for i := range len(eventLetters) {
		if flags&(1<<i) != 0 {
			b.WriteByte(eventLetters[i])
		}
	}
	return b.String()
}

// notify tells listeners of __keyspace@..., __keyevent@... about a change, if
// this node's setting asks for its class.
func (s *Server) notify(e *fsm.Event) {
	flags := s.settings.eventFlags.Load()
	class := strings.IndexByte(eventLetters, e.Class)
	if class < 0 || flags&(1<<class) == 0 {
		return
	}
	db := strconv.Itoa(int(e.DB))
	if flags&keyspaceBit != 0 {
		s.hub.deliver(e.Space, "__keyspace@"+db+"__:"+e.Key, e.Name)
	}
	if flags&keyeventBit != 0 {
		s.hub.deliver(e.Space, "__keyevent@"+db+"__:"+e.Name, e.Key)
	}
}
