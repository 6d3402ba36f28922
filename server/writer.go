package server

import (
	"strconv"

	"github.com/redfence/redfence/fsm/reply"
)

// several is the kind of a Value that stands for as many replies as it has
// elements: none for CLIENT REPLY OFF, one a channel for SUBSCRIBE. It never
// leaves this package.
const several reply.Kind = 255

// spelled is the kind of a Value whose Str is a reply as it goes out, for one
// that is in another protocol than what comes behind it. It never leaves this
// package.
const spelled reply.Kind = 254

var noReply = reply.Value{Kind: several}

// writer spells Values in the protocol of one connection and gathers them for
// as few writes as possible. A long reply is written piece by piece, so that it
// is never held twice.
type writer struct {
	proto int
	buf   []byte
	send  func([]byte) error // nil keeps everything in buf
	err   error
}

// flush writes what was gathered, and keeps no more than an idle connection does.
func (w *writer) flush() error {
	err := w.spill()
	if cap(w.buf) > WriteBufferKept {
		w.buf = nil
	}
	return err
}

// spill writes what was gathered, in the middle of more.
func (w *writer) spill() error {
	if w.err == nil && len(w.buf) > 0 && w.send != nil {
		w.err = w.send(w.buf)
	}
	if cap(w.buf) > 2*WriteChunk {
		w.buf = nil
	}
	w.buf = w.buf[:0]
	return w.err
}

// large says that enough is spelled to be written before more is.
func (w *writer) large() bool { return len(w.buf) >= WriteChunk && w.send != nil }

// raw takes bytes that are spelled already.
func (w *writer) raw(b []byte) { w.buf = append(w.buf, b...) }

// value spells v.
func (w *writer) value(v reply.Value) {
	if w.large() {
		w.spill()
	}
	switch v.Kind {
	case reply.Status:
		w.buf = appendStatus(w.buf, v.Str)
	case reply.Error:
		w.buf = appendError(w.buf, v.Str)
	case reply.Int:
		w.buf = appendInt(w.buf, v.Int)
	case reply.Bulk:
		w.bulk(v.Str)
	case reply.Array:
		w.elements('*', len(v.Elems), v.Elems)
	case spelled:
		w.buf = append(w.buf, v.Str...)
	case several:
		for i := range v.Elems {
			w.value(v.Elems[i])
		}
	default:
		w.special(v)
	}
}

// bulk spells a text, a long one in pieces.
func (w *writer) bulk(text string) {
	if len(text) < WriteChunk || w.send == nil {
		w.buf = appendBulk(w.buf, text)
		return
	}
	w.header('$', len(text))
	for len(text) > 0 {
		n := min(len(text), max(0, WriteChunk-len(w.buf)))
		w.buf, text = append(w.buf, text[:n]...), text[n:]
		if w.large() {
			w.spill()
		}
	}
	w.buf = append(w.buf, "\r\n"...)
}

// special spells what RESP2 and RESP3 spell differently.
func (w *writer) special(v reply.Value) {
	if w.proto == 2 {
		w.special2(v)
		return
	}
	switch v.Kind {
	case reply.Nil, reply.NilArray:
		w.buf = append(w.buf, "_\r\n"...)
	case reply.Map:
		w.elements('%', len(v.Elems)/2, v.Elems)
	case reply.Couples:
		w.header('*', len(v.Elems)/2)
		for i := 0; i+1 < len(v.Elems); i += 2 {
			w.elements('*', 2, v.Elems[i:i+2])
		}
	case reply.Set:
		w.elements('~', len(v.Elems), v.Elems)
	case reply.Push:
		w.elements('>', len(v.Elems), v.Elems)
	case reply.Double:
		w.buf = append(append(append(w.buf, ','), reply.FormatDouble(v.Float)...), "\r\n"...)
	case reply.Bool:
		if v.Int != 0 {
			w.buf = append(w.buf, "#t\r\n"...)
		} else {
			w.buf = append(w.buf, "#f\r\n"...)
		}
	case reply.BigNumber:
		w.buf = append(append(append(w.buf, '('), v.Str...), "\r\n"...)
	case reply.Verbatim:
		w.header('=', len(v.Str)+4)
		w.buf = append(append(append(w.buf, "txt:"...), v.Str...), "\r\n"...)
	default:
		w.value(errInternal)
	}
}

func (w *writer) special2(v reply.Value) {
	switch v.Kind {
	case reply.Nil:
		w.buf = appendNull(w.buf)
	case reply.NilArray:
		w.buf = append(w.buf, "*-1\r\n"...)
	case reply.Map, reply.Set, reply.Push, reply.Couples:
		w.elements('*', len(v.Elems), v.Elems)
	case reply.Double:
		w.buf = appendBulk(w.buf, reply.FormatDouble(v.Float))
	case reply.Bool:
		w.buf = appendInt(w.buf, v.Int)
	case reply.BigNumber, reply.Verbatim:
		w.bulk(v.Str)
	default:
		w.value(errInternal)
	}
}

func (w *writer) elements(kind byte, n int, elems []reply.Value) {
	w.header(kind, n)
	for i := range elems {
		w.value(elems[i])
	}
}

func (w *writer) header(kind byte, n int) {
	w.buf = append(w.buf, kind)
	w.buf = strconv.AppendInt(w.buf, int64(n), 10)
	w.buf = append(w.buf, "\r\n"...)
}

// spell is v in a protocol, for those who push it.
func spell(proto int, v reply.Value) []byte {
	w := writer{proto: proto}
	w.value(v)
	return w.buf
}
