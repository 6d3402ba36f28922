package compat_test

import (
	"os/exec"
	"slices"
	"testing"
)

// cases are what every library must pass, in the order in which the programs run them.
var cases = []string{"acquire", "contended", "extend", "release", "foreign", "expiry", "wait"}

// library is one row of docs/clients.md: a lock library on a driver, and what its
// users need to know.
type library struct {
	// Name is how the program is asked for it, and unique: "redlock 5", "redsync/redigo".
	Name string
	// Language as docs/clients.md groups the rows: "Go", "Node", "Python", ...
	Language string
	// None says, for each case that the library has nothing for, why.
	None map[string]string
	// Masters says that the library takes several masters, so that it also runs on
	// seats. One that takes only several sets Several.
	Masters bool
	// AllMasters says that of three it needs all, or takes an error of one for a
	// failure, so that it isn't run where a master is dead.
	AllMasters bool
	// Spoken says that no registry serves the library: its calls are spoken by us.
	Spoken bool
	// Port is which port to point it at and how: "shared", "shared, one address; seats for three".
	Port string
	// Quorum is what to set so that it is content with one address, or "" for nothing.
	Quorum string
	// Token is how its user reads the fencing token.
	Token string
	// Quirks is what its user should know besides, or "".
	Quirks string
}

// toolchain is a language's program and the libraries in it.
type toolchain struct {
	// name is its folder here, and under tmp/compat, where it installs.
	name      string
	libraries []library
	// prepare installs and builds what the program needs, and returns how to run
	// it, or why the machine can't.
	prepare func(t *testing.T) (runner, error)
	// snippets are the programs that docs/clients.md shows, by title. Each is run.
	snippets []snippet
}

// runner makes the command that runs a program with the arguments.
type runner func(args ...string) *exec.Cmd

// snippet is a short program in the language, to copy: it locks "report" on
// 127.0.0.1:6379, prints "locked" and the fencing token, and releases.
type snippet struct {
	Title string // "redsync on go-redis"
	File  string // in the toolchain's folder
	// run runs a copy of the file, in which the address is that of the server under test.
	run func(r runner, file string) *exec.Cmd
}

// toolchains lists every language, in the order of docs/clients.md.
var toolchains = []*toolchain{golang, java, rust, python, php, ruby, perl, languageC, node}

// none is the case's result in the program's output if the library has nothing for it.
const none = "none"

// runsIn says whether the library can be run in a topology.
func (l *library) runsIn(top topology) bool {
	return (!top.masters || l.Masters) && (!top.dead || !l.AllMasters)
}

func (l *library) expects(c string) string {
	if l.None[c] != "" {
		return none
	}
	return "ok"
}

// TestLibraryList: names are unique, and reasons belong to cases.
func TestLibraryList(t *testing.T) {
	seen := map[string]bool{}
	for _, chain := range toolchains {
		for _, l := range chain.libraries {
			if seen[l.Name] {
				t.Errorf("%s is listed twice", l.Name)
			}
			seen[l.Name] = true
			for c := range l.None {
				if !slices.Contains(cases, c) {
					t.Errorf("%s: there is no case %q", l.Name, c)
				}
			}
			if l.Language == "" || l.Port == "" || l.Token == "" {
				t.Errorf("%s: language, port or token isn't told", l.Name)
			}
		}
	}
}
