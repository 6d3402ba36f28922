package compat_test

import (
	"encoding/json"
	"maps"
	"os"
	"slices"
	"sync"
	"testing"
)

// resultsFile is what the last recorded run saw. docs/clients.md is made from it
// and claims nothing else.
const resultsFile = "results.json"

// results are what ran: by library, the version and by topology each case's result.
type results struct {
	mu        sync.Mutex
	Libraries map[string]*result
}

type result struct {
	Version    string                       `json:"version"`
	Topologies map[string]map[string]string `json:"topologies"`
}

func newResults() *results { return &results{Libraries: map[string]*result{}} }

func (r *results) of(library string) *result {
	if r.Libraries[library] == nil {
		r.Libraries[library] = &result{Topologies: map[string]map[string]string{}}
	}
	return r.Libraries[library]
}

func (r *results) version(library, version string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.of(library).Version = version
}

func (r *results) versionOf(library string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.of(library).Version
}

// passed counts a library's passed cases over all topologies.
func (r *results) passed(library string) int {
	n := 0
	if l := r.Libraries[library]; l != nil {
		for _, ran := range l.Topologies {
			for _, outcome := range ran {
				if outcome == "ok" {
					n++
				}
			}
		}
	}
	return n
}

func (r *results) note(library, topology, name, outcome string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	l := r.of(library)
	if l.Topologies[topology] == nil {
		l.Topologies[topology] = map[string]string{}
	}
	l.Topologies[topology][name] = outcome
}

// write records what ran. What didn't, since it was not asked for, stays as it was
// recorded, unless it is not in the list any more.
func (r *results) write(t *testing.T) {
	all := map[string]*result{}
	for name, was := range readResults(t).Libraries {
		if listed()[name] {
			all[name] = was
		}
	}
	maps.Copy(all, r.Libraries)
	b, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(resultsFile, append(b, '\n'), 0o644); err != nil {
		t.Fatal(err)
	}
}

func readResults(t *testing.T) *results {
	t.Helper()
	r := newResults()
	b, err := os.ReadFile(resultsFile)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &r.Libraries); err != nil {
		t.Fatal(err)
	}
	return r
}

// compare holds the recorded results to what ran now: what is recorded must have
// been seen again, and what ran must be recorded. Versions may differ, since the
// distribution's packages move by themselves.
func (r *results) compare(t *testing.T) {
	recorded := readResults(t)
	for _, name := range slices.Sorted(maps.Keys(r.Libraries)) {
		was := recorded.Libraries[name]
		if was == nil {
			t.Errorf("%s ran and is not in %s: run make compat RECORD=1", name, resultsFile)
			continue
		}
		for topology, now := range r.Libraries[name].Topologies {
			if !maps.Equal(now, was.Topologies[topology]) {
				t.Errorf("%s, %s: %v ran, %v is recorded: run make compat RECORD=1", name, topology, now, was.Topologies[topology])
			}
		}
	}
	names := listed()
	for name := range recorded.Libraries {
		if !names[name] {
			t.Errorf("%s has %s, which is not in the list any more: run make compat RECORD=1", resultsFile, name)
		}
	}
}

func listed() map[string]bool {
	names := map[string]bool{}
	for _, chain := range toolchains {
		for _, l := range chain.libraries {
			names[l.Name] = true
		}
	}
	return names
}
