package differential

import (
	"bufio"
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/redfence/redfence/fsm"
	"github.com/redfence/redfence/fsm/reply"
)

var cursor = regexp.MustCompile(`^[+-]?\d*$`)

// machine is the state machine alone as a server: commands of its own rows, RESP2.
type machine struct {
	s      *fsm.State
	start  time.Time
	index  uint64
	origin uint64
	number uint64
}

func startMachine(t *testing.T) *machine {
	m := &machine{s: fsm.New(), start: time.Now()}
	m.apply(t, &fsm.Entry{Kind: fsm.Birth, Birth: fsm.BirthRecord{Cluster: "c", Seats: 3}})
	m.s.SetMembership(fsm.Membership{Index: 1, Voters: []string{"n1"}})
	m.apply(t, &fsm.Entry{Kind: fsm.RecordMember, Member: fsm.Member{Node: "n1", Disk: "d"}})
	m.origin = m.apply(t, &fsm.Entry{Kind: fsm.OpenOrigin, Open: fsm.Open{Node: "n1", Disk: "d", Boot: 1}}).Origin
	return m
}

func (m *machine) apply(t *testing.T, e *fsm.Entry) fsm.Result {
	m.index++
	e.Stamp = fsm.Stamp{Term: 1, Now: int64(time.Since(m.start) / time.Microsecond), Wall: time.Now().UnixMicro()}
	res, err := m.s.Apply(m.index, 1, fsm.AppendEntry(nil, e))
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Faults) > 0 {
		t.Errorf("faults: %q", res.Faults)
	}
	return res
}

func (m *machine) pipeline(t *testing.T, commands [][]string) []answer {
	answers := make([]answer, len(commands))
	batch := fsm.Batch{Origin: m.origin, Clients: []fsm.Client{{Addr: "x"}}}
	var places []int
	for i, args := range commands {
		spec, bad := fsm.Resolve(args)
		if spec == nil {
			answers[i] = spell(t, bad)
			continue
		}
		args = append([]string{}, args...)
		args[0] = strings.ToLower(args[0])
		if args[0] == "scan" {
			if !cursor.MatchString(args[1]) || len(args[1]) > 19 {
				answers[i] = spell(t, reply.Err("ERR invalid cursor"))
				continue
			}
			if args[1] = strings.Trim(args[1], "0"); args[1] != "" {
				args[1] = "k\xff\xff\xff"
			}
		}
		batch.Commands = append(batch.Commands, fsm.Command{Args: args})
		places = append(places, i)
	}
	m.number++
	batch.Number = m.number
	res := m.apply(t, &fsm.Entry{Kind: fsm.Batches, Seed: m.number, Batches: []fsm.Batch{batch}})
	for j, a := range res.Batches[0].Answers {
		if strings.EqualFold(commands[places[j]][0], "scan") && len(a.Value.Elems) == 2 && a.Value.Elems[0].Str == "" {
			a.Value.Elems[0].Str = "0"
		}
		answers[places[j]] = spell(t, a.Value)
	}
	return answers
}

// spell writes a value in RESP2 and reads it back as an answer.
func spell(t *testing.T, v reply.Value) answer {
	var b bytes.Buffer
	write(&b, v)
	a, err := readAnswer(bufio.NewReader(&b))
	if err != nil {
		t.Fatalf("%+v: %v", v, err)
	}
	return a
}

func write(b *bytes.Buffer, v reply.Value) {
	switch v.Kind {
	case reply.Nil:
		b.WriteString("$-1\r\n")
	case reply.NilArray:
		b.WriteString("*-1\r\n")
	case reply.Status:
		b.WriteString("+" + v.Str + "\r\n")
	case reply.Error:
		b.WriteString("-" + strings.NewReplacer("\r", " ", "\n", " ").Replace(strings.Trim(v.Str, "\r\n")) + "\r\n")
	case reply.Int, reply.Bool:
		fmt.Fprintf(b, ":%d\r\n", v.Int)
	case reply.Double:
		s := reply.FormatDouble(v.Float)
		fmt.Fprintf(b, "$%d\r\n%s\r\n", len(s), s)
	case reply.Bulk, reply.Verbatim, reply.BigNumber:
		fmt.Fprintf(b, "$%d\r\n%s\r\n", len(v.Str), v.Str)
	default:
		fmt.Fprintf(b, "*%d\r\n", len(v.Elems))
		for _, e := range v.Elems {
			write(b, e)
		}
	}
}
