package server

import (
	"fmt"
	"strings"
	"testing"

	"github.com/redfence/redfence/fsm"
)

// feed gives text to a framer in pieces of n bytes and tells what it found.
func feed(text string, n int, authenticated bool) string {
	f := framer{authenticated: authenticated}
	var buf []byte
	var found []string
	for len(text) > 0 || len(buf) > 0 {
		more := min(n, len(text))
		buf, text = append(buf, text[:more]...), text[more:]
		for len(buf) > 0 {
			fr, done, err := f.next(buf)
			buf = buf[f.dropped():]
			if err != nil {
				return strings.Join(append(found, err.Error()), "|")
			}
			if !done {
				break
			}
			switch {
			case fr.refusal != "":
				found = append(found, fr.refusal)
			case fr.empty:
				found = append(found, "empty")
			default:
				found = append(found, fmt.Sprintf("%q", buf[:fr.length]))
			}
			buf = buf[fr.length:]
		}
		if more == 0 {
			return strings.Join(append(found, "unfinished"), "|")
		}
	}
	if f.started {
		found = append(found, "unfinished")
	}
	return strings.Join(found, "|")
}

// The texts are those of Redis 7.0.15 (promise 9).
func TestFramer(t *testing.T) {
	const protocol = "Protocol error: "
	long := strings.Repeat("1", InlineMax+3)
	for _, c := range []struct{ in, want string }{
		{"PING\r\n", `"PING\r\n"`},
		{"PING\nPING\n", `"PING\n"|"PING\n"`},
		{"*1\r\n$4\r\nPING\r\n*1\r\n$0\r\n\r\n", `"*1\r\n$4\r\nPING\r\n"|"*1\r\n$0\r\n\r\n"`},
		{"*0\r\n*-1\r\nPING\r\n", `empty|empty|"PING\r\n"`},
		{"*1\r\n$4\r\nPI", "unfinished"},
		{"*1048577\r\n", "unfinished"},
		{"*abc\r\n", protocol + "invalid multibulk length"},
		{"*+1\r\n", protocol + "invalid multibulk length"},
		{"*01\r\n", protocol + "invalid multibulk length"},
		{"*\r\n", protocol + "invalid multibulk length"},
		{"*2147483648\r\n", protocol + "invalid multibulk length"},
		{"*" + long, protocol + "too big mbulk count string"},
		{"*1\r\n:1\r\n", protocol + "expected '$', got ':'"},
		{"*1\r\n\r\n", protocol + "expected '$', got ' '"},
		{"*1\r\n$-1\r\n", protocol + "invalid bulk length"},
		{"*1\r\n$\r\n", protocol + "invalid bulk length"},
		{"*1\r\n$04\r\n", protocol + "invalid bulk length"},
		{"*1\r\n$536870913\r\n", protocol + "invalid bulk length"},
		{"*1\r\n$4\r\nPINGxx", protocol + "invalid bulk length"},
		{"*1\r\n$" + long, protocol + "too big bulk count string"},
		{strings.Repeat("x", InlineMax+1), protocol + "too big inline request"},
		{"\x16\x03\x01\x02\x00\x01\x00", protocol + "this port does not speak TLS"},
	} {
		for _, n := range []int{1, 2, 7, len(c.in)} {
			if len(c.in) > 1000 && n < len(c.in) {
				n = 4096
			}
			if got := feed(c.in, n, true); got != c.want {
				t.Errorf("%.40q in pieces of %d: got %.200s, want %s", c.in, n, got, c.want)
			}
		}
	}
}

func TestFramerLimits(t *testing.T) {
	bulk := func(n int) string { return fmt.Sprintf("$%d\r\n%s\r\n", n, strings.Repeat("x", n)) }
	args := func(n int) string { return fmt.Sprintf("*%d\r\n%s", n, strings.Repeat("$1\r\na\r\n", n)) }
	for _, c := range []struct {
		name, in, want string
		authenticated  bool
	}{
		{"10 arguments before AUTH", args(UnauthArgsMax), fmt.Sprintf("%q", args(UnauthArgsMax)), false},
		{"11 arguments before AUTH", args(UnauthArgsMax + 1), "Protocol error: unauthenticated multibulk length", false},
		{"16 KiB before AUTH", "*1\r\n" + bulk(UnauthBulkMax), fmt.Sprintf("%q", "*1\r\n"+bulk(UnauthBulkMax)), false},
		{"more before AUTH", "*1\r\n" + bulk(UnauthBulkMax+1), "Protocol error: unauthenticated bulk length", false},
		{"64 KiB together before AUTH", "*5\r\n" + strings.Repeat(bulk(UnauthBulkMax), 4) + bulk(1),
			"Protocol error: unauthenticated bulk length", false},
		{"a command of the limit", "*2\r\n" + bulk(fsm.CommandMax-1) + bulk(1), "", true},
		{"a command over the limit", "*2\r\n" + bulk(fsm.CommandMax) + bulk(1) + "PING\r\n",
			refusedBytes + `|"PING\r\n"`, true},
		{"arguments of the limit", args(fsm.ArgsMax), "", true},
		{"arguments over the limit", args(fsm.ArgsMax+1) + "PING\r\n", refusedArgs + `|"PING\r\n"`, true},
	} {
		got := feed(c.in, 64<<10, c.authenticated)
		if c.want == "" {
			c.want = fmt.Sprintf("%q", c.in)
		}
		if got != c.want {
			t.Errorf("%s: got %.100s, want %.100s", c.name, got, c.want)
		}
	}
}

func TestSplitInline(t *testing.T) {
	for _, c := range []struct {
		line string
		want string
		ok   bool
	}{
		{`set k v`, `["set" "k" "v"]`, true},
		{`  set   k  `, `["set" "k"]`, true},
		{``, `[]`, true},
		{`"a b" 'c d'`, `["a b" "c d"]`, true},
		{`"\x41\n\t\"\q" '\''`, `["A\n\t\"q" "'"]`, true},
		{`"" ''`, `["" ""]`, true},
		{`a"b"`, `["ab"]`, true},
		{`"abc`, ``, false},
		{`"abc"d`, ``, false},
		{`'a'b`, ``, false},
	} {
		got, ok := splitInline([]byte(c.line))
		if ok != c.ok || ok && fmt.Sprintf("%q", got) != c.want {
			t.Errorf("%s: got %q %v, want %s %v", c.line, got, ok, c.want, c.ok)
		}
	}
}
