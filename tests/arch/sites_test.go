package arch

import (
	"go/ast"
	"testing"
)

// TestOneProposalSite: everything enters the log through one line, so that log
// order is stamp order.
func TestOneProposalSite(t *testing.T) {
	tr := repo(t)
	var sites []string
	for _, s := range tr.sources {
		if s.test || !under(s.pkg, "server/replica") {
			continue
		}
		ast.Inspect(s.ast, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			sel, ok := call.Fun.(*ast.SelectorExpr)
			if !ok || !isRaft(sel.X) {
				return true
			}
			switch sel.Sel.Name {
			case "Apply":
				sites = append(sites, tr.line(n))
			case "ApplyLog":
				t.Errorf("%s: ApplyLog is a second way into the log", tr.line(n))
			case "Restore":
				t.Errorf("%s: raft's user restore would move the machine's clock under a running leader", tr.line(n))
			}
			return true
		})
	}
	if want := 1; len(sites) != want && hasPackage(tr, "server/replica") {
		t.Errorf("raft.Apply is called at %v: want %d place", sites, want)
	}
}

// isRaft says whether an expression is a field or variable that is called raft
// or r.raft: the naming rule that makes the proposal site countable.
func isRaft(x ast.Expr) bool {
	switch x := x.(type) {
	case *ast.Ident:
		return x.Name == "raft"
	case *ast.SelectorExpr:
		return x.Sel.Name == "raft"
	}
	return false
}

// clockSources are the two functions in which the machine's clocks are read for
// entries: the monotonic one, which leases live by, and the wall clock for those
// who ask for it. Simulation replaces both.
var clockSources = map[string]bool{"monotonic": true, "wallMicros": true}

// TestOneLeaseClock: the time for leases is read in one line. Other uses of the
// time in replica (how long a write took) stand in other files and reach no entry.
func TestOneLeaseClock(t *testing.T) {
	tr := repo(t)
	reads := map[string]int{}
	for _, s := range tr.sources {
		if s.path != "server/replica/clock.go" {
			continue
		}
		for _, sel := range s.selectors() {
			if sel.from == "time" && sel.name == "Now" {
				reads[enclosing(s.ast, sel.node)]++
			}
		}
	}
	if !hasPackage(tr, "server/replica") {
		return
	}
	for f, n := range reads {
		if !clockSources[f] || n != 1 {
			t.Errorf("server/replica/clock.go: %s reads the time %d times", f, n)
		}
	}
	if reads["monotonic"] != 1 {
		t.Error("server/replica/clock.go: monotonic does not read the time")
	}
}

// enclosing names the function around a node.
func enclosing(f *ast.File, n ast.Node) string {
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Pos() <= n.Pos() && n.End() <= fn.End() {
			return fn.Name.Name
		}
	}
	return ""
}

// TestNoAppendedAt: the time that raft notes in a log entry is a wall clock of
// whoever led then.
func TestNoAppendedAt(t *testing.T) {
	tr := repo(t)
	for _, s := range tr.sources {
		if s.test {
			continue
		}
		ast.Inspect(s.ast, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok && sel.Sel.Name == "AppendedAt" {
				t.Errorf("%s: AppendedAt must decide nothing", tr.line(n))
			}
			return true
		})
	}
}

func hasPackage(tr *tree, pkg string) bool {
	for _, s := range tr.sources {
		if s.pkg == pkg && !s.test {
			return true
		}
	}
	return false
}
