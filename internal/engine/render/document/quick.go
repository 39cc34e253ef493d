package document

import (
	"strings"
	"unicode/utf8"
)

// quick reads the plain block style that nearly all manifests are written in, about ten times as fast as the YAML
// library. It gives up, ok is false, on anything else: anchors, tags, folded text, texts over several lines, tabs and
// whatever is or may be malformed. Where it answers, it answers as the library does; the fuzz test compares them.
func quick(part []byte) (v value, ok bool) {
	if !ordinary(part) {
		return value{}, false
	}
	s := scan{src: string(part)}
	if !s.next() {
		return value{}, false
	}
	v, ok = s.block(0)
	if !ok || s.start >= 0 {
		return value{}, false
	}
	return v, true
}

// ordinary reports whether part holds only characters that stand for themselves: no tab, no carriage return, no
// control character, no exotic line break.
func ordinary(part []byte) bool {
	for i := 0; i < len(part); {
		c := part[i]
		if c < utf8.RuneSelf {
			if c < ' ' && c != '\n' || c == 0x7f {
				return false
			}
			i++
			continue
		}
		r, n := utf8.DecodeRune(part[i:])
		switch {
		case r == utf8.RuneError, r < 0xa0, r == 0x2028, r == 0x2029, r == 0xfeff, r > 0xfffd && r < 0x10000:
			return false
		}
		i += n
	}
	return true
}

// maxQuickKey is shorter than the longest key that YAML allows on the line of its value.
const maxQuickKey = 500

// scan walks over the lines of a document.
type scan struct {
	src   string
	pos   int // where the line after the current one begins
	start int // of the current line's content in src; -1 at the end
	end   int // of the current line, without its line break
	col   int // column of start: the indentation
}

// next goes to the next line that is neither blank nor a comment.
func (s *scan) next() bool {
	for s.pos < len(s.src) {
		begin := s.pos
		end := strings.IndexByte(s.src[begin:], '\n')
		if end < 0 {
			end = len(s.src)
			s.pos = end
		} else {
			end += begin
			s.pos = end + 1
		}
		at := begin
		for at < end && s.src[at] == ' ' {
			at++
		}
		if at == end || s.src[at] == '#' {
			continue
		}
		s.start, s.end, s.col = at, end, at-begin
		return true
	}
	s.start, s.col = -1, -1
	return false
}

// block reads the mapping or sequence that begins with the current line.
func (s *scan) block(depth int) (value, bool) {
	if depth > maxDepth/2 {
		return value{}, false
	}
	if s.dash() {
		return s.sequence(s.col, depth)
	}
	return s.mapping(s.col, depth)
}

// dash reports whether the current line is an item of a sequence.
func (s *scan) dash() bool {
	return s.start >= 0 && s.src[s.start] == '-' && (s.start+1 == s.end || s.src[s.start+1] == ' ')
}

func (s *scan) mapping(col, depth int) (value, bool) {
	v := value{kind: mapping}
	for {
		key, after, ok := s.key()
		if !ok {
			return value{}, false
		}
		rest := skipSpaces(s.src, after, s.end)
		var val value
		if rest == s.end || s.src[rest] == '#' {
			if !s.next() || s.col < col || s.col == col && !s.dash() {
				val = value{}
			} else if val, ok = s.block(depth + 1); !ok {
				return value{}, false
			}
		} else if val, ok = s.inline(rest, col, depth+1); !ok {
			return value{}, false
		}
		v.members = append(v.members, member{key, val})
		switch {
		case s.col < col:
			v.normalise()
			return v, true
		case s.col > col || s.dash():
			return value{}, false
		}
	}
}

func (s *scan) sequence(col, depth int) (value, bool) {
	v := value{kind: sequence, items: []value{}}
	for s.col == col && s.dash() {
		rest := skipSpaces(s.src, s.start+1, s.end)
		var val value
		var ok bool
		switch {
		case rest == s.end || s.src[rest] == '#':
			if !s.next() || s.col <= col {
				val = value{}
			} else if val, ok = s.block(depth + 1); !ok {
				return value{}, false
			}
		case s.nested(rest):
			// A mapping or sequence that begins on the line of its dash.
			s.col += rest - s.start
			s.start = rest
			if val, ok = s.block(depth + 1); !ok {
				return value{}, false
			}
		default:
			if val, ok = s.inline(rest, col, depth+1); !ok {
				return value{}, false
			}
		}
		v.items = append(v.items, val)
		if s.col > col {
			return value{}, false
		}
	}
	return v, true
}

