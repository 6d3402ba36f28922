package server

// splitInline splits a line typed by hand into arguments as Redis does: by
// spaces, with "..." that knows \n, \r, \t, \b, \a, \xHH and \" and '...' that
// knows \'. It answers false for unbalanced quotes.
func splitInline(line []byte) ([]string, bool) {
	var args []string
	for i := 0; ; {
		for i < len(line) && isSpace(line[i]) {
			i++
		}
		if i == len(line) {
			return args, true
		}
		arg, next, ok := splitOne(line, i)
		if !ok {
			return nil, false
		}
		args, i = append(args, string(arg)), next
	}
}

// splitOne reads the argument that begins at i.
func splitOne(line []byte, i int) (arg []byte, next int, ok bool) {
	var quote byte
	for ; i < len(line); i++ {
		c := line[i]
		switch {
		case quote == 0 && (isSpace(c) || c == 0):
			return arg, i + 1, true
		case quote == 0 && (c == '"' || c == '\''):
			quote = c
		case quote == 0:
			arg = append(arg, c)
		case c == quote:
			// A closing quote must be followed by a space or nothing at all.
			if i+1 < len(line) && !isSpace(line[i+1]) {
				return nil, 0, false
			}
			return arg, i + 1, true
		case quote == '"' && c == '\\' && i+3 < len(line) && line[i+1] == 'x' && isHex(line[i+2]) && isHex(line[i+3]):
			arg = append(arg, hexDigit(line[i+2])<<4|hexDigit(line[i+3]))
			i += 3
		case quote == '"' && c == '\\' && i+1 < len(line):
			i++
			arg = append(arg, unescape(line[i]))
		case quote == '\'' && c == '\\' && i+1 < len(line) && line[i+1] == '\'':
			i++
			arg = append(arg, '\'')
		default:
			arg = append(arg, c)
		}
	}
	return arg, i, quote == 0
}

func unescape(c byte) byte {
	switch c {
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	case 'b':
		return '\b'
	case 'a':
		return '\a'
	}
	return c
}

func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

func hexDigit(c byte) byte {
	switch {
	case c >= 'a':
		return c - 'a' + 10
	case c >= 'A':
		return c - 'A' + 10
	}
	return c - '0'
}
