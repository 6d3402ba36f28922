package compare

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"strings"
)

//go:embed report.html.tmpl
var pageText string

var pageTemplate = template.Must(template.New("report").Parse(pageText))

// page is what the template shows.
type page struct {
	*Report
	Mode     string
	Date     string
	Headline []headline
	Columns  []string
	Rows     []faultRow
	Charts   []chart
}

// headline is one kind of system over all faults.
type headline struct {
	Name               string
	TwoHolders, Faults int
	Overlap            float64
	LateAccepted       int
	Bad                bool
}

type faultRow struct {
	FaultKind
	Cells []faultCell
}

type faultCell struct{ Class, Main, More string }

// chart is bars in groups, one group a number of workers, drawn to one scale a group.
type chart struct {
	Title, Note string
	Groups      []barGroup
}

type barGroup struct {
	Label string
	Bars  []bar
}

type bar struct {
	System string
	Class  string
	Width  float64 // percent of the group's longest
	Text   string
	Range  string
}

func (r *Report) html() ([]byte, error) {
	p := &page{Report: r, Mode: r.mode(), Date: r.Began.Format("2006-01-02 15:04 MST"), Columns: r.faultSystems()}
	p.Headline = r.headlines()
	for _, k := range r.Faults {
		row := faultRow{FaultKind: k}
		for _, s := range p.Columns {
			row.Cells = append(row.Cells, cellOf(r.verdict(k.ID, s), k))
		}
		p.Rows = append(p.Rows, row)
	}
	p.Charts = []chart{
		r.chart("Lock cycles a second", "Longer is better; a cycle is one lock and one release", "%.0f", (*SpeedRun).PerSecond),
		r.chart("Acquire latency, median", "Milliseconds, shorter is better", "%.2f ms", p50),
		r.chart("Acquire latency, slowest 1 %", "Milliseconds, shorter is better", "%.2f ms", p99),
	}
	var b bytes.Buffer
	err := pageTemplate.Execute(&b, p)
	return b.Bytes(), err
}

func (r *Report) headlines() []headline {
	var out []headline
	for _, s := range r.faultSystems() {
		h := headline{Name: s}
		for _, k := range r.Faults {
			v := r.verdict(k.ID, s)
			if !v.Ran {
				continue
			}
			h.Faults++
			h.TwoHolders += v.TwoHolders
			h.Overlap = max(h.Overlap, v.Overlap)
			h.LateAccepted += v.LateAccepted
			h.Bad = h.Bad || v.bad()
		}
		out = append(out, h)
	}
	return out
}

func cellOf(v verdict, k FaultKind) faultCell {
	switch {
	case !v.Ran && v.NotRun:
		return faultCell{"none", "not run", v.Why}
	case !v.Ran:
		return faultCell{"none", "not run", ""}
	}
	var more []string
	c := faultCell{Class: "good", Main: "never two holders"}
	if v.TwoHolders > 0 {
		c.Class, c.Main = "bad", fmt.Sprintf("two holders at once, up to %.0f ms", v.Overlap)
		if v.Runs > 1 {
			more = append(more, fmt.Sprintf("%d times in %d runs", v.TwoHolders, v.Runs))
		}
	}
	switch {
	case v.LateAccepted > 0:
		c.Class, c.Main = "bad", "late write accepted"
	case v.LateAll > 0:
		c.Main = "late write refused by its token"
	}
	if k.Service {
		more = append(more, "longest gap "+seconds(v.Gap.Median))
	}
	c.More = strings.Join(more, "; ")
	return c
}

func (r *Report) chart(title, note, format string, figure func(*SpeedRun) float64) chart {
	c := chart{Title: title, Note: note}
	for _, w := range r.workers() {
		g := barGroup{Label: fmt.Sprintf("%d workers", w)}
		if w == 1 {
			g.Label = "1 worker"
		}
		longest := 0.0
		for _, s := range r.Systems {
			longest = max(longest, r.speedOf(s, w, figure).Median)
		}
		for _, s := range r.Systems {
			v := r.speedOf(s, w, figure)
			b := bar{System: s, Class: "plain", Text: fmt.Sprintf(format, v.Median)}
			if strings.HasPrefix(s, "Redfence") {
				b.Class = "ours"
			}
			if longest > 0 {
				b.Width = 100 * v.Median / longest
			}
			if v.Min != v.Max {
				b.Range = fmt.Sprintf(format+" to "+format, v.Min, v.Max)
			}
			g.Bars = append(g.Bars, b)
		}
		c.Groups = append(c.Groups, g)
	}
	return c
}
