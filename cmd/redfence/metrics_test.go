package main

import (
	"fmt"
	"net/http/httptest"
	"sort"
	"strings"
	"testing"
)

// TestMetricsPage: docs/metrics.md says what /metrics of a node that serves has.
func TestMetricsPage(t *testing.T) {
	n, _ := startTestNode(t)
	defer n.end(false)
	answer := httptest.NewRecorder()
	n.server.Handler().ServeHTTP(answer, httptest.NewRequest("GET", "/metrics", nil))
	page(t, "metrics.md", metricsPage(t, answer.Body.String()))
}

func metricsPage(t *testing.T, text string) string {
	help, kind := map[string]string{}, map[string]string{}
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, "# HELP "); ok {
			name, what, _ := strings.Cut(strings.TrimSpace(rest), " ")
			help[name] = what
		}
		if rest, ok := strings.CutPrefix(line, "# TYPE "); ok {
			name, what, _ := strings.Cut(strings.TrimSpace(rest), " ")
			kind[name] = what
		}
	}
	var names []string
	raft := false
	for name := range help {
		switch {
		case strings.HasPrefix(name, "redfence_raft_"):
			raft = true // which there are depends on what raft has done so far
		case strings.HasPrefix(name, "redfence_"):
			names = append(names, name)
		}
	}
	if !raft || len(names) == 0 {
		t.Errorf("/metrics lacks raft's numbers or ours:\n%s", text)
	}
	sort.Strings(names)
	var b strings.Builder
	b.WriteString(`# Metrics

What ` + "`/metrics`" + ` of a node has in Prometheus's form, beside the numbers of the Go runtime (` + "`go_*`" + `), of the process (` + "`process_*`" + `)
and of the raft library (` + "`redfence_raft_*`" + `).

| metric | type | |
| --- | --- | --- |
`)
	for _, name := range names {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", name, kind[name], cell(help[name]))
	}
	return b.String()
}
