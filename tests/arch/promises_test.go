package arch

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// promises is how many promises the project makes. They are numbered in
// fsm/doc.go, argued in docs/safety.md, and each is cited as "promise N" by the
// tests that fail when it is broken.
const promises = 10

// TestPromisesAreTested: a promise without a test is a wish.
func TestPromisesAreTested(t *testing.T) {
	tr := repo(t)
	var doc string
	cited := map[string][]string{}
	cite := regexp.MustCompile(`(?i)promises? (?:\d+(?:, | and |, and |\b))+`)
	number := regexp.MustCompile(`\d+`)
	for _, s := range tr.sources {
		if s.path == "fsm/doc.go" {
			doc = s.text
		}
		if !s.test || s.pkg == "tests/arch" {
			continue
		}
		for _, m := range cite.FindAllString(s.text, -1) {
			for _, n := range number.FindAllString(m, -1) {
				cited[n] = append(cited[n], s.path)
			}
		}
	}
	for n := 1; n <= promises; n++ {
		if !strings.Contains(doc, fmt.Sprintf("P%d ", n)) {
			t.Errorf("fsm/doc.go does not state promise P%d", n)
		}
		if len(cited[fmt.Sprint(n)]) == 0 {
			t.Errorf("no test cites promise %d", n)
		}
		if !strings.Contains(tr.others["docs/safety.md"], fmt.Sprintf("P%d", n)) {
			t.Errorf("docs/safety.md does not argue P%d", n)
		}
	}
}
