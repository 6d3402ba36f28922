package server

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redfence/redfence/fsm"
)

// chunks is a connection whose bytes come in pieces of the given size.
type chunks struct {
	net.Conn
	rest []byte
	size int
}

func (c *chunks) Read(b []byte) (int, error) {
	if len(c.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(b, c.rest[:min(c.size, len(c.rest))])
	c.rest = c.rest[n:]
	return n, nil
}

// requestsOf reads all that a link makes of some bytes.
func requestsOf(input []byte, size int) (reqs []request, err error) {
	l := link{
		conn: &chunks{rest: input, size: size}, shared: new(atomic.Int64), input: new(atomic.Int64),
		idle: func() time.Duration { return 0 }, stop: func() bool { return false },
		frame: framer{authenticated: true},
	}
	defer l.close()
	for {
		more, err := l.next(nil)
		if err != nil {
			return reqs, err
		}
		reqs = append(reqs, more...)
	}
}

// repliesTo says how many replies requests have, and false if that can't be
// said without executing them.
func repliesTo(reqs []request, err error) (int, bool) {
	n := 0
	for _, r := range reqs {
		if r.refusal != "" {
			n++
			continue
		}
		if attack(r.args[0]) {
			return n, true
		}
		spec, _ := fsm.Resolve(r.args)
		if spec != nil && (strings.HasPrefix(spec.Name, "client|reply") || strings.HasPrefix(spec.Name, "client|kill") ||
			strings.HasSuffix(spec.Name, "subscribe") || spec.Group == "transactions") {
			return 0, false
		}
		n++
		if spec != nil && spec.Name == "quit" {
			return n, true
		}
	}
	var wrong protocolError
	if errors.As(err, &wrong) {
		n++
	}
	return n, true
}

// FuzzRESP sends any bytes: they must never end in a panic or a hang, mean the
// same whatever pieces they come in, and have exactly one reply a command
// (promises 8 and 9).
func FuzzRESP(f *testing.F) {
	for _, seed := range []string{
		"PING\r\n", "*1\r\n$4\r\nPING\r\n", "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$1\r\nv\r\n*2\r\n$3\r\nGET\r\n$1\r\nk\r\n",
		"*0\r\n*-1\r\n\r\nPING\r\n", "HELLO 3\r\nGET k\r\nCONFIG GET *\r\nINFO\r\n", "SUBSCRIBE a\r\nPUBLISH a b\r\nRESET\r\n",
		"MULTI\r\nSET k v\r\nSELECT 3\r\nEXEC\r\n", "WATCH k\r\nMULTI\r\nEXEC\r\n", "*abc\r\n", "*1\r\n$-1\r\n", "*1\r\n$99999999\r\nx",
		"EVAL \"return {1,{2,'x'},false}\" 0\r\n", "SCAN 0\r\nSCAN 77\r\n", "CLIENT REPLY SKIP\r\nPING\r\nPING\r\n",
		"COMMAND DOCS\r\nCOMMAND GETKEYS EVAL x 1 k\r\n", "\x16\x03\x01\x00", "POST / HTTP/1.1\r\nHost: x\r\n\r\n", "set 'a\\'b' \"\\x41\"\r\n",
		"*1048577\r\n$1\r\na\r\n", "QUIT\r\nPING\r\n", "CLIENT LIST\r\nCLIENT KILL ID 1\r\n", "CONFIG SET timeout 0\r\nSLOWLOG GET\r\n",
	} {
		f.Add([]byte(seed), uint8(3))
	}
	f.Fuzz(func(t *testing.T, input []byte, piece uint8) {
		size := int(piece)%64 + 1
		whole, wholeErr := requestsOf(input, len(input)+1)
		pieces, piecesErr := requestsOf(input, size)
		if len(whole) != len(pieces) || (wholeErr == io.EOF) != (piecesErr == io.EOF) {
			t.Fatalf("whole: %d commands, %v; in pieces of %d: %d commands, %v", len(whole), wholeErr, size, len(pieces), piecesErr)
		}
		for i := range whole {
			if strings.Join(whole[i].args, "\x00|") != strings.Join(pieces[i].args, "\x00|") {
				t.Fatalf("command %d is %q whole and %q in pieces", i, whole[i].args, pieces[i].args)
			}
		}
		count, known := repliesTo(whole, wholeErr)
		answered := converse(t, input, size)
		if known && answered != count {
			t.Fatalf("%d replies to %d commands, %v", answered, count, wholeErr)
		}
	})
}

// converse plays input to a session and counts its replies, each of which must
// be whole.
func converse(t *testing.T, input []byte, size int) int {
	fake := newFake(t)
	s, err := New(fake, Config{NodeID: "n1"})
	if err != nil {
		t.Fatal(err)
	}
	fake.server = s
	near, far := net.Pipe()
	answers := make(chan []byte)
	go func() {
		b, _ := io.ReadAll(near)
		answers <- b
	}()
	conn := &sayer{chunks: chunks{Conn: far, rest: input, size: size}}
	if !s.start(conn, fsm.SharedSpace) {
		t.Fatal("no session")
	}
	var said []byte
	select {
	case said = <-answers:
	case <-time.After(20 * time.Second):
		t.Fatal("the session hangs")
	}
	s.done.Wait()
	n := 0
	for br := bufio.NewReader(bytes.NewReader(said)); ; n++ {
		if _, err := readReply(br); err == io.EOF {
			return n
		} else if err != nil {
			t.Fatalf("half a reply at the end of %q", said)
		}
	}
}

// sayer reads from its chunks and writes to the pipe.
type sayer struct{ chunks }

func (s *sayer) Read(b []byte) (int, error) { return s.chunks.Read(b) }
