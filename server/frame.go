package server

import (
	"bytes"

	"github.com/redfence/redfence/fsm"
)

// framer finds where commands end in the bytes that a client sends, before
// anything is parsed, and refuses what Redis refuses. It remembers how far it
// has looked, so that a command that arrives byte by byte is not looked at
// again and again, and it never reserves what was only announced.
//
// A command over a limit of ours that the protocol allows is read past: its
// bytes are dropped as they come and it is answered with an error, so that the
// connection stays in step.
type framer struct {
	authenticated bool

	pos     int    // bytes of the present command that were looked at
	started bool   // the header of a multibulk was read
	left    int    // its arguments still to come
	need    int    // bytes of the present argument, with its line end, still to come
	count   int    // arguments announced
	size    int    // bytes of its arguments so far
	refusal string // why it is read past, "" if it isn't
}

// protocolError ends a connection. Its text is what the client is told.
type protocolError string

func (e protocolError) Error() string { return "Protocol error: " + string(e) }

// frame is one command as the framer found it.
type frame struct {
	length  int    // its bytes
	args    int    // how many arguments it has, 0 if it is inline
	inline  bool   // typed by hand
	empty   bool   // *0 or *-1, which nobody answers
	refusal string // the error that answers it, if it was read past
}

// next looks for the end of the command with which buf begins. done is false
// while it is incomplete: then the next call must come with the same bytes, and
// more behind them, except for those that dropped has given free.
func (f *framer) next(buf []byte) (fr frame, done bool, err error) {
	if !f.started {
		if len(buf) == 0 {
			return frame{}, false, nil
		}
		if buf[0] != '*' {
			return f.inline(buf)
		}
		ok, err := f.header(buf)
		if !ok {
			return frame{}, false, err
		}
	}
	for f.left > 0 {
		if f.need == 0 {
			ok, err := f.bulkLength(buf)
			if !ok {
				return frame{}, false, err
			}
		}
		ok, err := f.bulk(buf)
		if !ok {
			return frame{}, false, err
		}
		f.left--
	}
	fr = frame{length: f.pos, args: f.count, refusal: f.refusal, empty: f.count == 0}
	f.reset()
	return fr, true, nil
}

// dropped says how many bytes at the front of the buffer are not needed any
// more because their command is read past. The caller must drop them.
func (f *framer) dropped() int {
	if f.refusal == "" {
		return 0
	}
	n := f.pos
	f.pos = 0
	return n
}

// whole is how many bytes the present argument ends at, as far as it was announced.
func (f *framer) whole() int { return f.pos + f.need }

func (f *framer) reset() { *f = framer{authenticated: f.authenticated} }

// inline ends at the first line end.
func (f *framer) inline(buf []byte) (frame, bool, error) {
	if len(buf) >= 2 && buf[0] == 0x16 && buf[1] == 0x03 {
		return frame{}, false, protocolError("this port does not speak TLS")
	}
	i := bytes.IndexByte(buf[f.pos:], '\n')
	if i < 0 {
		f.pos = len(buf)
		if len(buf) > InlineMax {
			return frame{}, false, protocolError("too big inline request")
		}
		return frame{}, false, nil
	}
	fr := frame{length: f.pos + i + 1, inline: true}
	f.reset()
	return fr, true, nil
}

// header reads the number of arguments.
func (f *framer) header(buf []byte) (bool, error) {
	line, ok, err := f.line(buf, "too big mbulk count string", "invalid multibulk length")
	if !ok {
		return false, err
	}
	n, ok := parseLength(line[1:])
	if !ok || n > 1<<31-1 {
		return false, protocolError("invalid multibulk length")
	}
	if n > UnauthArgsMax && !f.authenticated {
		return false, protocolError("unauthenticated multibulk length")
	}
	f.count = max(0, int(n))
	f.started, f.left = true, f.count
	if n > fsm.ArgsMax {
		f.refusal = refusedArgs
	}
	return true, nil
}

// bulkLength reads the length of the next argument.
func (f *framer) bulkLength(buf []byte) (bool, error) {
	if f.pos < len(buf) && buf[f.pos] != '$' {
		return false, protocolError("expected '$', got '" + string(printable(buf[f.pos])) + "'")
	}
	line, ok, err := f.line(buf, "too big bulk count string", "invalid bulk length")
	if !ok {
		return false, err
	}
	n, ok := parseLength(line[1:])
	if !ok || n < 0 || n > BulkAnnouncedMax {
		return false, protocolError("invalid bulk length")
	}
	f.size += int(n)
	if !f.authenticated && (n > UnauthBulkMax || f.size > UnauthBytesMax) {
		return false, protocolError("unauthenticated bulk length")
	}
	f.need = int(n) + 2
	if f.size > fsm.CommandMax && f.refusal == "" {
		f.refusal = refusedBytes
	}
	return true, nil
}

// bulk passes over the bytes of an argument.
func (f *framer) bulk(buf []byte) (bool, error) {
	have := len(buf) - f.pos
	if have < f.need {
		if f.refusal != "" {
			// All but the line end can go; that is looked at when it is whole.
			n := min(have, f.need-2)
			f.pos, f.need = f.pos+n, f.need-n
		}
		return false, nil
	}
	end := f.pos + f.need
	if buf[end-2] != '\r' || buf[end-1] != '\n' {
		return false, protocolError("invalid bulk length")
	}
	f.pos, f.need = end, 0
	return true, nil
}

// line finds a line that ends in \r\n and passes over it.
func (f *framer) line(buf []byte, tooLong, malformed string) ([]byte, bool, error) {
	rest := buf[f.pos:]
	i := bytes.IndexByte(rest[:min(len(rest), InlineMax+2)], '\n')
	if i < 0 {
		if len(rest) > InlineMax {
			return nil, false, protocolError(tooLong)
		}
		return nil, false, nil
	}
	if i < 2 || rest[i-1] != '\r' {
		return nil, false, protocolError(malformed)
	}
	f.pos += i + 1
	return rest[:i-1], true, nil
}

// parseLength reads a number as Redis's string2ll does: no sign but a minus, no
// leading zero, no space.
func parseLength(b []byte) (int64, bool) {
	negative := len(b) > 1 && b[0] == '-'
	if negative {
		b = b[1:]
	}
	if len(b) == 0 || len(b) > 18 || b[0] == '0' && (len(b) > 1 || negative) {
		return 0, false
	}
	var n int64
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	if negative {
		n = -n
	}
	return n, true
}

// printable keeps a byte from breaking the line of an error.
func printable(b byte) []byte {
	if b == '\r' || b == '\n' {
		b = ' '
	}
	return []byte{b}
}
