package bench_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// report is everything that was seen, as runs.json has it.
type report struct {
	Began     time.Time         `json:"began"`
	Ended     time.Time         `json:"ended"`
	Scale     scale             `json:"scale"`
	Machine   machine           `json:"machine"`
	LoadAfter string            `json:"load_average_after"`
	Systems   []about           `json:"systems"`
	Contended []about           `json:"contended_systems"`
	Held      []heldLocks       `json:"held"`
	HandOvers []handOver        `json:"hand_overs"`
	Floor     floor             `json:"floor"`
	Tool      []toolRun         `json:"redis_benchmark"`
	Idle      idle              `json:"idle"`
	NotRun    map[string]string `json:"not_run"` // system to reason
	Runs      []run             `json:"runs"`    // in the order in which they ran
}

// about is a system as a reader of the report needs it.
type about struct {
	Name    string `json:"name"`
	Title   string `json:"title"`
	Durable string `json:"durable"` // what has fsynced a lock when it is granted
}

// of is a system's runs under one load, by round.
func (r *report) of(system string, workers int, rate float64) []run {
	var out []run
	for _, x := range r.Runs {
		if x.System == system && x.Workers == workers && x.Rate == rate {
			out = append(out, x)
		}
	}
	return out
}

// missing says what a report must have and this one hasn't: every topology of
// Redfence, under every load, in every round.
func (r *report) missing() []string {
	var out []string
	want := func(name string, workers int, rate float64, rounds int) {
		seen := 0
		for _, x := range r.of(name, workers, rate) {
			if x.Cycles > 0 {
				seen++
			}
		}
		if seen < rounds {
			out = append(out, fmt.Sprintf("%s, %d workers, offered %v: %d runs of %d have cycles", name, workers, rate, seen, rounds))
		}
	}
	for _, name := range topologies {
		for _, workers := range workerCounts {
			want(name, workers, 0, r.Scale.Rounds)
		}
		want(name, offeredWorkers, offeredRate, r.Scale.OfferedRounds)
	}
	return append(out, r.missingParts()...)
}

// missingParts says which of the parts beside the cycles have nothing in them.
func (r *report) missingParts() []string {
	var out []string
	for _, part := range []struct {
		name       string
		seen, want int
	}{
		{"held locks", len(r.Held), len(r.Scale.HeldLocks)}, {"lines of a lock that goes from hand to hand", len(r.HandOvers), len(r.Scale.Lines)},
		{"runs beside a follower that lags", len(r.of(wellName, lagWorkers, 0)) + len(r.of(stoppedName, lagWorkers, 0)) + len(r.of(slowName, lagWorkers, 0)), len(lagNames) * r.Scale.Rounds},
		{"acquires beside their floor", len(r.Floor.Acquire), r.Scale.FloorBlocks * floorBlock}, {"idle nodes", len(r.Idle.Processor), 3},
		{"commands by redis-benchmark", len(r.Tool), r.Scale.ToolRounds * len(toolCommands()) * 2 * 3},
	} {
		if part.name == "commands by redis-benchmark" && r.NotRun["redis-benchmark"] != "" {
			continue
		}
		if part.seen < part.want {
			out = append(out, fmt.Sprintf("%s: %d of %d", part.name, part.seen, part.want))
		}
	}
	return out
}

// spread is a figure's median and range over rounds; n is 0 where there is none.
type spread struct {
	median, least, most float64
	n                   int
}

func spreadOf(figures []float64) spread {
	if len(figures) == 0 {
		return spread{}
	}
	f := slices.Sorted(slices.Values(figures))
	mid := f[len(f)/2]
	if len(f)%2 == 0 {
		mid = (f[len(f)/2-1] + mid) / 2
	}
	return spread{mid, f[0], f[len(f)-1], len(f)}
}

// figure is the spread of one figure of a system under a load.
func (r *report) figure(system string, workers int, rate float64, of func(*run) float64) spread {
	var all []float64
	for _, x := range r.of(system, workers, rate) {
		all = append(all, of(&x))
	}
	return spreadOf(all)
}

// ratio compares the cycles a second of two systems, round by round: both runs of
// a pair met the machine in the same minute.
func (r *report) ratio(system, peer string, workers int) spread {
	var all []float64
	for _, a := range r.of(system, workers, 0) {
		for _, b := range r.of(peer, workers, 0) {
			if a.Round == b.Round && b.Cycles > 0 {
				all = append(all, a.perSecond()/b.perSecond())
			}
		}
	}
	return spreadOf(all)
}

// peers are the names of the measured systems that are not Redfence.
func (r *report) peers() []string {
	var out []string
	for _, s := range r.Systems {
		if !slices.Contains(topologies, s.Name) {
			out = append(out, s.Name)
		}
	}
	return out
}

// troubled are the runs in which not everything went well.
func (r *report) troubled() []run {
	out := slices.Clone(r.Runs)
	out = slices.DeleteFunc(out, func(x run) bool { return x.Failed == 0 && !x.LeaderMoved })
	slices.SortStableFunc(out, func(a, b run) int { return cmp.Compare(a.Order, b.Order) })
	return out
}

// write leaves runs.json and report.md in a folder.
func (r *report) write(folder string) error {
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(folder, "runs.json"), append(data, '\n'), 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, "report.md"), []byte(r.markdown()), 0o644)
}
