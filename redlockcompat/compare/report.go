package compare

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// Report is everything that a run saw. Files made of it: report.json (all of it),
// report.md and report.html.
type Report struct {
	Began   time.Time   `json:"began"`
	Took    float64     `json:"took_s"`
	Seed    uint64      `json:"seed"`
	Quick   bool        `json:"quick"`
	Version string      `json:"redfence_version"`
	Redis   string      `json:"redis_version"`
	Machine string      `json:"machine"`
	Systems []string    `json:"systems"`
	Speed   []*SpeedRun `json:"speed"`
	Faults  []FaultKind `json:"faults"`
	Runs    []*FaultRun `json:"fault_runs"`
}

// FaultKind is what a fault is, for the report.
type FaultKind struct {
	ID      string `json:"id"`
	Title   string `json:"title"`
	What    string `json:"what"`
	Service bool   `json:"service"` // it is measured by the gap
}

func (r *Report) write(dir string) error {
	raw, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	page, err := r.html()
	if err != nil {
		return err
	}
	for name, content := range map[string][]byte{
		"report.json": append(raw, '\n'), "report.md": []byte(r.markdown()), "report.html": page,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// span is the middle one of several runs, and the least and the greatest.
type span struct{ Median, Min, Max float64 }

func spanOf(values []float64) span {
	if len(values) == 0 {
		return span{}
	}
	slices.Sort(values)
	return span{values[len(values)/2], values[0], values[len(values)-1]}
}

// Workers lists the numbers of workers that ran.
func (r *Report) workers() []int {
	var out []int
	for _, run := range r.Speed {
		if !slices.Contains(out, run.Workers) {
			out = append(out, run.Workers)
		}
	}
	slices.Sort(out)
	return out
}

// speedOf is a figure of a system's runs with so many workers.
func (r *Report) speedOf(system string, workers int, figure func(*SpeedRun) float64) span {
	var values []float64
	for _, run := range r.Speed {
		if run.System == system && run.Workers == workers {
			values = append(values, figure(run))
		}
	}
	return spanOf(values)
}

func p50(r *SpeedRun) float64 { return r.P50 }
func p99(r *SpeedRun) float64 { return r.P99 }

// verdict is what a fault did to a system over all its runs.
type verdict struct {
	Ran, NotRun           bool
	Why                   string
	Runs                  int
	TwoHolders            int
	Overlap               float64 // ms, the longest
	LateAccepted, LateAll int
	Gap                   span // s
}

func (r *Report) verdict(fault, system string) verdict {
	var v verdict
	var gaps []float64
	for _, run := range r.Runs {
		if run.Fault != fault || run.System != system {
			continue
		}
		if run.NotRun != "" {
			v.NotRun, v.Why = true, run.NotRun
			continue
		}
		v.Ran = true
		v.Runs++
		v.TwoHolders += run.TwoHolders
		v.Overlap = max(v.Overlap, run.Overlap)
		v.LateAccepted += run.LateAccepted
		v.LateAll += run.LateAccepted + run.LateRefused
		gaps = append(gaps, run.Gap)
	}
	v.Gap = spanOf(gaps)
	return v
}

// faultSystems are the systems on which faults ran.
func (r *Report) faultSystems() []string {
	var out []string
	for _, run := range r.Runs {
		if !slices.Contains(out, run.System) {
			out = append(out, run.System)
		}
	}
	return out
}

// words tell a verdict in a cell.
func (v verdict) words(k FaultKind) string {
	switch {
	case !v.Ran && v.NotRun:
		return "not run: " + v.Why
	case !v.Ran:
		return "not run"
	}
	text := holdersWords(v)
	if v.LateAll > 0 {
		text += ", " + lateWords(v)
	}
	if k.Service {
		text += ", longest gap " + seconds(v.Gap.Median)
	}
	return text
}

// bad says whether a lock failed to do what it is for.
func (v verdict) bad() bool { return v.TwoHolders > 0 || v.LateAccepted > 0 }
