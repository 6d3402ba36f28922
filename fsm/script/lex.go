package script

import "strings"

// token is the kind of one lexical element: a byte for the simple ones, and the
// constants below.
type token int

const (
	tEOF token = iota + 256
	tName
	tString
	tNumber
	tConcat // ..
	tDots   // ...
	tEq     // ==
	tNe     // ~=
	tLe     // <=
	tGe     // >=
	tAnd
	tBreak
	tDo
	tElse
	tElseif
	tEnd
	tFalse
	tFor
	tFunction
	tIf
	tIn
	tLocal
	tNil
	tNot
	tOr
	tRepeat
	tReturn
	tThen
	tTrue
	tUntil
	tWhile
)

var tokenNames = map[token]string{
	tEOF: "<eof>", tName: "<name>", tString: "<string>", tNumber: "<number>",
	tConcat: "..", tDots: "...", tEq: "==", tNe: "~=", tLe: "<=", tGe: ">=",
	tAnd: "and", tBreak: "break", tDo: "do", tElse: "else", tElseif: "elseif",
	tEnd: "end", tFalse: "false", tFor: "for", tFunction: "function", tIf: "if",
	tIn: "in", tLocal: "local", tNil: "nil", tNot: "not", tOr: "or",
	tRepeat: "repeat", tReturn: "return", tThen: "then", tTrue: "true",
	tUntil: "until", tWhile: "while",
}

var keywords = func() map[string]token {
	words := map[string]token{}
	for t := tAnd; t <= tWhile; t++ {
		words[tokenNames[t]] = t
	}
	return words
}()

// spell names a token in an error.
func (t token) spell() string {
	if t < 256 {
		if t < ' ' {
			return "char(" + formatNumber(float64(t)) + ")"
		}
		return string([]byte{byte(t)})
	}
	return tokenNames[t]
}

// syntaxError is thrown by the lexer, parser and compiler, and caught by Compile.
type syntaxError struct {
	line int
	text string
}

// chunkName is what Redis calls every script.
const chunkName = "user_script"

func (e syntaxError) Error() string {
	return chunkName + ":" + formatNumber(float64(e.line)) + ": " + e.text
}

// lexer cuts a text into tokens. It reads each byte a bounded number of times.
type lexer struct {
	src      string
	pos      int
	line     int
	lastLine int // of the token before tok

	tok  token
	text string // of a name, or a string's content
	num  float64
	raw  int // where tok begins in src
	tiny int // numbers seen that took long

	peeked   bool
	peekTok  token
	peekText string
	peekNum  float64
	peekRaw  int
	peekEnd  int
}

// fail reports an error near the given token text.
func (l *lexer) fail(msg, near string) {
	if near != "" {
		msg += " near '" + near + "'"
	}
	panic(syntaxError{l.line, msg})
}

// failHere reports an error near the current token.
func (l *lexer) failHere(msg string) {
	near := l.tok.spell()
	if l.tok == tName || l.tok == tString || l.tok == tNumber {
		near = l.src[l.raw:l.tokenEnd()]
	}
	l.fail(msg, near)
}

func (l *lexer) tokenEnd() int {
	if l.peeked {
		return l.peekEnd
	}
	return l.pos
}

// next moves to the next token.
func (l *lexer) next() {
	l.lastLine = l.line
	if l.peeked {
		l.peeked = false
		l.tok, l.text, l.num, l.raw = l.peekTok, l.peekText, l.peekNum, l.peekRaw
		return
	}
	l.scan()
}

// peek is the token after the current one.
func (l *lexer) peek() token {
	tok, text, num, raw, end := l.tok, l.text, l.num, l.raw, l.pos
	l.scan()
	l.peekTok, l.peekText, l.peekNum, l.peekRaw, l.peekEnd = l.tok, l.text, l.num, l.raw, end
	l.tok, l.text, l.num, l.raw = tok, text, num, raw
	l.peeked = true
	return l.peekTok
}

func (l *lexer) at(i int) byte {
	if i < len(l.src) {
		return l.src[i]
	}
	return 0
}

func (l *lexer) newline() {
	c := l.src[l.pos]
	l.pos++
	if d := l.at(l.pos); (d == '\n' || d == '\r') && d != c && l.pos < len(l.src) {
		l.pos++
	}
	l.line++
}

func (l *lexer) scan() {
	l.skipBlank()
	l.raw = l.pos
	if l.pos >= len(l.src) {
		l.tok = tEOF
		return
	}
	c := l.src[l.pos]
	switch {
	case isAlpha(c) || c == '_':
		l.name()
	case isDigit(c) || c == '.' && isDigit(l.at(l.pos+1)):
		l.number()
	case c == '"' || c == '\'':
		l.quoted(c)
	case c == '[' && (l.at(l.pos+1) == '[' || l.at(l.pos+1) == '='):
		sep := l.longOpen()
		if sep < 0 {
			l.fail("invalid long string delimiter", "[=")
		}
		l.text = l.longBody(sep, "unfinished long string")
		l.tok = tString
	default:
		l.symbol(c)
	}
}

