package arch

import (
	"go/ast"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestPackageDocs: every package says what it is in doc.go (one of a single
// subject in the file of its name), and every exported name says what it is for.
func TestPackageDocs(t *testing.T) {
	tr := repo(t)
	documented, packages := map[string]bool{}, map[string]bool{}
	for _, s := range tr.sources {
		if s.test {
			continue
		}
		packages[s.pkg] = true
		if s.ast.Doc != nil && isPackageDoc(&s) {
			documented[s.pkg] = true
		}
		if s.ast.Name.Name != "main" {
			undocumented(tr, s.ast, t.Errorf)
		}
	}
	for p := range packages {
		if !documented[p] {
			t.Errorf("package %s has no doc.go with a package comment", p)
		}
	}
}

func isPackageDoc(s *source) bool {
	base := path.Base(s.path)
	return base == "doc.go" || base == s.ast.Name.Name+".go"
}

// undocumented reports exported names without a comment.
func undocumented(tr *tree, f *ast.File, report func(string, ...any)) {
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Name.IsExported() && d.Doc == nil && exportedReceiver(d) {
				report("%s: %s has no doc comment", tr.line(d), d.Name.Name)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				if ts, ok := spec.(*ast.TypeSpec); ok && ts.Name.IsExported() && ts.Doc == nil && d.Doc == nil {
					report("%s: type %s has no doc comment", tr.line(ts), ts.Name.Name)
				}
			}
		}
	}
}

// wellKnown are methods whose meaning an interface of the standard library gives.
var wellKnown = map[string]bool{"Error": true, "String": true, "Unwrap": true, "Is": true, "Len": true, "Less": true, "Swap": true}

func exportedReceiver(f *ast.FuncDecl) bool {
	if f.Recv == nil {
		return true
	}
	name := functionName(f)
	return ast.IsExported(name) && !wellKnown[f.Name.Name]
}

var leftOver = regexp.MustCompile(`\b(TO` + `DO|FIX` + `ME|XX` + `X|HA` + `CK)\b`)

// otherPaper finds names of documents that a reader of the repository doesn't have.
var otherPaper = regexp.MustCompile(`\b(DES` + `IGN|FIELD_REP` + `ORTS|STY` + `LE\.md|PEE` + `RS\.md|CLIE` + `NTS\.md)\b`)

// privatePath finds the usual places of somebody's own checkout.
var privatePath = regexp.MustCompile(`/(home|root|Users|w[o]rk)/[A-Za-z]`)

// TestNoLeftOvers: what isn't done is an issue, not a comment; and a reader of
// the repository has none of our own folders.
func TestNoLeftOvers(t *testing.T) {
	tr := repo(t)
	texts := map[string]string{}
	for name, text := range tr.others {
		texts[name] = text
	}
	for _, s := range tr.sources {
		texts[s.path] = s.text
	}
	for name, text := range texts {
		if strings.HasSuffix(name, "go.sum") {
			continue
		}
		for i, line := range strings.Split(text, "\n") {
			if m := leftOver.FindString(line); m != "" {
				t.Errorf("%s:%d: %s", name, i+1, m)
			}
			if m := otherPaper.FindString(line); m != "" {
				t.Errorf("%s:%d: names %s, which is not in the repository", name, i+1, m)
			}
			if m := privatePath.FindString(line); m != "" && name != "tests/arch/text_test.go" {
				t.Errorf("%s:%d: path of a private machine: %s", name, i+1, m)
			}
		}
	}
}

// TestNoSleep: tests run in virtual time or poll a condition with a deadline. A
// sleep in a synctest bubble costs nothing and is the way to let time pass there.
func TestNoSleep(t *testing.T) {
	tr := repo(t)
	for _, s := range tr.sources {
		if !s.test && !isTests(s.pkg) || strings.Contains(s.text, `"testing/synctest"`) || under(s.pkg, "tests/sim") {
			continue
		}
		for _, sel := range s.selectors() {
			if sel.from == "time" && sel.name == "Sleep" {
				t.Errorf("%s: time.Sleep in a test", tr.line(sel.node))
			}
		}
	}
}

var link = regexp.MustCompile(`\]\(([^)\s]+)\)`)

// TestLinksResolve: each relative link of a Markdown page leads to a file, and
// its fragment to a heading.
func TestLinksResolve(t *testing.T) {
	tr := repo(t)
	for name, text := range tr.others {
		if path.Ext(name) != ".md" {
			continue
		}
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			target, fragment, _ := strings.Cut(m[1], "#")
			if strings.Contains(target, ":") {
				continue
			}
			file := name
			if target != "" {
				file = path.Join(path.Dir(name), target)
			}
			if _, err := os.Stat(filepath.Join(tr.root, file)); err != nil {
				t.Errorf("%s: link to %s leads nowhere", name, m[1])
			} else if fragment != "" && !hasHeading(tr.others[file], fragment) {
				t.Errorf("%s: %s has no heading %s", name, file, fragment)
			}
		}
	}
}

var notInFragment = regexp.MustCompile(`[^a-z0-9 _-]`)

func hasHeading(text, fragment string) bool {
	for _, line := range strings.Split(text, "\n") {
		if title, ok := strings.CutPrefix(strings.TrimLeft(line, "#"), " "); ok && strings.HasPrefix(line, "#") {
			slug := strings.ReplaceAll(notInFragment.ReplaceAllString(strings.ToLower(title), ""), " ", "-")
			if slug == fragment {
				return true
			}
		}
	}
	return false
}
