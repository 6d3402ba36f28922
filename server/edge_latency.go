package server

import (
	"strconv"
	"strings"

	"github.com/redfence/redfence/fsm"
	"github.com/redfence/redfence/fsm/reply"
)

func latencyLatest(c *session, _ []string) reply.Value {
	out := reply.List()
	for _, event := range []string{eventWrite, eventRead} {
		e := c.server.latency.of(event)
		if len(e.samples) == 0 {
			continue
		}
		last := e.samples[len(e.samples)-1]
		out.Elems = append(out.Elems, reply.List(
			reply.String(event), reply.Integer(last.at), reply.Integer(last.millis), reply.Integer(e.longest)))
	}
	return out
}

func latencyHistory(c *session, args []string) reply.Value {
	out := reply.List()
	for _, s := range c.server.latency.of(args[2]).samples {
		out.Elems = append(out.Elems, reply.List(reply.Integer(s.at), reply.Integer(s.millis)))
	}
	return out
}

func latencyReset(c *session, args []string) reply.Value {
	return reply.Integer(int64(c.server.latency.reset(args[2:])))
}

func latencyDoctor(c *session, _ []string) reply.Value {
	const also = "The time that commands take is in LATENCY HISTOGRAM and in redfence_run_seconds of /metrics, " +
		"and single slow ones are in SLOWLOG.\n"
	threshold := c.server.settings.latencyMillis.Load()
	if threshold == 0 {
		return text("I'm sorry, latency events are not kept here: CONFIG SET latency-monitor-threshold <milliseconds> keeps them. " + also)
	}
	var b strings.Builder
	for _, event := range []string{eventWrite, eventRead} {
		e := c.server.latency.of(event)
		if len(e.samples) == 0 {
			continue
		}
		sum := int64(0)
		for _, s := range e.samples {
			sum += s.millis
		}
		n := int64(len(e.samples))
		b.WriteString(event + ": " + strconv.FormatInt(n, 10) + " seconds with a command above " +
			strconv.FormatInt(threshold, 10) + " ms, " + strconv.FormatInt(sum/n, 10) + " ms on average, " +
			strconv.FormatInt(e.longest, 10) + " ms at most. A command waits for the disks of a majority: " +
			"look at redfence_run_seconds on each node, and at the disks of the slowest.\n")
	}
	if b.Len() == 0 {
		return text("No command took " + strconv.FormatInt(threshold, 10) + " ms or more. " + also)
	}
	return text(b.String() + also)
}

// latencyHistogram answers, for all commands or the named ones and their
// subcommands, how many took at most so many microseconds.
func latencyHistogram(c *session, args []string) reply.Value {
	var rows []*fsm.Spec
	if len(args) == 2 {
		rows = commands().all
	}
	for _, name := range args[2:] {
		if spec := commandRow(name); spec != nil {
			rows = append(append(rows, spec), commands().subs[spec.Name]...)
		}
	}
	out := reply.Pairs()
	for _, spec := range rows {
		stat := c.server.stats.of(spec)
		calls, buckets := int64(0), reply.Pairs()
		for i := range stat.took {
			n := stat.took[i].Load()
			if n == 0 {
				continue
			}
			calls += n
			buckets.Elems = append(buckets.Elems, reply.Integer(1<<i), reply.Integer(calls))
		}
		if calls == 0 {
			continue
		}
		out.Elems = append(out.Elems, reply.String(spec.Name), reply.Pairs(
			reply.String("calls"), reply.Integer(calls), reply.String("histogram_usec"), buckets))
	}
	return out
}
