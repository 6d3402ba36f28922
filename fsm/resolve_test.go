package fsm

import (
	"strings"
	"testing"
)

func TestResolve(t *testing.T) {
	for _, c := range []struct{ command, row, refusal string }{
		{"get k", "get", ""}, {"GeT k", "get", ""}, {"script load x", "script|load", ""}, {"SCRIPT LoAd x", "script|load", ""},
		{"get", "", "ERR wrong number of arguments for 'get' command"},
		{"script", "", "ERR wrong number of arguments for 'script' command"},
		{"script load", "", "ERR wrong number of arguments for 'script|load' command"},
		{"script foo", "", "ERR unknown subcommand 'foo'. Try SCRIPT HELP."},
		{"foo a b", "", "ERR unknown command 'foo', with args beginning with: 'a' 'b' "},
		{"script|load x", "", "ERR unknown command 'script|load', with args beginning with: 'x' "},
		{"_watch k", "", "ERR unknown command '_watch', with args beginning with: 'k' "},
		{"\u212Aeys *", "", "ERR unknown command '\u212Aeys', with args beginning with: '*' "},
	} {
		spec, refusal := Resolve(strings.Fields(c.command))
		row := ""
		if spec != nil {
			row = spec.Name
		}
		if row != c.row || refusal.Str != c.refusal {
			t.Errorf("%s: %q, %q", c.command, row, refusal.Str)
		}
	}
	_, refusal := Resolve([]string{"a\r\nb\x00c", strings.Repeat("x", 200), "y"})
	if want := "ERR unknown command 'a  b', with args beginning with: '" + strings.Repeat("x", 128) + "' "; refusal.Str != want {
		t.Errorf("%q", refusal.Str)
	}
}

// TestTableIsWhole: every row says what COMMAND and the pages need.
func TestTableIsWhole(t *testing.T) {
	for _, s := range Table() {
		if s.Where == Absent {
			continue
		}
		if s.Group == "" || s.Since == "" || s.Summary == "" || s.Arity == 0 {
			t.Errorf("%s: group, since, summary or arity is missing", s.Name)
		}
		if s.Has(Read) && s.Has(Write) {
			t.Errorf("%s both reads and writes", s.Name)
		}
		ofNoKey := strings.HasPrefix(s.Name, "flush") || strings.HasPrefix(s.Name, "session.")
		if s.Where == Machine && s.First == 0 && s.Has(Write) && !s.Has(MovableKeys) && !ofNoKey {
			t.Errorf("%s writes, but names no key", s.Name)
		}
	}
}
