package replica

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"errors"
	"io"
	"net"
	"reflect"
	"runtime"
	"testing"
	"time"

	"github.com/redfence/redfence/fsm"
	"github.com/redfence/redfence/fsm/reply"
)

// greetWith greets whoever is at addr and returns its verdict.
func greetWith(t *testing.T, addr string, g greeting) greeting {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(5 * time.Second))
	g.Arch = runtime.GOARCH
	if _, err := conn.Write(appendGreeting(nil, &g)); err != nil {
		t.Fatal(err)
	}
	answer, _, err := readGreeting(conn)
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

// Bytes between nodes of different versions must not change unnoticed.
func TestGoldenGreeting(t *testing.T) {
	g := greeting{Code: kindLink, Cluster: "c1", Node: "n1", Disk: "d1", Arch: "amd64", Target: "n2"}
	const want = "52464e4303020012" + "026331" + "026e31" + "026431" + "05616d643634" + "026e32"
	got := appendGreeting(nil, &g)
	if hex.EncodeToString(got) != want {
		t.Fatalf("got %x, want %s", got, want)
	}
	back, version, err := readGreeting(bytes.NewReader(got))
	if err != nil || version != wireVersion || back != g {
		t.Fatalf("%+v, version %d, %v", back, version, err)
	}
}

func TestGoldenFrames(t *testing.T) {
	result := fsm.BatchResult{Origin: 7, Number: 300, Status: fsm.Done, Answers: []fsm.Answer{
		{Value: reply.OK, Grant: 5_000_000}, {Value: reply.Integer(-1), Cost: 9},
	}}
	events := eventsPush{prev: 3, index: 9, keyEvents: true, events: []fsm.Event{
		{Kind: fsm.Published, Space: 1, DB: 2, Key: "ch", Payload: "hi"},
		{Kind: fsm.KeyChanged, Class: 'x', Name: "expired", Key: "k"},
	}}
	locks := eventsPush{prev: 3, index: 9, events: []fsm.Event{
		{Kind: fsm.LockChanged, DB: 1, Name: "break", Key: "k", Payload: "who", Owner: "o", Token: 300, Node: "n1", Place: fsm.Place{Index: 9, Number: 1}},
	}}
	read := readRequest{id: 5, client: fsm.Client{Addr: "a"}, cmds: []fsm.Command{{DB: 1, Args: []string{"get", "k"}}}}
	woken := fsm.Woken{Origin: 7, Ticket: 9, Answer: fsm.Answer{Value: reply.Integer(1)}}
	answer := readResult{id: 5, ok: true, answers: []fsm.Answer{{Value: reply.Null}}}
	cases := []struct {
		name string
		typ  byte
		fill func([]byte) []byte
		want string
		back func([]byte) (any, error)
		same any
	}{
		{"result", frameResult, func(b []byte) []byte { return appendResult(b, &result) },
			"0000001213" + "07" + "ac02" + "00" + "02" + "80ade204" + "00" + "02024f4b" + "00" + "12" + "0401",
			func(b []byte) (any, error) { return decodeResult(b) }, result},
		{"lost", frameLost, func(b []byte) []byte { return appendLost(b, lostBatch{7, 8, true}) },
			"0000000314" + "07" + "08" + "01",
			func(b []byte) (any, error) { return decodeLost(b) }, lostBatch{7, 8, true}},
		{"events", frameEvents, func(b []byte) []byte { return appendEvents(b, &events) },
			"0000001e16" + "03" + "09" + "01" + "02" + "01010200" + "00" + "026368" + "026869" + "02000078" + "0765787069726564" + "016b" + "00",
			func(b []byte) (any, error) { return decodeEvents(b) }, events},
		{"locks", frameEvents, func(b []byte) []byte { return appendEvents(b, &locks) },
			"0000001b16" + "03" + "09" + "00" + "01" + "05000100" + "05627265616b" + "016b" + "0377686f" + "016f" + "026e31" + "ac02",
			func(b []byte) (any, error) { return decodeEvents(b) }, locks},
		{"read", frameRead, func(b []byte) []byte { return appendRead(b, &read) },
			"0000001803" + "05" + "0000000000" + "01" + "0001610000" + "01" + "000100" + "00" + "02" + "03676574" + "016b",
			func(b []byte) (any, error) { return decodeRead(b) }, &read},
		{"woken", frameWoken, func(b []byte) []byte { return appendWoken(b, &woken) },
			"0000000717" + "07" + "09" + "01" + "00" + "00" + "0402",
			func(b []byte) (any, error) { return decodeWoken(b) }, woken},
		{"answer", frameAnswer, func(b []byte) []byte { return appendReadResult(b, &answer) },
			"0000000615" + "05" + "01" + "01" + "00" + "00" + "00",
			func(b []byte) (any, error) { return decodeReadResult(b) }, answer},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := appendFrame(nil, c.typ, c.fill)
			if hex.EncodeToString(got) != c.want {
				t.Errorf("got  %x\nwant %s", got, c.want)
			}
			typ, body, err := readFrame(bufio.NewReader(bytes.NewReader(got)), frameMax)
			if err != nil || typ != c.typ {
				t.Fatalf("type %d, %v", typ, err)
			}
			back, err := c.back(body)
			if err != nil || !reflect.DeepEqual(back, c.same) {
				t.Fatalf("got %+v (%v), want %+v", back, err, c.same)
			}
			for n := range body { // no prefix is taken for the whole
				if _, err := c.back(body[:n]); err == nil {
					t.Fatalf("%d of %d bytes were enough", n, len(body))
				}
			}
		})
	}
}

