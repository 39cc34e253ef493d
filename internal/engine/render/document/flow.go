package document

import (
	"regexp"
	"strconv"
	"strings"
)

// flow reads quoted texts and the {} and [] style, as long as they end on their line.
type flow struct {
	src string // up to the end of the line
	pos int
}

func (f *flow) value(depth int) (value, bool) {
	if f.pos >= len(f.src) || depth > maxDepth/2 {
		return value{}, false
	}
	switch f.src[f.pos] {
	case '"':
		return f.double()
	case '\'':
		return f.single()
	case '[':
		return f.list(depth)
	case '{':
		return f.object(depth)
	}
	word := f.word()
	if word == "" {
		return value{}, false
	}
	return scalar(word)
}

// word reads an unquoted text without spaces or any character that may have a meaning.
func (f *flow) word() string {
	from := f.pos
	for f.pos < len(f.src) && keyChar(f.src[f.pos]) {
		f.pos++
	}
	if f.pos > from && f.src[from] == '-' && f.pos == from+1 {
		return ""
	}
	return f.src[from:f.pos]
}

func (f *flow) double() (value, bool) {
	from := f.pos + 1
	end := strings.IndexByte(f.src[from:], '"')
	if end < 0 {
		return value{}, false
	}
	body := f.src[from : from+end]
	if strings.IndexByte(body, '\\') < 0 {
		f.pos = from + end + 1
		return value{kind: text, str: body}, true
	}
	var b strings.Builder
	for i := from; i < len(f.src); i++ {
		switch c := f.src[i]; c {
		case '"':
			f.pos = i + 1
			return value{kind: text, str: b.String()}, true
		case '\\':
			i++
			if i == len(f.src) {
				return value{}, false
			}
			switch f.src[i] {
			case '"', '\\':
				b.WriteByte(f.src[i])
			case 'n':
				b.WriteByte('\n')
			case 't':
				b.WriteByte('\t')
			default:
				return value{}, false
			}
		default:
			b.WriteByte(c)
		}
	}
	return value{}, false
}

func (f *flow) single() (value, bool) {
	from := f.pos + 1
	end := strings.IndexByte(f.src[from:], '\'')
	if end < 0 || from+end+1 < len(f.src) && f.src[from+end+1] == '\'' {
		return value{}, false
	}
	f.pos = from + end + 1
	return value{kind: text, str: f.src[from : from+end]}, true
}

func (f *flow) list(depth int) (value, bool) {
	v := value{kind: sequence, items: []value{}}
	f.pos = skipSpaces(f.src, f.pos+1, len(f.src))
	if f.at(']') {
		return v, true
	}
	for {
		item, ok := f.value(depth + 1)
		if !ok {
			return value{}, false
		}
		v.items = append(v.items, item)
		f.pos = skipSpaces(f.src, f.pos, len(f.src))
		switch {
		case f.at(']'):
			return v, true
		case !f.at(','):
			return value{}, false
		}
		f.pos = skipSpaces(f.src, f.pos, len(f.src))
	}
}

func (f *flow) object(depth int) (value, bool) {
	v := value{kind: mapping}
	f.pos = skipSpaces(f.src, f.pos+1, len(f.src))
	if f.at('}') {
		return v, true
	}
	for {
		from := f.pos
		key, ok := f.value(depth + 1)
		if !ok || key.kind != text || f.pos-from > maxQuickKey {
			return value{}, false
		}
		if !f.at(':') || !f.at(' ') {
			return value{}, false
		}
		f.pos = skipSpaces(f.src, f.pos, len(f.src))
		val, ok := f.value(depth + 1)
		if !ok {
			return value{}, false
		}
		v.members = append(v.members, member{key.str, val})
		f.pos = skipSpaces(f.src, f.pos, len(f.src))
		switch {
		case f.at('}'):
			v.normalise()
			return v, true
		case !f.at(','):
			return value{}, false
		}
		f.pos = skipSpaces(f.src, f.pos, len(f.src))
	}
}

// at steps over c where it comes next.
func (f *flow) at(c byte) bool {
	if f.pos < len(f.src) && f.src[f.pos] == c {
		f.pos++
		return true
	}
	return false
}

// decimal is how YAML 1.1 writes a float, once underscores are gone.
var decimal = regexp.MustCompile(`^[-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:[eE][-+]?\d+)?$`)

// scalar resolves an unquoted text as YAML 1.1 does in the library of Kubernetes.
func scalar(s string) (value, bool) {
	if s == "" {
		return value{}, true
	}
	switch c := s[0]; {
	case c >= '0' && c <= '9' || c == '-' || c == '+':
		return number(s)
	case c == '.':
		switch strings.ToLower(s) {
		case ".inf", ".nan":
			return value{}, false
		}
		if len(s) > 1 && s[1] >= '0' && s[1] <= '9' {
			return value{}, false
		}
	case c == '~':
		if s == "~" {
			return value{}, true
		}
	case strings.IndexByte("yYnNtTfFoO", c) >= 0 && len(s) <= 5:
		switch s {
		case "y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON":
			return ofBool(true), true
		case "n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF":
			return ofBool(false), true
		case "null", "Null", "NULL":
			return value{}, true
		}
	}
	return value{kind: text, str: s}, true
}

func number(s string) (value, bool) {
	for i := range len(s) {
		switch c := s[i]; {
		case c >= '0' && c <= '9', c >= 'a' && c <= 'f', c >= 'A' && c <= 'F':
		case strings.IndexByte("xXoO_.+-", c) >= 0:
		default:
			return value{kind: text, str: s}, true // no number has this character
		}
	}
	if n, err := strconv.ParseInt(s, 10, 64); err == nil && (s[0] != '0' || s == "0") && s[0] != '+' && s[0] != '-' {
		return value{kind: integer, num: n}, true
	}
	switch {
	case strings.ContainsAny(s, "xXoO_abcdfABCDF"):
		return value{}, false // hexadecimal, octal and the like: rare
	case strings.IndexByte(s, '.') < 0 && strings.ContainsAny(s, "eE"):
		return value{}, false
	case strings.Count(s, ".") > 1 || strings.IndexByte(s[1:], '-') >= 0 && strings.IndexByte(s, '.') < 0:
		return value{kind: text, str: s}, !decimal.MatchString(s) // a version, an address or a date
	case decimal.MatchString(s) && strings.IndexByte(s, '.') > 0:
		f, err := strconv.ParseFloat(s, 64)
		if err != nil {
			return value{}, false
		}
		v, err := ofFloat(f)
		return v, err == nil
	case s[0] == '-' && len(s) > 1 && s[1] >= '1' && s[1] <= '9':
		n, err := strconv.ParseInt(s, 10, 64)
		return value{kind: integer, num: n}, err == nil
	case strings.HasPrefix(s, "--"):
		return value{kind: text, str: s}, true
	}
	return value{}, false
}
