package fsm

import (
	"math"

	"github.com/redfence/redfence/fsm/reply"
)

// ParseInt reads a decimal integer as strictly as Redis does: no blank, no plus
// sign, no leading zero, no "-0".
func ParseInt(s string) (int64, bool) {
	if s == "0" {
		return 0, true
	}
	digits, negative := s, false
	if len(s) > 0 && s[0] == '-' {
		digits, negative = s[1:], true
	}
	if len(digits) == 0 || len(digits) > 19 || digits[0] < '1' || digits[0] > '9' {
		return 0, false
	}
	var n uint64 // 19 digits fit
	for i := 0; i < len(digits); i++ {
		d := digits[i] - '0'
		if d > 9 {
			return 0, false
		}
		n = n*10 + uint64(d)
	}
	if negative {
		if n > 1<<63 {
			return 0, false
		}
		return -int64(n), true // of 1<<63, too: it is its own negative
	}
	return int64(n), n <= math.MaxInt64
}

// lower is s with the letters A to Z in lower case. strings.ToLower would turn
// some letters from outside of ASCII into ASCII ones.
func lower(s string) string {
	for i := 0; i < len(s); i++ {
		if 'A' <= s[i] && s[i] <= 'Z' {
			b := []byte(s)
			for ; i < len(b); i++ {
				if 'A' <= b[i] && b[i] <= 'Z' {
					b[i] += 'a' - 'A'
				}
			}
			return string(b)
		}
	}
	return s
}

// is says whether an option that a client wrote is the word, which is in lower case.
func is(option, word string) bool {
	return len(option) == len(word) && lower(option) == word
}

// expiryUnit says how a lease time is written.
type expiryUnit uint8

const (
	noExpiry  expiryUnit = iota
	inSeconds            // EX
	inMillis             // PX
	atSeconds            // EXAT
	atMillis             // PXAT
)

func (u expiryUnit) seconds() bool  { return u == inSeconds || u == atSeconds }
func (u expiryUnit) relative() bool { return u == inSeconds || u == inMillis }

var expiryUnits = map[string]expiryUnit{"ex": inSeconds, "px": inMillis, "exat": atSeconds, "pxat": atMillis}

// lease is a lease time that a client asked for.
type lease struct {
	deadline int64
	millis   int64 // how long it is from now; 0 or less if its end has passed
}

// lease reads the lease time of SET, SETEX, PSETEX and GETEX: at least 1.
func (c *call) lease(unit expiryUnit, text string) (lease, reply.Value) {
	n, ok := ParseInt(text)
	if !ok {
		return lease{}, errNotInteger
	}
	if n <= 0 || unit.seconds() && n > math.MaxInt64/1000 {
		return lease{}, c.invalidExpire()
	}
	if unit.seconds() {
		n *= 1000
	}
	if !unit.relative() {
		return c.leaseUntil(n), reply.Value{}
	}
	// Redis counts in milliseconds since 1970 and refuses what overflows those.
	if n > math.MaxInt64-c.wall/1000 {
		return lease{}, c.invalidExpire()
	}
	return c.leaseFor(n), reply.Value{}
}

// leaseFor is a lease of millis from now; millis may be negative.
func (c *call) leaseFor(millis int64) lease {
	if millis <= 0 {
		return lease{c.s.clock.now, millis}
	}
	return lease{c.s.clock.deadlineAfter(millis), millis}
}

// leaseUntil is a lease until a wall time in milliseconds since 1970. One whose
// end has passed ends now, so that the record is gone at once.
func (c *call) leaseUntil(unixMillis int64) lease {
	now := c.s.clock.now
	if unixMillis > math.MaxInt64/1000 {
		return lease{never - 1, math.MaxInt64 / 1000}
	}
	if unixMillis <= c.wall/1000 {
		return lease{now, 0}
	}
	left := unixMillis*1000 - c.wall
	if left > never-1-now {
		left = never - 1 - now
	}
	return lease{now + left, max(1, left/1000)}
}

func (c *call) invalidExpire() reply.Value {
	return reply.Err("ERR invalid expire time in '" + c.spec.Name + "' command")
}
