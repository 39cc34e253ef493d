package script

import (
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// Lua's patterns, with a budget: the interpreter's own matcher may take time without end for one call, and a stack of any
// size.

const (
	maxPatternDepth = 200
	maxCaptures     = 32
)

// openCapture is the length of a capture that has begun; position that of one that stands for a position.
const (
	openCapture = -1
	position    = -2
)

type capture struct{ from, length int }

type matcher struct {
	l        *lua.LState
	meter    *meter
	text     string
	pattern  string
	anchored bool
	captures []capture
	depth    int
}

func (b box) matcher(l *lua.LState, text, pattern string) *matcher {
	rest, anchored := strings.CutPrefix(pattern, "^")
	return &matcher{l: l, meter: b.meter, text: text, pattern: rest, anchored: anchored}
}

// search finds the first match at or after from.
func (m *matcher) search(from int) (at, end int, found bool) {
	for at = from; at <= len(m.text); at++ {
		if end, found = m.here(at); found {
			return at, end, true
		}
		if m.anchored {
			break
		}
	}
	return 0, 0, false
}

// here matches the whole pattern at one place.
func (m *matcher) here(at int) (end int, found bool) {
	m.captures, m.depth = m.captures[:0], 0
	end = m.match(at, 0)
	return end, end >= 0
}

// match matches the pattern from p on against the text from s on, and returns where the match ends, or -1.
func (m *matcher) match(s, p int) int {
	m.depth++
	defer func() { m.depth-- }()
	if m.depth > maxPatternDepth {
		m.l.RaiseError("pattern too complex")
	}
	for {
		m.meter.spend(m.l, 1)
		if p == len(m.pattern) {
			return s
		}
		switch c := m.pattern[p]; {
		case c == '(':
			if strings.HasPrefix(m.pattern[p:], "()") {
				return m.open(s, p+2, position)
			}
			return m.open(s, p+1, openCapture)
		case c == ')':
			return m.shut(s, p+1)
		case c == '$' && p+1 == len(m.pattern):
			if s == len(m.text) {
				return s
			}
			return -1
		case c == '%' && p+1 < len(m.pattern):
			to, then, special := m.escape(s, p)
			if special && to < 0 {
				return -1
			}
			if special {
				s, p = to, then
				continue
			}
		}
		next := m.classEnd(p)
		suffix := byte(0)
		if next < len(m.pattern) {
			suffix = m.pattern[next]
		}
		one := s < len(m.text) && m.single(m.text[s], p, next)
		switch suffix {
		case '?':
			if one {
				if end := m.match(s+1, next+1); end >= 0 {
					return end
				}
			}
			p = next + 1
		case '+', '*', '-':
			return m.repeat(s, p, next, suffix)
		default:
			if !one {
				return -1
			}
			s++
			p = next
		}
	}
}

// escape matches %b, %f and %1 to %9, and returns where the text and the pattern go on. The text goes on at -1 where
// they do not match.
func (m *matcher) escape(s, p int) (to, then int, special bool) {
	switch c := m.pattern[p+1]; {
	case c == 'b':
		return m.balanced(s, p+2), p + 4, true
	case c == 'f':
		if p+2 >= len(m.pattern) || m.pattern[p+2] != '[' {
			m.l.RaiseError("missing '[' after '%%f' in pattern")
		}
		then = m.classEnd(p + 2)
		if m.inSet(m.byteAt(s-1), p+2, then-1) || !m.inSet(m.byteAt(s), p+2, then-1) {
			return -1, then, true
		}
		return s, then, true
	case c >= '0' && c <= '9':
		part := m.captured(int(c) - '1')
		m.meter.spend(m.l, len(part)/16)
		if !strings.HasPrefix(m.text[s:], part) {
			return -1, p + 2, true
		}
		return s + len(part), p + 2, true
	}
	return s, p, false
}

// repeat matches a single-character class many times: the longest first, or with - the shortest.
func (m *matcher) repeat(s, p, next int, suffix byte) int {
	fits := func(i int) bool {
		m.meter.spend(m.l, 1)
		return i < len(m.text) && m.single(m.text[i], p, next)
	}
	if suffix == '-' {
		for {
			if end := m.match(s, next+1); end >= 0 {
				return end
			}
			if !fits(s) {
				return -1
			}
			s++
		}
	}
	least, end := s, s
	if suffix == '+' {
		least++
	}
	for fits(end) {
		end++
	}
	for ; end >= least; end-- {
		if to := m.match(end, next+1); to >= 0 {
			return to
		}
	}
	return -1
}

func (m *matcher) open(s, p, length int) int {
	if len(m.captures) >= maxCaptures {
		m.l.RaiseError("too many captures")
	}
	count := len(m.captures)
	m.captures = append(m.captures, capture{from: s, length: length})
	end := m.match(s, p)
	if end < 0 {
		m.captures = m.captures[:count]
	}
	return end
}

func (m *matcher) shut(s, p int) int {
	for i := len(m.captures) - 1; i >= 0; i-- {
		if m.captures[i].length != openCapture {
			continue
		}
		m.captures[i].length = s - m.captures[i].from
		end := m.match(s, p)
		if end < 0 {
			m.captures[i].length = openCapture
		}
		return end
	}
	m.l.RaiseError("invalid pattern capture")
	return -1
}

// balanced matches %bxy: from an x to the y that closes it.
func (m *matcher) balanced(s, p int) int {
	if p+1 >= len(m.pattern) {
		m.l.RaiseError("unbalanced pattern")
		return -1
	}
	if s >= len(m.text) || m.text[s] != m.pattern[p] {
		return -1
	}
	depth := 1
	for i := s + 1; i < len(m.text); i++ {
		m.meter.spend(m.l, 1)
		switch m.text[i] {
		case m.pattern[p+1]:
			if depth--; depth == 0 {
				return i + 1
			}
		case m.pattern[p]:
			depth++
		}
	}
	return -1
}

// classEnd returns where the single-character class ends that begins at p.
func (m *matcher) classEnd(p int) int {
	if p >= len(m.pattern) {
		m.l.RaiseError("malformed pattern")
		return p
	}
	c := m.pattern[p]
	p++
	switch c {
	case '%':
		if p >= len(m.pattern) {
			m.l.RaiseError("malformed pattern (ends with '%%')")
		}
		return p + 1
	case '[':
		if p < len(m.pattern) && m.pattern[p] == '^' {
			p++
		}
		for first := true; first || p >= len(m.pattern) || m.pattern[p] != ']'; first = false {
			if p >= len(m.pattern) {
				m.l.RaiseError("malformed pattern (missing ']')")
			}
			if m.pattern[p] == '%' {
				p++
			}
			p++
		}
		return p + 1
	}
	return p
}

func (m *matcher) byteAt(i int) byte {
	if i < 0 || i >= len(m.text) {
		return 0
	}
	return m.text[i]
}

// single reports whether a byte is of the class that is at p and ends before end.
func (m *matcher) single(c byte, p, end int) bool {
	switch m.pattern[p] {
	case '.':
		return true
	case '%':
		return inClass(c, m.pattern[p+1])
	case '[':
		return m.inSet(c, p, end-1)
	}
	return m.pattern[p] == c
}

// inSet reports whether a byte is in the set [...] that begins at p and whose bracket closes at end.
func (m *matcher) inSet(c byte, p, end int) bool {
	m.meter.spend(m.l, (end-p)/8)
	p++
	wanted := true
	if m.pattern[p] == '^' {
		wanted = false
		p++
	}
	for ; p < end; p++ {
		switch {
		case m.pattern[p] == '%' && p+1 < end:
			p++
			if inClass(c, m.pattern[p]) {
				return wanted
			}
		case p+2 < end && m.pattern[p+1] == '-':
			if m.pattern[p] <= c && c <= m.pattern[p+2] {
				return wanted
			}
			p += 2
		case m.pattern[p] == c:
			return wanted
		}
	}
	return !wanted
}

func inClass(c, class byte) bool {
	lower, upper := c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z'
	digit := c >= '0' && c <= '9'
	var in bool
	switch class | 0x20 {
	case 'a':
		in = lower || upper
	case 'd':
		in = digit
	case 'l':
		in = lower
	case 's':
		in = c == ' ' || c >= '\t' && c <= '\r'
	case 'u':
		in = upper
	case 'w':
		in = lower || upper || digit
	case 'x':
		in = digit || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
	case 'p':
		in = c > ' ' && c < 0x7f && !lower && !upper && !digit
	case 'c':
		in = c < ' ' || c == 0x7f
	case 'z':
		in = c == 0
	default:
		return class == c
	}
	return in == (class >= 'a')
}

// captured is the text of a finished capture.
func (m *matcher) captured(i int) string {
	if i < 0 || i >= len(m.captures) || m.captures[i].length == openCapture {
		m.l.RaiseError("invalid capture index")
		return ""
	}
	c := m.captures[i]
	if c.length == position {
		return ""
	}
	return m.text[c.from : c.from+c.length]
}

// value is capture i as Lua sees it, where the whole match stands for the first one if there is none.
func (m *matcher) value(i, at, end int) lua.LValue {
	if i == 0 && len(m.captures) == 0 {
		return lua.LString(m.text[at:end])
	}
	if i < len(m.captures) && m.captures[i].length == position {
		return lua.LNumber(m.captures[i].from + 1)
	}
	return lua.LString(m.captured(i))
}

// push puts the first n captures onto the stack.
func (m *matcher) push(n, at, end int) int {
	for i := range n {
		m.l.Push(m.value(i, at, end))
	}
	return n
}

// replacement is what gsub puts in the place of a match.
func (m *matcher) replacement(with lua.LValue, at, end int) string {
	var value lua.LValue
	switch w := with.(type) {
	case *lua.LTable:
		value = m.l.GetTable(w, m.value(0, at, end))
	case *lua.LFunction:
		m.l.Push(w)
		m.l.Call(m.push(max(1, len(m.captures)), at, end), 1)
		value = m.l.Get(-1)
		m.l.Pop(1)
	default:
		return m.expand(lua.LVAsString(with), at, end)
	}
	switch {
	case lua.LVIsFalse(value):
		return m.text[at:end]
	case !lua.LVCanConvToString(value):
		m.l.RaiseError("invalid replacement value (a %s)", value.Type())
	}
	return lua.LVAsString(value)
}

func (m *matcher) expand(with string, at, end int) string {
	if strings.IndexByte(with, '%') < 0 {
		return with
	}
	var out strings.Builder
	write := func(part string) {
		m.meter.take(m.l, len(part))
		out.WriteString(part)
	}
	for i := 0; i < len(with); i++ {
		switch {
		case with[i] != '%' || i+1 == len(with):
			write(with[i : i+1])
		case with[i+1] == '0':
			i++
			write(m.text[at:end])
		case with[i+1] >= '1' && with[i+1] <= '9':
			i++
			write(lua.LVAsString(m.value(int(with[i]-'1'), at, end)))
		default:
			i++
			write(with[i : i+1])
		}
	}
	return out.String()
}
