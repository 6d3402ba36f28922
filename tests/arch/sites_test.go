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

// TestOneLeaseClock: lease time is read in one place. Other uses of the time in
// replica (raft's own timeouts, how long a write took) stand in other files and
// never reach an entry.
func TestOneLeaseClock(t *testing.T) {
	tr := repo(t)
	var sites []string
	for _, s := range tr.sources {
		if s.test || s.path != "server/replica/clock.go" {
			continue
		}
		for _, sel := range s.selectors() {
			if sel.from == "time" && sel.name == "Now" {
				sites = append(sites, tr.line(sel.node))
			}
		}
	}
	if len(sites) != 1 && hasPackage(tr, "server/replica") {
		t.Errorf("time.Now for the lease clock is read at %v: want one place in server/replica/clock.go", sites)
	}
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
