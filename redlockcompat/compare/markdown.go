package compare

import (
	"fmt"
	"strings"
)

func holdersWords(v verdict) string {
	if v.TwoHolders == 0 {
		return "never two holders"
	}
	times := "once"
	if v.TwoHolders > 1 {
		times = fmt.Sprintf("%d times", v.TwoHolders)
	}
	return fmt.Sprintf("**two holders at once** (%s, up to %.0f ms)", times, v.Overlap)
}

func lateWords(v verdict) string {
	if v.LateAccepted > 0 {
		return fmt.Sprintf("**late write accepted** (%d of %d)", v.LateAccepted, v.LateAll)
	}
	return fmt.Sprintf("late write refused by its token (%d of %d)", v.LateAll, v.LateAll)
}

func seconds(s float64) string { return fmt.Sprintf("%.2f s", s) }

// mode tells how thorough the run was.
func (r *Report) mode() string {
	if r.Quick {
		return "quick"
	}
	return "full"
}

func (r *Report) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Plain Redlock and Redfence, side by side\n\n")
	fmt.Fprintf(&b, "%s run of %s, %.0f s, seed %d. Redfence %s, redis-server %s, redsync on go-redis; %s.\n",
		r.mode(), r.Began.Format("2006-01-02 15:04 MST"), r.Took, r.Seed, r.Version, r.Redis, r.Machine)
	b.WriteString("Every figure was counted in this run. The clients and all servers shared this one machine.\n\n## Faults\n\n")
	b.WriteString("| fault |")
	systems := r.faultSystems()
	for _, s := range systems {
		fmt.Fprintf(&b, " %s |", s)
	}
	b.WriteString("\n|" + strings.Repeat(" --- |", len(systems)+1) + "\n")
	for _, k := range r.Faults {
		fmt.Fprintf(&b, "| **%s.** %s |", k.Title, k.What)
		for _, s := range systems {
			fmt.Fprintf(&b, " %s |", r.verdict(k.ID, s).words(k))
		}
		b.WriteString("\n")
	}
	b.WriteString("\nA holder is in the resource from when its library said yes until the end of its lease as the library counts it.\n" +
		"A gap is the longest time in which no client got a lock of its own.\n")
	r.markdownSpeed(&b, "Lock cycles a second", "%.0f", (*SpeedRun).PerSecond)
	r.markdownSpeed(&b, "Acquire latency, p50 in ms", "%.2f", p50)
	r.markdownSpeed(&b, "Acquire latency, p99 in ms", "%.2f", p99)
	return b.String()
}

func (r *Report) markdownSpeed(b *strings.Builder, title, format string, figure func(*SpeedRun) float64) {
	fmt.Fprintf(b, "\n## %s\n\nMedian of the rounds, with the least and the greatest.\n\n| system |", title)
	workers := r.workers()
	for _, w := range workers {
		fmt.Fprintf(b, " %d workers |", w)
	}
	b.WriteString("\n|" + strings.Repeat(" --- |", len(workers)+1) + "\n")
	for _, s := range r.Systems {
		fmt.Fprintf(b, "| %s |", s)
		for _, w := range workers {
			v := r.speedOf(s, w, figure)
			fmt.Fprintf(b, " "+format+" ("+format+" to "+format+") |", v.Median, v.Min, v.Max)
		}
		b.WriteString("\n")
	}
}
