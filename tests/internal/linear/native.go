package linear

import (
	"slices"
	"strconv"
	"strings"

	"github.com/anishathalye/porcupine"
)

// nativeState is one lock as a stranger would describe it: who holds it with which
// token, and who has let it go. Owners are used once, leases don't end.
type nativeState struct {
	holders string // "owner=token owner=token", sorted; token ? where nobody was told
	last    int64  // the highest token that anybody was told
	gone    string // owners that released, each with a blank behind it
}

func (s nativeState) tokenOf(owner string) (token string, holds bool) {
	for _, h := range strings.Fields(s.holders) {
		if name, token, _ := strings.Cut(h, "="); name == owner {
			return token, true
		}
	}
	return "", false
}

// with is s with another token of an owner, "" for none.
func (s nativeState) with(owner, token string) nativeState {
	fields := slices.DeleteFunc(strings.Fields(s.holders), func(h string) bool { return strings.HasPrefix(h, owner+"=") })
	if token != "" {
		fields = append(fields, owner+"="+token)
	}
	slices.Sort(fields)
	s.holders = strings.Join(fields, " ")
	if n, err := strconv.ParseInt(token, 10, 64); err == nil {
		s.last = max(s.last, n)
	}
	return s
}

// acquire is LOCK.ACQUIRE for at most so many holders. A new token is above all
// that the lock has had; who holds it is told its own again.
func (s nativeState) acquire(owner string, most int, out Answer) []any {
	token, holds := s.tokenOf(owner)
	free := len(strings.Fields(s.holders)) < most
	switch {
	case out.Unknown && (holds || !free):
		return []any{s}
	case out.Unknown:
		return []any{s, s.with(owner, "?")}
	case out.Text == "":
		// Also while it is free: it may be offered to one who waits.
		if holds {
			return nil
		}
		return []any{s}
	case holds && token != "?":
		if out.Text != token {
			return nil
		}
		return []any{s}
	case !holds && !free:
		return nil
	}
	// A grant that nobody was told of may have come before others that were.
	if n, _ := strconv.ParseInt(out.Text, 10, 64); n <= s.last && token != "?" {
		return nil
	}
	return []any{s.with(owner, out.Text)}
}

// release is LOCK.RELEASE, which answers 1 again when it is asked again.
func (s nativeState) release(owner string, out Answer) []any {
	_, holds := s.tokenOf(owner)
	after, reply := s, "0"
	switch {
	case holds:
		after, reply = s.with(owner, ""), "1"
		after.gone += owner + " "
	case strings.Contains(s.gone, owner+" "):
		reply = "1"
	}
	switch {
	case out.Unknown:
		return []any{s, after}
	case out.Text != reply:
		return nil
	}
	return []any{after}
}

// Native is one native lock of any number of owners, each used once. A key that begins
// with "pool" has 2 permits, any other is exclusive.
var Native = porcupine.NondeterministicModel{
	Partition: Lock.Partition,
	Init:      func() []any { return []any{nativeState{}} },
	Step: func(state, input, output any) []any {
		s, in, out := state.(nativeState), input.(Request), output.(Answer)
		if in.Op == "release" {
			return s.release(in.Value, out)
		}
		most := 1
		if strings.HasPrefix(in.Key, "pool") {
			most = 2
		}
		return s.acquire(in.Value, most, out)
	},
	DescribeOperation: Lock.DescribeOperation,
}
