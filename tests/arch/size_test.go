package arch

import (
	"go/ast"
	"strings"
	"testing"
)

const (
	functionLinesMax = 70
	fileLinesMax     = 500
)

// longer are the functions and files over the bound, with the length they may
// have. The list may only shrink: an entry that is no longer needed fails the test.
var longer = map[string]int{}

// TestSizes: a function fits a screen, a file has one subject.
func TestSizes(t *testing.T) {
	tr := repo(t)
	used := map[string]bool{}
	check := func(name, where string, lines, most int) {
		if lines <= most {
			return
		}
		used[name] = true
		if allowed := longer[name]; allowed == 0 {
			t.Errorf("%s: %s has %d lines, at most %d", where, name, lines, most)
		} else if lines > allowed {
			t.Errorf("%s: %s has grown to %d lines, its exception is %d", where, name, lines, allowed)
		} else if lines < allowed {
			t.Errorf("%s: %s has %d lines: lower its exception from %d", where, name, lines, allowed)
		}
	}
	for _, s := range tr.sources {
		check(s.path, s.path, strings.Count(s.text, "\n"), fileLinesMax)
		for _, d := range s.ast.Decls {
			if f, ok := d.(*ast.FuncDecl); ok {
				lines := tr.fset.Position(f.End()).Line - tr.fset.Position(f.Pos()).Line + 1
				check(s.pkg+"."+functionName(f), tr.line(f), lines, functionLinesMax)
			}
		}
	}
	for name := range longer {
		if !used[name] {
			t.Errorf("%s is within its bound: take it off the list", name)
		}
	}
}

func functionName(f *ast.FuncDecl) string {
	if f.Recv == nil || len(f.Recv.List) == 0 {
		return f.Name.Name
	}
	x := f.Recv.List[0].Type
	if star, ok := x.(*ast.StarExpr); ok {
		x = star.X
	}
	if id, ok := x.(*ast.Ident); ok {
		return id.Name + "." + f.Name.Name
	}
	return f.Name.Name
}
