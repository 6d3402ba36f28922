package fsm

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/redfence/redfence/fsm/reply"
)

// TestTraces plays testdata/traces: each file is the story of one machine, to be
// read from top to bottom. With -rewrite the answers are written anew.
//
//	machine seats=3 [events] [locks]
//	                             a new machine, at time 0 of term 1; what subscribers of keys
//	                             or of locks are told is shown
//	at 100ms [client=a seat=1 db=2]
//	                             the time of the leader's clock; each line that
//	                             follows is a command in an entry of its own
//	entry 200ms                  the same, but all lines are one entry
//	multi 300ms [watch=(k, l)]   the lines are the commands of an EXEC; watch names
//	                             keys that were watched by the directive "watch"
//	watch keys=(k, l)            notes the versions of keys
//	#7 blpop k 0                 a command that may wait, with its ticket; who is
//	                             served later is told below the command that did it
//	settled tickets=(7)          the origin is done with the tickets
//	lose                         the origin is out of touch: its waits end
//	boot                         the node starts anew: another origin
//	leader term=2                a new leader's first entry
//	late stamp=5s of=1           an entry with a stamp of a leader of another term
//	memory max=1000              the leader's memory limit
//	restore                      the machine goes on from its snapshot
//	keys                         what there is: value, token, end of the lease
//
// Words that hold blanks or newlines are quoted as in Go.
func TestTraces(t *testing.T) {
	datadriven.Walk(t, "testdata/traces", func(t *testing.T, path string) {
		tr := &trace{}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			return tr.run(t, d)
		})
		if tr.m == nil {
			return
		}
		if replayed := tr.m.replay(); replayed.Hash() != tr.m.state.Hash() {
			t.Error("the log played again gives another state")
		}
	})
}

type trace struct {
	m         *machine
	watched   map[string]uint64
	memoryMax uint64
	client    string
	locks     bool // what those who watch locks are told is shown
	seat, db  int
}

func (tr *trace) run(t *testing.T, d *datadriven.TestData) string {
	if d.Cmd == "machine" {
		seats := 0
		d.MaybeScanArgs(t, "seats", &seats)
		*tr = trace{m: newMachine(t, uint8(seats)), watched: map[string]uint64{}}
		tr.m.state.KeyEvents, tr.locks = d.HasArg("events"), d.HasArg("locks")
		return ""
	}
	tr.client, tr.seat, tr.db = "", 0, 0
	d.MaybeScanArgs(t, "client", &tr.client)
	d.MaybeScanArgs(t, "seat", &tr.seat)
	d.MaybeScanArgs(t, "db", &tr.db)
	lines := strings.Split(strings.TrimSpace(d.Input), "\n")
	switch d.Cmd {
	case "at":
		tr.moveTo(t, d)
		var out strings.Builder
		for _, line := range lines {
			out.WriteString(tr.apply(t, line, tr.command(t, line)))
		}
		return out.String()
	case "entry":
		tr.moveTo(t, d)
		var commands []Command
		for _, line := range lines {
			commands = append(commands, tr.command(t, line))
		}
		return tr.apply(t, strings.Join(lines, "; "), commands...)
	case "multi":
		tr.moveTo(t, d)
		return tr.multi(t, d, lines)
	}
	return tr.other(t, d)
}

// moveTo sets the leader's clock to a directive's first argument.
func (tr *trace) moveTo(t *testing.T, d *datadriven.TestData) {
	at, err := time.ParseDuration(d.CmdArgs[0].Key)
	if err != nil || at.Microseconds() < tr.m.now {
		d.Fatalf(t, "bad time %q", d.CmdArgs[0].Key)
	}
	tr.m.now = at.Microseconds()
}

func (tr *trace) command(t *testing.T, line string) Command {
	args, ticket := words(t, line), uint64(0)
	if number, ok := strings.CutPrefix(args[0], "#"); ok {
		ticket, _ = strconv.ParseUint(number, 10, 64)
		args = args[1:]
	}
	return Command{Space: uint8(tr.seat), DB: uint8(tr.db), Args: args, Ticket: ticket}
}