func TestFrameLimit(t *testing.T) {
	r := bufio.NewReader(bytes.NewReader([]byte{0, 0, 0, 11, 1}))
	if _, _, err := readFrame(r, 10); !errors.Is(err, errFrameTooLong) {
		t.Fatalf("got %v", err)
	}
	// An announced length takes no memory before its bytes have come.
	before := totalAlloc()
	r = bufio.NewReader(bytes.NewReader([]byte{0x0f, 0xff, 0xff, 0xff, 1, 2, 3}))
	if _, _, err := readFrame(r, frameMax); !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		t.Fatalf("got %v", err)
	}
	if took := totalAlloc() - before; took > 1<<20 {
		t.Fatalf("%d bytes were taken for 2", took)
	}
}

func totalAlloc() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

func FuzzGreeting(f *testing.F) {
	f.Add(appendGreeting(nil, &greeting{Code: 1, Cluster: "c", Node: "n"}))
	f.Fuzz(func(t *testing.T, b []byte) { readGreeting(bytes.NewReader(b)) })
}

func FuzzLinkFrames(f *testing.F) {
	f.Add(appendResult(nil, &fsm.BatchResult{Answers: []fsm.Answer{{Value: reply.OK}}}))
	f.Add(appendEvents(nil, &eventsPush{events: []fsm.Event{{Key: "k"}}}))
	f.Fuzz(func(t *testing.T, b []byte) {
		decodeResult(b)
		decodeLost(b)
		decodeRead(b)
		decodeReadResult(b)
		decodeEvents(b)
	})
}

// Hostile bytes on the raft port neither stop nor fill a node.
func TestHostileBytesOnThePort(t *testing.T) {
	n := start(t, testConfig(t, "n1", t.TempDir()))
	ready(t, n)
	id := n.identity.get()
	whole := appendGreeting(nil, &greeting{Code: kindRaft, Cluster: id.Cluster, Node: id.Node, Disk: id.Disk, Arch: runtime.GOARCH, Target: id.Node})
	link := appendGreeting(nil, &greeting{Code: kindLink, Cluster: id.Cluster, Node: id.Node, Disk: id.Disk, Arch: runtime.GOARCH, Target: id.Node})
	control := appendGreeting(nil, &greeting{Code: kindControl, Arch: runtime.GOARCH})
	big := append([]byte{0, 0xc6, 0xff, 0xff, 0xff, 0xff}, bytes.Repeat([]byte{0x93}, 1000)...)
	for _, bytes := range [][]byte{
		nil, []byte("*1\r\n$4\r\nPING\r\n"), []byte("GET / HTTP/1.0\r\n\r\n"), []byte("RFNC\x01\x01\xff\xff"),
		append(whole[:len(whole):len(whole)], big...),
		append(whole[:len(whole):len(whole)], []byte{2, 0xdf, 0xff, 0xff, 0xff, 0xff}...),
		append(link[:len(link):len(link)], []byte{0x0f, 0xff, 0xff, 0xff, frameSubmit, 1, 2}...),
		append(link[:len(link):len(link)], []byte{0, 0, 0, 2, frameSubmit, 0xff, 0xff}...),
		append(link[:len(link):len(link)], []byte{0, 0, 0, 2, frameInfo, '{', '}'}...),
		append(control[:len(control):len(control)], []byte{0, 0, 0, 2, 1, '{', '}'}...),
	} {
		conn, err := net.Dial("tcp", n.RaftAddr())
		if err != nil {
			t.Fatal(err)
		}
		conn.SetDeadline(time.Now().Add(300 * time.Millisecond))
		conn.Write(bytes)
		io.Copy(io.Discard, conn)
		conn.Close()
	}
	wantReply(t, do(t, n, "incr", "c"), reply.Integer(1))
}
