package script

import (
	"crypto/sha1"
	"encoding/hex"
	"strings"
)

// SHA1 names a text as Redis does: lower-case hexadecimal of its exact bytes.
func SHA1(text string) string {
	sum := sha1.Sum([]byte(text))
	return hex.EncodeToString(sum[:])
}

// Flags are what a script says of itself in its first line, "#!lua flags=...".
type Flags struct {
	Shebang            bool // there is such a line
	NoWrites           bool
	AllowOOM           bool
	AllowStale         bool
	NoCluster          bool
	AllowCrossSlotKeys bool
}

// Program is a compiled text. It is immutable and may be shared by engines and
// goroutines. It must be dropped when Version or the limits change.
type Program struct {
	Flags Flags
	SHA1  string
	main  value
	size  int
}

// Size is about how many bytes keeping p takes, the same on every replica.
func (p *Program) Size() int { return p.size }

// Error is why a text was refused. Its text is an error reply, first word included.
type Error struct{ Reply string }

func (e *Error) Error() string { return e.Reply }

// compilerFault and engineFault answer for bugs of this package. They are the same
// on every replica, as the bugs are.
const (
	compilerFault = "ERR internal error of the script compiler"
	engineFault   = "ERR internal error of the script engine"
)

// Check reports, in time linear in the text, whether it may enter the log: every
// replica will be able to compile it within lim. A text that fails is answered
// with the error, an *Error, and goes no further.
func Check(text string, lim Limits) error {
	_, err := Compile(text, lim)
	return err
}

// Compile makes a Program of a text. The error is an *Error worded as Redis words
// it. Compile is bounded for any text: the parser counts its levels.
func Compile(text string, lim Limits) (p *Program, err error) {
	if int64(len(text)) > lim.MaxText {
		return nil, &Error{"ERR script is longer than " + formatNumber(float64(lim.MaxText)) + " bytes"}
	}
	defer func() {
		if r := recover(); r != nil {
			p, err = nil, &Error{compilerFault}
			if se, ok := r.(syntaxError); ok {
				err = &Error{"ERR Error compiling script (new function): " + oneLine(se.Error())}
			}
		}
	}()
	p = &Program{SHA1: SHA1(text), size: 512 + 40*len(text)}
	body, problem := p.shebang(text)
	if problem != "" {
		return nil, &Error{"ERR " + oneLine(problem)}
	}
	main := compileFunction(parse(body, &lim), &lim)
	p.main = value{kind: kClosure, ref: &closure{p: main}}
	return p, nil
}

// shebang reads the flags line, and answers what is left: from the end of that
// line on, so that line numbers hold.
func (p *Program) shebang(text string) (body, problem string) {
	if !strings.HasPrefix(text, "#!") {
		return text, ""
	}
	end := strings.IndexByte(text, '\n')
	if end < 0 {
		return "", "Invalid script shebang"
	}
	words := strings.FieldsFunc(text[:end], func(r rune) bool { return r < 128 && isSpace(byte(r)) })
	if words[0] != "#!lua" {
		return "", "Unexpected engine in script shebang: " + words[0]
	}
	p.Flags.Shebang = true
	known := map[string]*bool{
		"no-writes": &p.Flags.NoWrites, "allow-oom": &p.Flags.AllowOOM,
		"allow-stale": &p.Flags.AllowStale, "no-cluster": &p.Flags.NoCluster,
		"allow-cross-slot-keys": &p.Flags.AllowCrossSlotKeys,
	}
	for _, w := range words[1:] {
		list, ok := strings.CutPrefix(w, "flags=")
		if !ok {
			return "", "Unknown lua shebang option: " + w
		}
		for _, flag := range strings.Split(list, ",") {
			set, ok := known[flag]
			if !ok {
				if list == "" {
					continue
				}
				return "", "Unexpected flag in script shebang: " + flag
			}
			*set = true
		}
	}
	return text[end:], ""
}

// oneLine keeps an error reply to one line, as Redis does.
func oneLine(s string) string {
	return strings.NewReplacer("\r", " ", "\n", " ").Replace(strings.Trim(s, "\r\n"))
}
