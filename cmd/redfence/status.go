package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
)

func newStatus() *cobra.Command {
	var o operator
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show the nodes of a cluster, who leads, how far each is, and how many locks there are",
		Long: `Show what a node knows of its cluster: the nodes, who leads, the term, how far
each node is behind, and how many locks each kind of port holds.

Only a leader knows the lag of others. When the node asked is a follower, status
asks the leader for it, if it can be reached.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			v, err := o.ask(cmd.Context(), "redfence", "status")
			if err != nil {
				return err
			}
			st := asMap(v)
			if leader := leaderAddr(st); leader != "" {
				// What the leader says is better; without it a follower's word is good enough.
				asked := o
				asked.addr = leader
				if v, err := asked.ask(cmd.Context(), "redfence", "status"); err == nil {
					st["members"] = asMap(v)["members"]
				}
			}
			if asJSON {
				enc := json.NewEncoder(cmd.OutOrStdout())
				enc.SetIndent("", "  ")
				return enc.Encode(plain(st))
			}
			return writeStatus(cmd.OutOrStdout(), st)
		},
	}
	o.bind(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print everything as JSON")
	return cmd
}

// asMap is a map that a node answered; nil if it is none.
func asMap(v any) map[any]any {
	m, _ := v.(map[any]any)
	return m
}

func members(st map[any]any) []map[any]any {
	list, _ := st["members"].([]any)
	out := make([]map[any]any, len(list))
	for i, m := range list {
		out[i] = asMap(m)
	}
	return out
}

// leaderAddr is where the leader serves clients, "" when the node asked leads
// itself or doesn't know.
func leaderAddr(st map[any]any) string {
	for _, m := range members(st) {
		if m["leader"] == int64(1) && m["node"] != st["node"] {
			return fmt.Sprint(m["client"])
		}
	}
	return ""
}

func writeStatus(w io.Writer, st map[any]any) error {
	fmt.Fprintf(w, "cluster %v, asked %v (%s), leader %s, term %v, %v entries, last token %v\n",
		orDash(st["cluster"]), st["node"], readiness(st), orDash(st["leader"]), st["term"], st["commit_index"], st["tokens"])
	fmt.Fprintf(w, "locks: %s\n\n", lockCounts(st))
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprintln(t, "NODE\tROLE\tLAG\tHEARD\tCLIENTS\tSEATS\tRAFT\tHTTP\tVERSION")
	for _, m := range members(st) {
		fmt.Fprintf(t, "%v\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n",
			m["node"], memberRole(m), orDash(m["lag"]), heard(m), orDash(m["client"]), seatList(m), orDash(m["raft"]), orDash(m["http"]), orDash(m["version"]))
	}
	return t.Flush()
}

func readiness(st map[any]any) string {
	if st["ready"] == int64(1) {
		return "ready"
	}
	return "not ready"
}

// lockCounts lists what each kind of port holds, the shared port first.
func lockCounts(st map[any]any) string {
	locks := asMap(st["locks"])
	parts := []string{fmt.Sprintf("shared %v", orDash(locks["shared"]))}
	for seat := 1; ; seat++ {
		name := fmt.Sprintf("seat %d", seat)
		n, ok := locks[name]
		if !ok {
			return strings.Join(parts, ", ")
		}
		parts = append(parts, fmt.Sprintf("%s %v", name, n))
	}
}

func memberRole(m map[any]any) string {
	switch {
	case m["leader"] == int64(1):
		return "leader"
	case m["voter"] == int64(1):
		return "follower"
	}
	return "no vote"
}

func heard(m map[any]any) string {
	ms, ok := m["heard_ms"].(int64)
	if !ok {
		return "-"
	}
	return (time.Duration(ms) * time.Millisecond).String()
}

func seatList(m map[any]any) string {
	list, _ := m["seats"].([]any)
	if len(list) == 0 {
		return "-"
	}
	texts := make([]string, len(list))
	for i, s := range list {
		texts[i] = fmt.Sprint(s)
	}
	return strings.Join(texts, ",")
}

// orDash spells what isn't known as a dash.
func orDash(v any) string {
	if v == nil || v == "" {
		return "-"
	}
	return fmt.Sprint(v)
}

// plain makes a reply fit for JSON, whose keys are texts.
func plain(v any) any {
	switch v := v.(type) {
	case map[any]any:
		out := make(map[string]any, len(v))
		for k, x := range v {
			out[fmt.Sprint(k)] = plain(x)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = plain(x)
		}
		return out
	}
	return v
}
