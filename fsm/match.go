package fsm

// Match says whether s matches a glob pattern exactly as Redis matches keys and
// channels: * any text, ? one byte, [a-z] and [^a] classes, \ takes the next byte
// as it is. It works on bytes. It is bounded by MatchStepsMax steps; a pattern
// that needs more for one text counts as no match.
func Match(pattern, s string) bool {
	steps := MatchStepsMax
	return match(pattern, s, &steps)
}

// match is Match that takes its steps off *steps and answers false, with
// *steps 0, when they run out.
//
// One place to return to is enough: what comes after a later * can be matched
// from every place from which it could after an earlier one.
func match(pattern, s string, steps *int) bool {
	if len(s) == 0 {
		return len(pattern) == 0 // even "*" doesn't match the empty text, in Redis
	}
	p, i := 0, 0
	retryP, retryS := -1, 0
	for {
		if *steps <= 0 {
			return false
		}
		*steps--
		if i == len(s) {
			for p < len(pattern) && pattern[p] == '*' {
				p++
			}
			// With text left over another try could help, with pattern left over
			// a shorter text can't.
			return p == len(pattern)
		}
		if p < len(pattern) && pattern[p] == '*' {
			for p < len(pattern) && pattern[p] == '*' {
				p++
			}
			if p == len(pattern) {
				return true
			}
			retryP, retryS = p, i
			continue
		}
		if p < len(pattern) {
			if next, ok := matchByte(pattern, p, s[i]); ok {
				p, i = next, i+1
				continue
			}
		}
		if retryP < 0 || retryS+1 >= len(s) {
			return false
		}
		retryS++
		p, i = retryP, retryS
	}
}

// matchByte says whether the element of the pattern at p matches b, and where
// the next element begins.
func matchByte(pattern string, p int, b byte) (next int, ok bool) {
	switch pattern[p] {
	case '?':
		return p + 1, true
	case '[':
		return matchClass(pattern, p+1, b)
	case '\\':
		if p+1 < len(pattern) {
			p++
		}
	}
	return p + 1, pattern[p] == b
}

// matchClass matches b against the class whose text begins at p. A class that
// isn't closed ends with the pattern. Ranges compare signed bytes, as in C.
func matchClass(pattern string, p int, b byte) (next int, ok bool) {
	negate := p < len(pattern) && pattern[p] == '^'
	if negate {
		p++
	}
	for p < len(pattern) && pattern[p] != ']' {
		left := len(pattern) - p
		switch {
		case left >= 2 && pattern[p] == '\\':
			p++
			ok = ok || pattern[p] == b
		case left >= 3 && pattern[p+1] == '-':
			low, high := int8(pattern[p]), int8(pattern[p+2])
			if low > high {
				low, high = high, low
			}
			p += 2
			ok = ok || low <= int8(b) && int8(b) <= high
		default:
			ok = ok || pattern[p] == b
		}
		p++
	}
	if p < len(pattern) {
		p++ // the closing bracket
	}
	return p, ok != negate
}
