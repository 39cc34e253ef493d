package legible

import (
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// JSON makes the texts in a JSON document legible as Text does, without a bound: the result is the same document where
// nothing has to be replaced, and takes part in no copy then. Line breaks, tabs and what is invisible stay. What is no JSON
// stays no JSON.
func JSON(doc []byte) []byte {
	var out []byte // nil while nothing was replaced
	kept := 0      // of doc, up to where out has it
	replace := func(from, to int, by rune) {
		out = append(out, doc[kept:from]...)
		out = utf8.AppendRune(out, by)
		kept = to
	}
	text := false
	for i := 0; i < len(doc); {
		switch c := doc[i]; {
		case c == '"':
			text = !text
			i++
		case c == '\\' && text:
			r, n := escape(doc[i:])
			if n > 2 || r == '\b' || r == '\f' {
				if p := picture(r); p != r && r != '\r' {
					replace(i, i+n, p)
				}
			}
			i += n
		case c < utf8.RuneSelf:
			if text && (c < ' ' || c == 0x7f) { // only 0x7f in what is JSON
				replace(i, i+1, picture(rune(c)))
			}
			i++
		default:
			r, n := utf8.DecodeRune(doc[i:])
			if p := picture(r); p != r || r == utf8.RuneError && n == 1 {
				replace(i, i+n, p)
			}
			i += n
		}
	}
	if out == nil {
		return doc
	}
	return append(out, doc[kept:]...)
}

// escape reads an escape sequence: the character, and how many bytes it has. A surrogate without its other half is
// returned as it is.
func escape(b []byte) (r rune, n int) {
	if len(b) < 2 {
		return '\\', len(b)
	}
	switch b[1] {
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'u':
	default:
		return rune(b[1]), 2
	}
	r, ok := hex(b)
	if !ok {
		return 'u', 2
	}
	if !utf16.IsSurrogate(r) {
		return r, 6
	}
	if low, ok := hex(b[6:]); ok {
		if whole := utf16.DecodeRune(r, low); whole != utf8.RuneError {
			return whole, 12
		}
	}
	return r, 6
}

// hex reads \uXXXX.
func hex(b []byte) (rune, bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	v, err := strconv.ParseUint(string(b[2:6]), 16, 16)
	return rune(v), err == nil
}
