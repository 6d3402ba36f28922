package redistests_test

import (
	_ "embed"
	"strings"
)

//go:embed leftout.txt
var leftOutText string

// reason is why tests are left out, and their names as --skipfile takes them: one
// that begins with a slash is a regular expression.
type reason struct {
	text  string
	names []string
}

// leftOut is leftout.txt: a line of # and the reason, then a name a line.
func leftOut() []reason {
	var out []reason
	for line := range strings.Lines(leftOutText) {
		line = strings.TrimSuffix(line, "\n")
		switch text, isReason := strings.CutPrefix(line, "# "); {
		case line == "":
		case isReason:
			out = append(out, reason{text: text})
		default:
			last := &out[len(out)-1]
			last.names = append(last.names, line)
		}
	}
	return out
}

// skipFile is what --skipfile reads.
func skipFile() string {
	var b strings.Builder
	for _, r := range leftOut() {
		for _, name := range r.names {
			b.WriteString(name + "\n")
		}
	}
	return b.String()
}