// skipBlank passes blanks and comments.
func (l *lexer) skipBlank() {
	for l.pos < len(l.src) {
		switch c := l.src[l.pos]; {
		case c == '\n' || c == '\r':
			l.newline()
		case isSpace(c):
			l.pos++
		case c == '-' && l.at(l.pos+1) == '-':
			l.pos += 2
			if l.at(l.pos) == '[' {
				if sep := l.longOpen(); sep >= 0 {
					l.longBody(sep, "unfinished long comment")
					continue
				}
			}
			for l.pos < len(l.src) && l.src[l.pos] != '\n' && l.src[l.pos] != '\r' {
				l.pos++
			}
		default:
			return
		}
	}
}

func (l *lexer) symbol(c byte) {
	l.tok = token(c)
	l.pos++
	if l.at(l.pos) == '=' {
		switch c {
		case '=':
			l.tok = tEq
		case '<':
			l.tok = tLe
		case '>':
			l.tok = tGe
		case '~':
			l.tok = tNe
		default:
			return
		}
		l.pos++
		return
	}
	if c == '.' && l.at(l.pos) == '.' {
		l.pos++
		l.tok = tConcat
		if l.at(l.pos) == '.' {
			l.pos++
			l.tok = tDots
		}
	}
}

func (l *lexer) name() {
	start := l.pos
	for l.pos < len(l.src) && (isAlpha(l.src[l.pos]) || isDigit(l.src[l.pos]) || l.src[l.pos] == '_') {
		l.pos++
	}
	l.text = l.src[start:l.pos]
	l.tok = tName
	if t, ok := keywords[l.text]; ok {
		l.tok = t
	}
}

// number takes everything that could belong to one, as Lua does, so that 3x is
// malformed and not two tokens.
func (l *lexer) number() {
	start := l.pos
	for isDigit(l.at(l.pos)) || l.at(l.pos) == '.' {
		l.pos++
	}
	if c := l.at(l.pos); c|0x20 == 'e' {
		l.pos++
		if c = l.at(l.pos); c == '+' || c == '-' {
			l.pos++
		}
	}
	for c := l.at(l.pos); isAlpha(c) || isDigit(c) || c == '_'; c = l.at(l.pos) {
		l.pos++
	}
	f, ok := parseNumber(l.src[start:l.pos])
	if !ok {
		l.fail("malformed number", l.src[start:l.pos])
	}
	if isTiny(f) && strings.ContainsAny(l.src[start:l.pos], "eE") {
		if l.tiny++; l.tiny > maxTiny {
			l.fail("too many numbers next to zero", "")
		}
	}
	l.tok, l.num = tNumber, f
}

// maxTiny is how many numbers below 2.3e-308 a text may have: reading one takes as
// long as a thousand others.
const maxTiny = 100

// longOpen passes [==[ and answers how many = it has; -1 and no move if it isn't
// one.
func (l *lexer) longOpen() int {
	i := l.pos + 1
	for l.at(i) == '=' {
		i++
	}
	if l.at(i) != '[' {
		return -1
	}
	sep := i - l.pos - 1
	l.pos = i + 1
	return sep
}

// longBody reads to the closing bracket. Ends of line become \n.
func (l *lexer) longBody(sep int, unfinished string) string {
	if c := l.at(l.pos); l.pos < len(l.src) && (c == '\n' || c == '\r') {
		l.newline()
	}
	closing := "]" + strings.Repeat("=", sep) + "]"
	var b strings.Builder
	for l.pos < len(l.src) {
		switch c := l.src[l.pos]; {
		case c == ']' && strings.HasPrefix(l.src[l.pos:], closing):
			l.pos += len(closing)
			return b.String()
		case c == '\n' || c == '\r':
			l.newline()
			b.WriteByte('\n')
		default:
			b.WriteByte(c)
			l.pos++
		}
	}
	l.fail(unfinished, "<eof>")
	return ""
}

func (l *lexer) quoted(quote byte) {
	var b []byte // errors show what has been read, with the escapes resolved
	for l.pos++; ; {
		if l.pos >= len(l.src) {
			l.fail("unfinished string", "<eof>")
		}
		c := l.src[l.pos]
		switch c {
		case quote:
			l.pos++
			l.tok, l.text = tString, string(b)
			return
		case '\n', '\r':
			l.fail("unfinished string", string(quote)+string(b))
		case '\\':
			b = l.escape(b, quote)
		default:
			b = append(b, c)
			l.pos++
		}
	}
}

func (l *lexer) escape(b []byte, quote byte) []byte {
	l.pos++
	if l.pos >= len(l.src) {
		return b // the string is unfinished
	}
	c := l.src[l.pos]
	switch {
	case c == '\n' || c == '\r':
		l.newline()
		return append(b, '\n')
	case isDigit(c):
		n := 0
		for i := 0; i < 3 && isDigit(l.at(l.pos)); i++ {
			n = n*10 + int(l.src[l.pos]-'0')
			l.pos++
		}
		if n > 255 {
			l.fail("escape sequence too large", string(quote)+string(b))
		}
		return append(b, byte(n))
	}
	l.pos++
	if i := strings.IndexByte("abfnrtv", c); i >= 0 {
		return append(b, "\a\b\f\n\r\t\v"[i])
	}
	return append(b, c)
}