// nested reports whether a block begins at rest. A wrong yes makes quick give up, never read wrongly.
func (s *scan) nested(rest int) bool {
	line := s.src[rest:s.end]
	switch line[0] {
	case '-':
		return len(line) == 1 || line[1] == ' '
	case '"', '\'':
		end := strings.IndexByte(line[1:], line[0])
		return end >= 0 && end+2 < len(line) && line[end+2] == ':'
	case '{', '[', '|':
		return false
	}
	if cut := strings.Index(line, " #"); cut >= 0 {
		line = strings.TrimRight(line[:cut], " ")
	}
	return strings.Contains(line, ": ") || strings.HasSuffix(line, ":")
}

// key reads the key of the current line; after is behind its colon.
func (s *scan) key() (key string, after int, ok bool) {
	i := s.start
	if c := s.src[i]; c == '"' || c == '\'' {
		end := strings.IndexByte(s.src[i+1:s.end], c)
		if end < 0 || end > maxQuickKey {
			return "", 0, false
		}
		key = s.src[i+1 : i+1+end]
		i += end + 2
		if strings.IndexByte(key, '\\') >= 0 {
			return "", 0, false
		}
	} else {
		for i < s.end && keyChar(s.src[i]) {
			i++
		}
		key = s.src[s.start:i]
		if key == "" || len(key) > maxQuickKey || key[0] == '-' {
			return "", 0, false
		}
		if v, ok := scalar(key); !ok || v.kind != text {
			return "", 0, false
		}
	}
	if i >= s.end || s.src[i] != ':' || i+1 < s.end && s.src[i+1] != ' ' {
		return "", 0, false
	}
	return key, i + 1, true
}

func keyChar(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '.' || c == '/' || c == '_' || c == '-'
}

// inline reads a value that begins at from on the current line, inside a block at column col, and goes to the line
// after it.
func (s *scan) inline(from, col, depth int) (value, bool) {
	if s.src[from] == '|' {
		return s.literal(from, col)
	}
	var v value
	var ok bool
	switch s.src[from] {
	case '"', '\'', '{', '[':
		f := flow{src: s.src[:s.end], pos: from}
		v, ok = f.value(depth)
		if !ok || !onlyComment(s.src, f.pos, s.end) {
			return value{}, false
		}
	default:
		v, ok = plainText(s.src[from:s.end])
	}
	if !ok {
		return value{}, false
	}
	s.next()
	return v, s.col <= col // a deeper line would go on with the value
}

// plainText reads an unquoted value up to the end of its line.
func plainText(line string) (value, bool) {
	switch line[0] {
	case '-':
		if len(line) == 1 || line[1] == ' ' {
			return value{}, false
		}
	case '&', '*', '!', '>', '%', '@', '`', '?', ':', ',', ']', '}', '=', '#', '<':
		return value{}, false
	}
	if cut := strings.Index(line, " #"); cut >= 0 {
		line = line[:cut]
	}
	line = strings.TrimRight(line, " ")
	if strings.Contains(line, ": ") || strings.HasSuffix(line, ":") {
		return value{}, false
	}
	return scalar(line)
}

// literal reads a block of text behind "|" or "|-".
func (s *scan) literal(from, col int) (value, bool) {
	head := strings.TrimRight(s.src[from:s.end], " ")
	if head != "|" && head != "|-" {
		return value{}, false
	}
	var b strings.Builder
	width, blank := -1, 0
	for s.pos < len(s.src) {
		end := strings.IndexByte(s.src[s.pos:], '\n')
		if end < 0 {
			return value{}, false // only ToJSON has such a last line; the library decides how the text ends
		}
		line := s.src[s.pos : s.pos+end]
		lead := skipSpaces(line, 0, len(line))
		switch {
		case lead == len(line) && (width < 0 || lead <= width):
			if width < 0 && lead > 0 {
				return value{}, false
			}
			blank++
			s.pos += end + 1
			continue
		case width < 0 && lead <= col:
			return value{}, false
		case width < 0:
			width = lead
		}
		if lead < width {
			break
		}
		for ; blank > 0; blank-- {
			b.WriteByte('\n')
		}
		if b.Len() == 0 && b.Cap() == 0 {
			b.Grow(256)
		}
		b.WriteString(line[width:])
		b.WriteByte('\n')
		s.pos += end + 1
	}
	if width < 0 {
		return value{}, false
	}
	out := b.String()
	if head == "|-" {
		out = out[:len(out)-1]
	}
	s.next()
	return value{kind: text, str: out}, s.col <= col
}

func skipSpaces(s string, from, end int) int {
	for from < end && s[from] == ' ' {
		from++
	}
	return from
}

// onlyComment reports whether nothing but spaces and a comment is left of a line.
func onlyComment(s string, from, end int) bool {
	at := skipSpaces(s, from, end)
	return at == end || at > from && s[at] == '#'
}