// words splits a line at blanks; a word that begins with a quote ends with it.
func words(t *testing.T, line string) []string {
	var out []string
	for line = strings.TrimSpace(line); line != ""; line = strings.TrimSpace(line) {
		if line[0] == '"' {
			quoted, err := strconv.QuotedPrefix(line)
			if err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			word, _ := strconv.Unquote(quoted)
			out, line = append(out, word), line[len(quoted):]
			continue
		}
		word, rest, _ := strings.Cut(line, " ")
		out, line = append(out, word), rest
	}
	return out
}

// apply applies an entry and says what came of it.
func (tr *trace) apply(t *testing.T, line string, commands ...Command) string {
	tr.m.number++
	res := tr.m.apply(&Entry{Kind: Batches, Seed: tr.m.number, MemoryMax: tr.memoryMax, Batches: []Batch{{
		Origin: tr.m.origin, Number: tr.m.number, Commands: commands,
		Clients: []Client{{Name: tr.client, Addr: "192.0.2.1:5000", Library: "trace/1", Node: "n1"}},
	}}})
	var answers []string
	for _, a := range res.Batches[0].Answers {
		text := spelled(a.Value)
		if a.Grant > 0 {
			text += " (granted for " + (time.Duration(a.Grant) * time.Microsecond).String() + ")"
		}
		answers = append(answers, text)
	}
	out := line + " -> " + strings.Join(answers, "; ") + "\n"
	for _, e := range res.Events {
		if e.Kind == LockChanged && !tr.locks {
			continue
		}
		if e.Kind == LockChanged {
			out += strings.TrimRight(fmt.Sprintf("  lock %s %q %s", e.Name, e.Key, strings.TrimSpace(fmt.Sprint(e.Owner, e.Payload, " ", e.Token))), " ") + "\n"
			continue
		}
		out += "  event " + strings.TrimSpace(fmt.Sprintf("%s %q %s", e.Name, e.Key, e.Payload)) + "\n"
	}
	out += wokenText(&res)
	for _, f := range res.Faults {
		t.Errorf("fault: %s", f)
	}
	return out
}

// wokenText says who was answered that waited.
func wokenText(res *Result) string {
	out := ""
	for _, w := range res.Woken {
		out += fmt.Sprintf("  #%d -> %s\n", w.Ticket, spelled(w.Answer.Value))
	}
	return out
}

func (tr *trace) multi(t *testing.T, d *datadriven.TestData, lines []string) string {
	x := &Exec{}
	var watched []string
	d.MaybeScanArgs(t, "watch", &watched)
	for _, key := range watched {
		x.Watched = append(x.Watched, Watched{DB: uint8(tr.db), Key: key, Version: tr.watched[key]})
	}
	for _, line := range lines {
		x.Commands = append(x.Commands, Queued{DB: uint8(tr.db), Args: words(t, line)})
	}
	return tr.apply(t, strings.Join(lines, "; "), Command{Space: uint8(tr.seat), DB: uint8(tr.db), Args: []string{"exec"}, Exec: x})
}

