package fsm

import "github.com/redfence/redfence/fsm/reply"

// isString says whether a record can be read as a string. It is the one place
// that decides between a value and WRONGTYPE for string commands.
func isString(r *record) bool { return r.kind == stringKind }

// ownString is the key's string on this side for a command that reads in order
// to write: nil if there is none.
func (c *call) ownString(key string) (*record, reply.Value) {
	r := c.own(key)
	if r != nil && !isString(r) {
		return nil, errWrongType
	}
	return r, reply.Value{}
}

// foundString is the key's string on either side for a command that only reads.
func (c *call) foundString(key string) (*record, reply.Value) {
	r := c.find(key)
	if r != nil && !isString(r) {
		return nil, errWrongType
	}
	return r, reply.Value{}
}

// tooLong is the error for a key or a string over the limits.
func tooLong(key string, valueLen int) reply.Value {
	if len(key) > KeyMax {
		return errKeyTooLong
	}
	if valueLen > ValueMax {
		return errValueTooLong
	}
	return reply.Value{}
}

// copyBytes is how many bytes a step copies. Values that a MULTI replaced are
// kept until it has ended, so this bounds them, too.
const copyBytes = 4

// copied charges for a value that the command makes, which may be much larger than the command.
func (c *call) copied(n int) {
	c.grow(n)
	c.walked += n / copyBytes
}

// store makes value the key's string and tells subscribers, with the events
// that Redis has for it. The lengths were checked.
func (c *call) store(key, value string, deadline int64, event string) {
	fresh := c.own(key) == nil
	c.copied(len(value))
	c.set(key, value, deadline)
	if fresh {
		c.event('n', "new", key)
	}
	c.event('$', event, key)
}

// remove removes a record of this side and tells subscribers.
func (c *call) remove(r *record) {
	c.drop(r)
	c.event('g', "del", r.key)
}

// in lets f work in another database, as MOVE and COPY do.
func (c *call) in(d *database, f func()) {
	home := c.db
	c.db = d
	f()
	c.db = home
}

// draw is the next number of the entry's random sequence (splitmix64). It
// depends on the entry's seed and on what the entry drew before.
func (s *State) draw() uint64 {
	s.seed += 0x9E3779B97F4A7C15
	z := s.seed
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}
