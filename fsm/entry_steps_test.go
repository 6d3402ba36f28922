package fsm

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redfence/redfence/fsm/script"
)

// loopScript is cheap or costly as its argument says.
const loopScript = `for i = 1, tonumber(ARGV[1]) do end return 1`

// bigValues makes the values that costly commands work on.
func bigValues(m *machine) {
	const n = 100_000
	lists, sets, zsets, hashes := []string{"rpush", "l"}, []string{"sadd", "s"}, []string{"zadd", "z"}, []string{"hset", "h"}
	keys := []string{"mset"}
	for i := range n {
		text := "m" + strconv.Itoa(i)
		lists, sets = append(lists, text), append(sets, text)
		zsets, hashes = append(zsets, strconv.Itoa(i), text), append(hashes, text, "")
		keys = append(keys, "key:"+text, "")
	}
	for _, args := range [][]string{lists, sets, zsets, hashes, keys, {"set", "big", strings.Repeat("x", ValueMax-2048)}, {"script", "load", loopScript}} {
		m.one(args)
	}
}

// TestEntryIsBounded: P8. However many costly commands come together, an entry
// ends soon; what it has no time for is put off and changed nothing; what is small
// and sent by others in the same entry is executed.
func TestEntryIsBounded(t *testing.T) {
	m := newMachine(t, 0)
	bigValues(m)
	for _, words := range []string{
		"lrem l 0 none", "linsert l before m50000 x", "lpos l none", "lrange l 0 -1", "lset l 50000 x", "ltrim l 0 -1000",
		"sinter s s", "sunionstore s2 s", "smembers s", "srandmember s 1000", "spop s 1000",
		"zunionstore z2 1 z", "zrange z 0 -1", "zcount z 0 50000", "zremrangebyrank z 0 100",
		"hgetall h", "hscan h 0 match *a*b", "keys nothing", "scan  count 1000000 type hash", "randomkey", "dbsize",
		"append big x", "setrange big 0 x", "getrange big 0 -1", "get big",
		"evalsha " + script.SHA1(loopScript) + " 0 200000",
	} {
		t.Run(strings.ReplaceAll(words, " ", "_"), func(t *testing.T) { checkEntry(t, m, strings.Split(words, " ")) })
	}
}

func checkEntry(t *testing.T, m *machine, args []string) {
	cmd := Command{Args: args}
	n := BatchBytes / cmd.Size()
	m.number++
	b := Batch{Origin: m.origin, Number: m.number, Acked: m.number - 1, Clients: []Client{{Name: "costly"}, {Name: "small"}}}
	for range n {
		b.Commands = append(b.Commands, cmd)
	}
	b.Commands = append(b.Commands, Command{Client: 1, Args: []string{"set", "small", "x"}})
	began := time.Now()
	res := m.apply(&Entry{Kind: Batches, Batches: []Batch{b}})
	t.Logf("%d commands: %v, %d steps", n, time.Since(began), res.Steps)
	if most := int64(EntryStepsMax + KeysStepsMax + n*SmallSteps); res.Steps > most {
		t.Errorf("%d steps, must be at most %d", res.Steps, most)
	}
	answers := res.Batches[0].Answers
	if got := spelled(answers[n].Value); got != "OK" {
		t.Errorf("the small command: %s", got)
	}
	first := 0
	for first < n && !PutOff(&answers[first]) {
		first++
	}
	if first == 0 {
		t.Error("the first command was put off")
	}
	for i := first; i < n; i++ {
		if !PutOff(&answers[i]) {
			t.Fatalf("command %d answers %s, though %d was put off", i, spelled(answers[i].Value), first)
		}
	}
}

// TestMultiKeepsNoHugePast: P8. What a MULTI replaces is kept until it ends, so
// that many large values in turn are too much.
func TestMultiKeepsNoHugePast(t *testing.T) {
	m := newMachine(t, 0)
	m.one([]string{"set", "big", strings.Repeat("x", ValueMax-2048)})
	exec := &Exec{}
	for range 1000 {
		exec.Commands = append(exec.Commands, Queued{Args: []string{"append", "big", "x"}})
	}
	m.number++
	b := Batch{Origin: m.origin, Number: m.number, Clients: []Client{{}}, Commands: []Command{{Args: []string{"exec"}, Exec: exec}}}
	res := m.apply(&Entry{Kind: Batches, Batches: []Batch{b}})
	if got := spelled(res.Batches[0].Answers[0].Value); got != "error: "+errTooFar.Str {
		t.Errorf("%.100s", got)
	}
	if got := m.one([]string{"strlen", "big"}); got != strconv.Itoa(ValueMax-2048) {
		t.Errorf("its length is %s after a MULTI that was undone", got)
	}
}

// TestEntryRepliesAreBounded: P8. The replies of one entry are in memory together,
// so that many large ones take several entries; small ones of others go on.
func TestEntryRepliesAreBounded(t *testing.T) {
	m := newMachine(t, 0)
	m.one([]string{"set", "large", strings.Repeat("x", 1<<20)})
	m.number++
	b := Batch{Origin: m.origin, Number: m.number, Acked: m.number - 1, Clients: []Client{{Name: "greedy"}, {Name: "small"}}}
	for range 100 {
		b.Commands = append(b.Commands, Command{Args: []string{"get", "large"}})
	}
	b.Commands = append(b.Commands, Command{Client: 1, Args: []string{"set", "small", "x"}})
	answers := m.apply(&Entry{Kind: Batches, Batches: []Batch{b}}).Batches[0].Answers
	size, done := 0, 0
	for i := range answers {
		size += answers[i].Value.Size()
		if i < 100 && !PutOff(&answers[i]) {
			done++
		}
	}
	if most := EntryRepliesMax + 1<<20 + 100*SmallReply; size > most || done < EntryRepliesMax>>20 {
		t.Errorf("%d answers of 1 MiB take %d bytes, must be at most %d", done, size, most)
	}
	if got := spelled(answers[100].Value); got != "OK" {
		t.Errorf("the small command: %s", got)
	}
}
