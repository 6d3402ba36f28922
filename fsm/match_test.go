package fsm

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestMatch(t *testing.T) {
	for _, c := range []struct {
		pattern, s string
		want       bool
	}{
		{"*", "a", true}, {"*", "", false}, {"", "", true}, {"", "a", false}, {"**", "a", true},
		{"a*", "a", true}, {"a*", "ab", true}, {"*b", "ab", true}, {"*b", "ba", false}, {"a*b*c", "aXbYc", true}, {"a*b*c", "aXbY", false},
		{"h?llo", "hello", true}, {"h?llo", "hllo", false}, {"h[ae]llo", "hallo", true}, {"h[^e]llo", "hello", false}, {"h[^e]llo", "hallo", true},
		{"[a-c]", "b", true}, {"[c-a]", "b", true}, {"[a-c]", "d", false}, {"[a\\]]", "]", true}, {"[]a]", "a", false}, {"[ab", "a", true}, {"[^ab", "c", true},
		{"[a-", "-", true}, {"\\*", "*", true}, {"\\*", "a", false}, {"a\\", "a\\", true}, {"\\", "\\", true},
		{"[\x80-\xff]", "\x90", true}, {"[\x7f-\x80]", "\x00", true}, {"lock:*", "lock:1", true}, {"*[0-9]", "k7", true}, {"a?", "a", false},
	} {
		if got := Match(c.pattern, c.s); got != c.want {
			t.Errorf("Match(%q, %q) = %v", c.pattern, c.s, got)
		}
	}
}

// plainMatch is the recursive definition, without any bound.
func plainMatch(p, s string) bool {
	if s == "" {
		return strings.Trim(p, "*") == ""
	}
	if p == "" {
		return false
	}
	if p[0] == '*' {
		return plainMatch(p[1:], s) || plainMatch(p, s[1:])
	}
	next, ok := matchByte(p, 0, s[0])
	return ok && plainMatch(p[next:], s[1:])
}

func TestMatchIsTheRecursiveDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := rapid.StringMatching(`[ab*?\[\]\^\\-]{0,8}`).Draw(t, "pattern")
		s := rapid.StringMatching(`[ab\-\]]{1,8}`).Draw(t, "text")
		if got, want := Match(p, s), plainMatch(p, s); got != want {
			t.Fatalf("Match(%q, %q) = %v, want %v", p, s, got, want)
		}
	})
}

// TestMatchIsBounded: P8. What takes a recursive matcher for ever, and what
// takes any matcher the product of the lengths.
func TestMatchIsBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("measures time")
	}
	start := time.Now()
	text := strings.Repeat("a", KeyMax)
	if Match(strings.Repeat("a*", 60)+"b", text) || Match("*"+strings.Repeat("a?", 5000)+"b", text) {
		t.Error("matched")
	}
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("took %v", took)
	}
}

// TestKeysIsBounded: P8. Without the bound this takes minutes, with it about a second.
func TestKeysIsBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("measures time")
	}
	m := newMachine(t, 0)
	for range 20 {
		m.do("mset " + strings.Repeat("a", 500_000) + m.do("incr n").Str + "x" + string(rune('a'+m.number%26)) + " v")
	}
	start := time.Now()
	if got := m.do("keys *" + strings.Repeat("a?", 5000) + "b"); got.Str != errPatternCost.Str {
		t.Errorf("%+v", got)
	}
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("took %v", took)
	}
}
