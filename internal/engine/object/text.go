package object

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Middle shortens text to so many bytes and a mark, by what is in its middle: what a text is about stands first in it,
// and what is wrong often last, behind a value that can be as long as an object.
func Middle(text string, most int) string {
	const mark = " … "
	if len(text) <= most {
		return text
	}
	head := max(0, most) * 3 / 5
	tail := len(text) - (max(0, most) - head)
	for head > 0 && !utf8.RuneStart(text[head]) {
		head--
	}
	for tail < len(text) && !utf8.RuneStart(text[tail]) {
		tail++
	}
	return strings.ToValidUTF8(strings.TrimSpace(text[:head])+mark+strings.TrimSpace(text[tail:]), "")
}

// Brief keeps the beginning of a text from outside, on one line of at most so many characters.
func Brief(text string, most int) string {
	text = strings.ToValidUTF8(strings.Join(strings.Fields(text), " "), "")
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return text
}

// Line makes one printable line of foreign text: line breaks and tabs become spaces, other control characters go, and so
// do those that turn the direction of what follows, by which a line can say something else than it shows.
func Line(text string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || r == '\r' {
			return ' '
		}
		return printable(r)
	}, text))
}

// Lines is Line for a text of several lines, which it stays; of at most so many bytes.
func Lines(text string, most int) string {
	if len(text) > most {
		text = text[:most]
	}
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return r
		}
		return printable(r)
	}, strings.ToValidUTF8(text, "")))
}

// printable is r, or less than nothing where it is not for people.
func printable(r rune) rune {
	if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 || unicode.Is(unicode.Bidi_Control, r) {
		return -1
	}
	return r
}
