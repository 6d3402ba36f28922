package arch

import (
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
	"testing"
)

// productModulesMax bounds the direct dependencies of what is shipped.
const productModulesMax = 17

// required reads go.mod: module to version.
func required(t *testing.T, tr *tree) map[string]string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(tr.root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	mods := map[string]string{}
	for _, line := range strings.Split(string(data), "\n") {
		f := strings.Fields(strings.TrimPrefix(strings.TrimSpace(line), "require "))
		if len(f) > 0 && f[0] == "replace" {
			t.Errorf("go.mod: a replace hides what is built: %s", line)
		}
		if len(f) >= 2 && strings.HasPrefix(f[1], "v") {
			mods[f[0]] = f[1]
		}
	}
	return mods
}

// moduleOf finds the module that an import belongs to.
func moduleOf(mods map[string]string, imported string) string {
	best := ""
	for m := range mods {
		if under(imported, m) && len(m) > len(best) {
			best = m
		}
	}
	return best
}

var dependencyRow = regexp.MustCompile("(?m)^\\| `([^`]+)` \\| (v\\S+) \\| (\\S.*\\S) \\|$")

// TestDependenciesAreListed: docs/dependencies.md is the allow list. Each module
// that a source file imports has a row with its version and its reason, and
// each row is imported.
func TestDependenciesAreListed(t *testing.T) {
	tr := repo(t)
	mods := required(t, tr)
	rows := map[string]string{}
	for _, m := range dependencyRow.FindAllStringSubmatch(tr.others["docs/dependencies.md"], -1) {
		rows[m[1]] = m[2]
	}
	used, product := map[string]string{}, map[string]bool{}
	for _, s := range tr.sources {
		for _, i := range s.imports() {
			if !external(i) || s.apart {
				continue
			}
			m := moduleOf(mods, i)
			used[m] = s.path
			if !s.test && !isTests(s.pkg) {
				product[m] = true
			}
		}
	}
	for m, where := range used {
		if rows[m] == "" {
			t.Errorf("%s imports module %q, which has no row in docs/dependencies.md", where, m)
		} else if rows[m] != mods[m] {
			t.Errorf("docs/dependencies.md says %s %s, go.mod %s", m, rows[m], mods[m])
		}
	}
	for m := range rows {
		if used[m] == "" {
			t.Errorf("docs/dependencies.md lists %s, which nothing imports", m)
		}
	}
	if len(product) > productModulesMax {
		t.Errorf("the product has %d direct dependencies, at most %d: %v", len(product), productModulesMax, sorted(product))
	}
}

func sorted(set map[string]bool) []string {
	var out []string
	for s := range set {
		out = append(out, s)
	}
	sort.Strings(out)
	return out
}
