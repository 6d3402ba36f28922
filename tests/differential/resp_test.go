package differential

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"strconv"
	"testing"
	"time"
)

// answer is one reply: its exact bytes and what they say.
type answer struct {
	raw   string
	kind  byte // the first byte
	text  string
	elems []answer
}

func (a *answer) isError() bool { return a.kind == '-' }

// number is the integer that an answer is.
func (a *answer) number() (int64, bool) {
	if a.kind != ':' {
		return 0, false
	}
	n, err := strconv.ParseInt(a.text, 10, 64)
	return n, err == nil
}

// conn is a connection to a server of either kind.
type conn struct {
	c net.Conn
	r *bufio.Reader
}

func dial(network, addr string) (*conn, error) {
	c, err := net.DialTimeout(network, addr, 5*time.Second)
	if err != nil {
		return nil, err
	}
	return &conn{c, bufio.NewReaderSize(c, 1<<16)}, nil
}

// replyMax is how long a reply may take.
const replyMax = 20 * time.Second

// send sends commands at once.
func (c *conn) send(commands ...[]string) error {
	var b bytes.Buffer
	for _, args := range commands {
		fmt.Fprintf(&b, "*%d\r\n", len(args))
		for _, a := range args {
			fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(a), a)
		}
	}
	c.c.SetDeadline(time.Now().Add(replyMax))
	_, err := c.c.Write(b.Bytes())
	return err
}

// pipeline sends commands at once and reads one answer for each.
func (c *conn) pipeline(commands [][]string) ([]answer, error) {
	if err := c.send(commands...); err != nil {
		return nil, err
	}
	answers := make([]answer, len(commands))
	for i := range answers {
		a, err := readAnswer(c.r)
		if err != nil {
			return nil, fmt.Errorf("reply %d, to %q: %w", i, commands[i], err)
		}
		answers[i] = a
	}
	return answers, nil
}

// clear ends a MULTI and removes all keys.
func (c *conn) clear(t *testing.T) {
	t.Helper()
	if _, err := c.pipeline([][]string{{"reset"}, {"flushall"}}); err != nil {
		t.Fatal(err)
	}
}

// until reads answers up to the one that stop says is the last, or to the end
// of the connection.
func (c *conn) until(stop func(answer) bool) ([]answer, error) {
	var answers []answer
	for {
		a, err := readAnswer(c.r)
		if err == io.EOF {
			return answers, nil
		}
		if err != nil {
			return answers, err
		}
		answers = append(answers, a)
		if stop(a) {
			return answers, nil
		}
	}
}

// readAnswer reads one reply of RESP2 or RESP3.
func readAnswer(r *bufio.Reader) (answer, error) {
	line, err := r.ReadString('\n')
	if err != nil {
		return answer{}, err
	}
	if len(line) < 3 || line[len(line)-2] != '\r' {
		return answer{}, fmt.Errorf("bad line %q", line)
	}
	a := answer{raw: line, kind: line[0], text: line[1 : len(line)-2]}
	switch a.kind {
	case '+', '-', ':', '_', ',', '#', '(':
		return a, nil
	}
	n, err := strconv.Atoi(a.text)
	if err != nil || n < -1 {
		return answer{}, fmt.Errorf("bad length in %q", line)
	}
	switch a.kind {
	case '$', '=':
		if n < 0 {
			return a, nil
		}
		body := make([]byte, n+2)
		if _, err := io.ReadFull(r, body); err != nil {
			return answer{}, err
		}
		a.raw, a.text = a.raw+string(body), string(body[:n])
		return a, nil
	case '*', '~', '>', '%':
		if a.kind == '%' {
			n *= 2
		}
		for range n {
			e, err := readAnswer(r)
			if err != nil {
				return answer{}, err
			}
			a.raw += e.raw
			a.elems = append(a.elems, e)
		}
		return a, nil
	}
	return answer{}, fmt.Errorf("no reply begins like %q", line)
}
