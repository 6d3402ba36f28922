package compare

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func sample() *Report {
	return &Report{
		Seed: 7, Quick: true, Version: "1.2.3", Redis: "7.0.15", Machine: "linux", Systems: []string{"Redlock", "Redfence"},
		Speed: []*SpeedRun{
			{System: "Redlock", Workers: 1, Seconds: 2, Cycles: 200, P50: 1, P99: 2},
			{System: "Redlock", Workers: 1, Seconds: 2, Cycles: 400, P50: 3, P99: 4},
			{System: "Redlock", Workers: 1, Seconds: 2, Cycles: 600, P50: 2, P99: 9},
			{System: "Redfence", Workers: 1, Seconds: 1, Cycles: 100, P50: 4, P99: 5},
		},
		Faults: []FaultKind{{ID: "restart", Title: "A <crash>", What: "It crashes."}, {ID: "dead", Title: "Dead", Service: true}, {ID: "jump", Title: "Jump"}},
		Runs: []*FaultRun{
			{Fault: "restart", System: "Redlock", TwoHolders: 1, Overlap: 1234},
			{Fault: "restart", System: "Redlock", TwoHolders: 1, Overlap: 900},
			{Fault: "restart", System: "Redfence", LateRefused: 1},
			{Fault: "dead", System: "Redlock", Gap: 0.25}, {Fault: "dead", System: "Redfence", Gap: 0.5},
			{Fault: "jump", System: "Redlock", NotRun: "libfaketime isn't installed"}, {Fault: "jump", System: "Redfence"},
		},
	}
}

// The pages say what the runs saw: medians with their ranges, what was not run and why.
func TestReportSaysWhatWasSeen(t *testing.T) {
	dir := t.TempDir()
	if err := sample().write(dir); err != nil {
		t.Fatal(err)
	}
	for file, wants := range map[string][]string{
		"report.md": {
			"**two holders at once** (2 times, up to 1234 ms)", "late write refused by its token (1 of 1)", "longest gap 0.25 s",
			"not run: libfaketime isn't installed", "| 200 (100 to 300) |", "| 2.00 (1.00 to 3.00) |", "seed 7", "Redfence 1.2.3",
		},
		"report.html": {
			"two holders at once, up to 1234 ms", "2 times in 2 runs", "A &lt;crash&gt;", "libfaketime isn&#39;t installed",
			"2 × two holders", "never two holders", "100 to 300", "longest gap 0.50 s",
		},
	} {
		b, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range wants {
			if !strings.Contains(string(b), want) {
				t.Errorf("%s doesn't say %q", file, want)
			}
		}
	}
	b, err := os.ReadFile(filepath.Join(dir, "report.json"))
	if err != nil {
		t.Fatal(err)
	}
	var back Report
	if err := json.Unmarshal(b, &back); err != nil || len(back.Speed) != 4 || len(back.Runs) != 7 {
		t.Errorf("report.json has not every run: %v", err)
	}
}

// A page names nothing outside of itself.
func TestPageStandsAlone(t *testing.T) {
	page, err := sample().html()
	if err != nil {
		t.Fatal(err)
	}
	for _, outside := range []string{"http://", "https://", "<script", "<link", "url("} {
		if strings.Contains(string(page), outside) {
			t.Errorf("the page has %q", outside)
		}
	}
}