// other runs the directives that need no time.
func (tr *trace) other(t *testing.T, d *datadriven.TestData) string {
	switch d.Cmd {
	case "watch":
		var keys []string
		d.ScanArgs(t, "keys", &keys)
		for _, key := range keys {
			tr.watched[key] = tr.m.state.watchVersion(tr.m.state.db(uint8(tr.seat), uint8(tr.db)), key)
		}
		return ""
	case "leader":
		d.ScanArgs(t, "term", &tr.m.term)
		tr.m.apply(&Entry{Kind: TermStart})
		return ""
	case "late":
		var of uint64
		var stamp string
		d.ScanArgs(t, "of", &of)
		d.ScanArgs(t, "stamp", &stamp)
		at, err := time.ParseDuration(stamp)
		if err != nil {
			d.Fatalf(t, "%v", err)
		}
		tr.m.applyStamped(&Entry{Kind: Batches, Stamp: Stamp{Term: of, Now: at.Microseconds()}}, tr.m.term)
		return fmt.Sprintf("the clock shows %v\n", time.Duration(tr.m.state.Now())*time.Microsecond)
	case "settled":
		var tickets []uint64
		d.ScanArgs(t, "tickets", &tickets)
		tr.m.number++
		res := tr.m.apply(&Entry{Kind: Batches, Batches: []Batch{{Origin: tr.m.origin, Number: tr.m.number, Settled: tickets}}})
		return wokenText(&res)
	case "lose":
		res := tr.m.apply(&Entry{Kind: LoseWaits, Lost: tr.m.origin})
		return wokenText(&res)
	case "boot":
		tr.m.boot++
		res := tr.m.apply(&Entry{Kind: OpenOrigin, Open: Open{Node: "n1", Disk: "d1", Boot: tr.m.boot}})
		tr.m.origin, tr.m.number = res.Origin, 0
		return wokenText(&res)
	case "memory":
		d.ScanArgs(t, "max", &tr.memoryMax)
		return ""
	case "restore":
		tr.m.state = restored(t, tr.m.state)
		return ""
	case "keys":
		return tr.keys()
	}
	d.Fatalf(t, "no such directive: %s", d.Cmd)
	return ""
}

// keys lists what there is.
func (tr *trace) keys() string {
	var out strings.Builder
	s := tr.m.state
	for _, db := range s.databases {
		db.keys.Scan(func(key string, r *record) bool {
			if r.gone(s.clock.now) {
				return true
			}
			if db.space != SharedSpace {
				fmt.Fprintf(&out, "seat %d ", db.space)
			}
			if db.num != 0 {
				fmt.Fprintf(&out, "db %d ", db.num)
			}
			fmt.Fprintf(&out, "%q = %s, token %d", key, held(r), r.token)
			if r.deadline != never {
				fmt.Fprintf(&out, ", ends at %v", time.Duration(r.deadline)*time.Microsecond)
			}
			if r.holder.Name != "" {
				fmt.Fprintf(&out, ", taken by %s", r.holder.Name)
			}
			out.WriteString("\n")
			return true
		})
	}
	s.waiters.all.Scan(func(_ uint64, w *waiter) bool {
		fmt.Fprintf(&out, "#%d waits for %s\n", w.ticket, strings.Join(w.args, " "))
		return true
	})
	if out.Len() == 0 {
		return "nothing\n"
	}
	return out.String()
}

// held is what a record holds.
func held(r *record) string {
	var parts []string
	switch o := r.obj.(type) {
	case *hash:
		o.each(func(name, value string) bool { parts = append(parts, name+": "+value); return true })
	case *list:
		parts = o.texts(0, o.len())
	case *set:
		o.each(func(member string) bool { parts = append(parts, member); return true })
	case *zset:
		for _, m := range o.list(0, o.len()) {
			parts = append(parts, m.member+": "+reply.FormatDouble(m.score))
		}
	case *holdings:
		o.owners.Scan(func(owner string, x *holding) bool {
			parts = append(parts, fmt.Sprintf("%s: token %d until %v", owner, x.token, time.Duration(x.deadline)*time.Microsecond))
			return true
		})
		if o.delayed > 0 {
			parts = append(parts, fmt.Sprintf("delayed until %v", time.Duration(o.delayed)*time.Microsecond))
		}
	default:
		return fmt.Sprintf("%.40q", r.str)
	}
	return kindNames[r.kind] + " [" + strings.Join(parts, ", ") + "]"
}

// spelled is a value as a reader likes it.
func spelled(v reply.Value) string {
	switch v.Kind {
	case reply.Nil, reply.NilArray:
		return "nil"
	case reply.Status:
		return v.Str
	case reply.Error:
		return "error: " + v.Str
	case reply.Int, reply.Bool:
		return strconv.FormatInt(v.Int, 10)
	case reply.Double:
		return reply.FormatDouble(v.Float)
	case reply.Array, reply.Map, reply.Set, reply.Push, reply.Couples:
		var parts []string
		for _, e := range v.Elems {
			parts = append(parts, spelled(e))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	return fmt.Sprintf("%.200q", v.Str)
}
