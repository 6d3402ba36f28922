package bench_test

import (
	"fmt"
	"strings"
	"time"
)

// markdown is the report for people.
func (r *report) markdown() string {
	var b strings.Builder
	b.WriteString("# Lock cycles\n\nA cycle is an acquire (with a lease of 10 s, each worker on a name of its own) and a release. Servers and clients share\n" +
		"this machine and its disk, so compare within this report, not across machines.\n\n")
	r.setting(&b)
	r.speeds(&b)
	r.ratios(&b)
	r.offered(&b)
	r.contention(&b)
	r.handedOver(&b)
	r.floors(&b)
	r.tooled(&b)
	r.idled(&b)
	r.lag(&b)
	r.held(&b)
	r.judged(&b)
	r.troubles(&b)
	return b.String()
}

func (r *report) setting(b *strings.Builder) {
	m := r.Machine
	fmt.Fprintf(b, "- %s, %d CPUs (%s), %s, data on %s\n", m.System, m.CPUs, m.Model, m.Go, m.Disk)
	fmt.Fprintf(b, "- %s to %s; load average before %s, after %s", r.Began.UTC().Format("2006-01-02 15:04"), r.Ended.UTC().Format("15:04 MST"), m.Load, r.LoadAfter)
	b.WriteString(". A load before that isn't near 0 means that something else ran.\n")
	for _, v := range m.Versions {
		fmt.Fprintf(b, "- %s\n", v)
	}
	fmt.Fprintf(b, "- %d rounds of %v a run, in turn: every system, at each number of workers, then the next round. All servers run all the time, and those that aren't measured are idle.\n",
		r.Scale.Rounds, r.Scale.Length)
	for _, name := range sortedKeys(r.NotRun) {
		fmt.Fprintf(b, "- not run: %s: %s\n", name, r.NotRun[name])
	}
}

func (r *report) speeds(b *strings.Builder) {
	b.WriteString("\n## Cycles a second\n\nMedian (least to most) of the rounds; below it p50 and p99 of an acquire in milliseconds, medians of the rounds' own.\n\n| system | fsynced by |")
	for _, w := range workerCounts {
		fmt.Fprintf(b, " %d |", w)
	}
	b.WriteString("\n| --- | --- |" + strings.Repeat(" --- |", len(workerCounts)) + "\n")
	for _, s := range r.Systems {
		fmt.Fprintf(b, "| %s (`%s`) | %s |", s.Title, s.Name, s.Durable)
		for _, w := range workerCounts {
			p50 := r.figure(s.Name, w, 0, func(x *run) float64 { return x.P50 })
			p99 := r.figure(s.Name, w, 0, func(x *run) float64 { return x.P99 })
			fmt.Fprintf(b, " %s<br>%.2f, %.2f |", r.figure(s.Name, w, 0, (*run).perSecond).show("%.0f"), p50.median, p99.median)
		}
		b.WriteString("\n")
	}
}

func (r *report) ratios(b *strings.Builder) {
	b.WriteString("\n## Redfence against each peer\n\nCycles a second of Redfence over those of the peer, in the same round: median (least to most).\n")
	peers := r.peers()
	if len(peers) == 0 {
		b.WriteString("\nNo peer was run.\n")
		return
	}
	for _, w := range workerCounts {
		fmt.Fprintf(b, "\n| %d workers | %s |\n| --- |%s\n", w, strings.Join(peers, " | "), strings.Repeat(" --- |", len(peers)))
		for _, name := range topologies {
			fmt.Fprintf(b, "| %s |", name)
			for _, p := range peers {
				fmt.Fprintf(b, " %s |", r.ratio(name, p, w).show("%.2f"))
			}
			b.WriteString("\n")
		}
	}
}

