package server

import (
	"fmt"
	"slices"
	"strings"

	"github.com/redfence/redfence/fsm/reply"
)

// joinPrefixes adds the prefixes of a broadcast to those that the connection has.
// None is the empty one, which every key has. Two of which one begins with the
// other are refused, since a key with both would be told of twice; Redis is as strict.
func (c *session) joinPrefixes(mode *trackMode) reply.Value {
	if !mode.broadcast {
		return reply.Value{}
	}
	given := mode.prefixes
	var known []string
	if c.track != nil {
		known = c.track.prefixes
	}
	for i, p := range given {
		if j := slices.IndexFunc(known, func(q string) bool { return overlap(p, q) }); j >= 0 {
			return errOverlap(p, "an existing", known[j])
		}
		if j := slices.IndexFunc(given[i+1:], func(q string) bool { return overlap(p, q) }); j >= 0 {
			return errOverlap(p, "another provided", given[i+1+j])
		}
	}
	if len(given) == 0 && !slices.Contains(known, "") {
		given = []string{""}
	}
	mode.prefixes = slices.Concat(known, given)
	slices.Sort(mode.prefixes)
	size := 0
	for _, p := range mode.prefixes {
		size += len(p)
	}
	if len(mode.prefixes) > TrackedPrefixesMax || size > TrackedPrefixBytesMax {
		return reply.Err("ERR too many prefixes")
	}
	return reply.Value{}
}

func overlap(a, b string) bool { return strings.HasPrefix(a, b) || strings.HasPrefix(b, a) }

func errOverlap(prefix, which, other string) reply.Value {
	return reply.Err(fmt.Sprintf("ERR Prefix '%s' overlaps with %s prefix '%s'. Prefixes for a single client must not overlap.", prefix, which, other))
}
