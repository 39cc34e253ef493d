package object

import (
	"strings"
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

// Brief keeps the beginning of a text that somebody wrote, on one line of at most so many characters.
func Brief(text string, most int) string {
	text = strings.ToValidUTF8(strings.Join(strings.Fields(text), " "), "")
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return text
}
