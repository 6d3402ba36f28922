package server

import (
	"unsafe"

	"github.com/tidwall/redcon"
)

// This file is the only one that knows redcon: its parser for commands and its
// spelling of RESP's elements. Its server loop is not used, because it takes a
// connection's bytes 4 KiB at a time (a longer pipeline would not be submitted
// whole), reads an unfinished command again from its start with every packet,
// keeps the largest buffer that a connection ever needed, and turns in a tight
// loop when the process has no file descriptor left.

// parseCommand reads the one command that raw holds, framed by the framer. The
// strings share raw's memory: raw must never change afterwards. It answers
// false for bytes that the framer should not have let through.
func parseCommand(raw []byte, scratch [][]byte) (args []string, rest [][]byte, ok bool) {
	complete, parsed, _, left, err := redcon.ReadNextCommand(raw, scratch)
	if err != nil || !complete || len(left) > 0 {
		return nil, scratch, false
	}
	args = make([]string, len(parsed))
	for i, b := range parsed {
		args[i] = unsafe.String(unsafe.SliceData(b), len(b))
	}
	return args, parsed[:0], true
}

func appendStatus(b []byte, s string) []byte { return redcon.AppendString(b, s) }
func appendBulk(b []byte, s string) []byte   { return redcon.AppendBulkString(b, s) }
func appendInt(b []byte, n int64) []byte     { return redcon.AppendInt(b, n) }
func appendNull(b []byte) []byte             { return redcon.AppendNull(b) }
func appendError(b []byte, s string) []byte  { return redcon.AppendError(b, s) }