func (r *report) offered(b *strings.Builder) {
	fmt.Fprintf(b, "\n## At %d cycles a second offered\n\n%d workers, evenly spread; milliseconds of an acquire. *From due* counts from when the acquire was to begin, also where the\n"+
		"worker's cycle before it had not ended, so that a stall counts for everybody whom it kept waiting.\n\n", offeredRate, offeredWorkers)
	b.WriteString("| system | cycles/s done | p50 | p99 | p50 from due | p99 from due |\n| --- | --- | --- | --- | --- | --- |\n")
	for _, s := range r.Systems {
		fmt.Fprintf(b, "| %s |", s.Name)
		for i, of := range []func(*run) float64{
			(*run).perSecond,
			func(x *run) float64 { return x.P50 }, func(x *run) float64 { return x.P99 },
			func(x *run) float64 { return x.DueP50 }, func(x *run) float64 { return x.DueP99 },
		} {
			format := "%.2f"
			if i == 0 {
				format = "%.0f"
			}
			fmt.Fprintf(b, " %s |", r.figure(s.Name, offeredWorkers, offeredRate, of).show(format))
		}
		b.WriteString("\n")
	}
}

func (r *report) contention(b *strings.Builder) {
	fmt.Fprintf(b, "\n## %d workers on one name\n\nThe lock goes from hand to hand. Milliseconds from wanting it to having it: where p99 is many times p50, some were passed over.\n"+
		"Workers that ask again do so every %v, more or less; *refused* is how often they were told that another has it, for each time that one had it.\n\n",
		contendedWorkers, retryEvery)
	b.WriteString("| system | fsynced by | grants/s | p50 | p99 | refused |\n| --- | --- | --- | --- | --- | --- |\n")
	for _, s := range r.Contended {
		of := func(format string, f func(*run) float64) string {
			return r.figure(s.Name, contendedWorkers, 0, f).show(format)
		}
		fmt.Fprintf(b, "| %s (`%s`) | %s | %s | %s | %s | %s |\n", s.Title, s.Name, s.Durable, of("%.0f", (*run).perSecond),
			of("%.1f", func(x *run) float64 { return x.P50 }), of("%.1f", func(x *run) float64 { return x.P99 }),
			of("%.1f", func(x *run) float64 { return float64(x.Refused) / float64(max(1, x.Cycles)) }))
	}
}

func (r *report) judged(b *strings.Builder) {
	b.WriteString("\n## Targets\n\nRatios of cycles a second, medians of the rounds (least to most).\n\n| workers | ratio | at least | aim | seen | at least | aim |\n| --- | --- | --- | --- | --- | --- | --- |\n")
	for _, t := range targets() {
		seen := r.ratio(t.system, t.peer, t.workers)
		aim := "-"
		if t.aim > 0 {
			aim = fmt.Sprintf("%.2f", t.aim)
		}
		fmt.Fprintf(b, "| %d | %s / %s | %.2f | %s | %s | %s | %s |\n",
			t.workers, t.system, t.peer, t.least, aim, seen.show("%.2f"), verdict(seen, t.least), verdict(seen, t.aim))
	}
}

func (r *report) troubles(b *strings.Builder) {
	b.WriteString("\n## What went wrong\n\n")
	bad := r.troubled()
	if len(bad) == 0 {
		b.WriteString("Nothing: no acquire or release failed, and no leader changed.\n")
	}
	for _, x := range bad {
		fmt.Fprintf(b, "- run %d, %s, %d workers: %d failed of %d", x.Order, x.System, x.Workers, x.Failed, x.Cycles+x.Failed)
		if x.Error != "" {
			fmt.Fprintf(b, " (%s)", strings.ReplaceAll(x.Error, "\n", "; "))
		}
		if x.LeaderMoved {
			b.WriteString("; the leader changed")
		}
		b.WriteString("\n")
	}
	for _, m := range r.missing() {
		fmt.Fprintf(b, "- missing: %s\n", m)
	}
	fmt.Fprintf(b, "\nEvery run and its place in the order is in runs.json. It took %v.\n", r.Ended.Sub(r.Began).Round(time.Second))
}

// show is the median and the range, "-" where there is nothing.
func (s spread) show(format string) string {
	if s.n == 0 {
		return "-"
	}
	return fmt.Sprintf(format+" ("+format+" to "+format+")", s.median, s.least, s.most)
}
