package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

const module = "github.com/redfence/redfence"

// source is one Go file of the repository.
type source struct {
	path string // relative to the root, with slashes
	pkg  string // directory of path
	test bool
	// apart says that the file is of a nested module, with requirements of its own.
	apart bool
	text  string
	ast   *ast.File
}

// tree is the repository as the tests see it.
type tree struct {
	root    string
	fset    *token.FileSet
	sources []source
	nested  []string          // folders of modules within ours
	others  map[string]string // texts that are no Go: Markdown, Makefile, YAML, shell
}

// load reads the repository once for all tests.
var load = sync.OnceValues(func() (*tree, error) {
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		return nil, err
	}
	t := &tree{root: root, fset: token.NewFileSet(), others: map[string]string{}}
	return t, filepath.WalkDir(root, t.visit)
})

// repo is the tree, or the end of the test.
func repo(t *testing.T) *tree {
	t.Helper()
	tr, err := load()
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// notOurs are folders with nothing that is written by hand.
var notOurs = map[string]bool{".git": true, "tmp": true, "bin": true, "redfence-data": true, "node_modules": true, "testdata": true}

func (t *tree) visit(file string, d fs.DirEntry, err error) error {
	if err != nil {
		return err
	}
	if d.IsDir() {
		if notOurs[d.Name()] {
			return fs.SkipDir
		}
		if _, err := os.Stat(filepath.Join(file, "go.mod")); err == nil && file != t.root {
			t.nested = append(t.nested, file+string(filepath.Separator))
		}
		return nil
	}
	rel, err := filepath.Rel(t.root, file)
	if err != nil {
		return err
	}
	rel = filepath.ToSlash(rel)
	if !d.Type().IsRegular() || !isText(rel) {
		return nil
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if !strings.HasSuffix(rel, ".go") {
		t.others[rel] = string(data)
		return nil
	}
	parsed, err := parser.ParseFile(t.fset, rel, data, parser.ParseComments)
	if err != nil {
		return err
	}
	t.sources = append(t.sources, source{
		path: rel, pkg: path.Dir(rel), test: strings.HasSuffix(rel, "_test.go"), text: string(data), ast: parsed,
		apart: slices.ContainsFunc(t.nested, func(dir string) bool { return strings.HasPrefix(file, dir) }),
	})
	return nil
}

func isText(rel string) bool {
	switch path.Ext(rel) {
	case ".go", ".md", ".yml", ".yaml", ".sh", ".mod", ".service", ".txt", ".py", ".js", ".mjs", ".rb", ".php":
		return true
	}
	return rel == "Makefile" || rel == ".ci/run" || rel == "Dockerfile" || rel == ".gitignore"
}

// line says where a node stands, as an editor jumps to it.
func (t *tree) line(n ast.Node) string {
	p := t.fset.Position(n.Pos())
	return p.Filename + ":" + strconv.Itoa(p.Line)
}

// imports lists what a file imports.
func (s *source) imports() []string {
	var out []string
	for _, i := range s.ast.Imports {
		if p, err := strconv.Unquote(i.Path.Value); err == nil {
			out = append(out, p)
		}
	}
	return out
}

// ours cuts the module's path off an import, and says whether it had it.
func ours(imported string) (string, bool) {
	return strings.CutPrefix(imported, module+"/")
}

// external says whether an import is neither ours nor of the standard library.
func external(imported string) bool {
	if _, own := ours(imported); own || imported == module {
		return false
	}
	first, _, _ := strings.Cut(imported, "/")
	return strings.Contains(first, ".")
}

// selector is a call or use of pkg.name, resolved through the file's imports.
type selector struct {
	node ast.Node
	from string // import path
	name string
}

// selectors lists every use of an imported package's name in a file.
func (s *source) selectors() []selector {
	names := map[string]string{}
	for _, i := range s.ast.Imports {
		p, _ := strconv.Unquote(i.Path.Value)
		name := path.Base(p)
		if len(name) > 1 && name[0] == 'v' && name[1] >= '0' && name[1] <= '9' {
			name = path.Base(path.Dir(p))
		}
		if i.Name != nil {
			name = i.Name.Name
		}
		names[name] = p
	}
	var out []selector
	ast.Inspect(s.ast, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		// An identifier with an object is a variable that shadows the import.
		if id, ok := sel.X.(*ast.Ident); ok && id.Obj == nil && names[id.Name] != "" {
			out = append(out, selector{sel, names[id.Name], sel.Sel.Name})
		}
		return true
	})
	return out
}
