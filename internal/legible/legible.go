// Package legible is the door for texts from clusters and Git that are stored or shown: what a database cannot keep, or
// what makes a reader see something else than is there, does not pass. A name is refused, a text is made legible. Pure,
// standard library only.
package legible

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// MaxName is the longest name that passes, in bytes: as long as Kubernetes allows one.
const MaxName = 253

// mark stands for a character that has no picture.
const mark = utf8.RuneError

// Name says why a text cannot be a name, or be part of one: nil where it can. Case, dots and slashes are not its business.
func Name(s string) error {
	if len(s) > MaxName {
		return fmt.Errorf("it has %d bytes, more than %d; shorten it", len(s), MaxName)
	}
	return Word(s)
}

// Word is Name without the bound on the length, for keys and other texts of one line.
func Word(s string) error {
	if plain(s) {
		return nil
	}
	if !utf8.ValidString(s) {
		return fmt.Errorf("it is not UTF-8; write it again")
	}
	for i, r := range s {
		if what := fault(r, false); what != "" || invisible(r) {
			if what == "" {
				what = "an invisible character"
			}
			return fmt.Errorf("it has %s (U+%04X) at byte %d; remove it", what, r, i)
		}
	}
	return nil
}

// Line makes one legible line of at most limit bytes of a text: line breaks and tabs become spaces.
func Line(s string, limit int) string {
	if len(s) <= limit && plain(s) {
		return s
	}
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\r' || r == '\t':
			return ' '
		case invisible(r):
			return mark
		}
		return picture(r)
	}, s)
	return Cut(s, limit)
}

// Text makes a text of several lines legible, and cuts it to limit bytes: line breaks and tabs stay.
func Text(s string, limit int) string {
	if !plainText(s) {
		s = strings.Map(picture, strings.ReplaceAll(s, "\r\n", "\n"))
	}
	return Cut(s, limit)
}

// Cut shortens a text to limit bytes, between characters, and says so by an ellipsis. Bytes that are no UTF-8 are left out.
func Cut(s string, limit int) string {
	const ellipsis = "…"
	if s = strings.ToValidUTF8(s, ""); len(s) <= limit {
		return s
	}
	return Prefix(s, limit-len(ellipsis)) + ellipsis
}

// Prefix is the beginning of a text, of at most limit bytes and of whole characters. Bytes that are no UTF-8 are left out: neither
// a database nor a trace takes them.
func Prefix(s string, limit int) string {
	if s = strings.ToValidUTF8(s, ""); len(s) <= limit {
		return s
	}
	at := max(0, limit)
	for at > 0 && !utf8.RuneStart(s[at]) {
		at--
	}
	return s[:at]
}

// plain reports whether a text is ASCII that can be printed, which most names are.
func plain(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] >= 0x7f {
			return false
		}
	}
	return true
}

func plainText(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' && c != '\n' && c != '\t' || c >= 0x7f {
			return false
		}
	}
	return true
}

// fault says what is wrong with a character; "" for nothing. breaks allows what divides lines and columns.
func fault(r rune, breaks bool) string {
	switch {
	case breaks && (r == '\n' || r == '\t' || r == '\r'):
		return ""
	case r == 0:
		return "the character NUL"
	case r < ' ' || r >= 0x7f && r < 0xa0:
		return "a control character"
	case r == 0x2028 || r == 0x2029:
		return "a line separator"
	case r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069:
		return "a character that turns the direction of what follows"
	case r >= 0xd800 && r <= 0xdfff || r >= 0xfdd0 && r <= 0xfdef || r&0xfffe == 0xfffe:
		return "a code that is no character"
	}
	return ""
}

// invisible reports whether a character takes no room, so that two texts with and without it look the same.
func invisible(r rune) bool {
	switch {
	case r == 0xad, r == 0x034f, r == 0x061c, r == 0x115f, r == 0x1160, r == 0x3164, r == 0xfeff, r == 0xffa0,
		r >= 0x180b && r <= 0x180f, r >= 0x200b && r <= 0x200f, r >= 0x2060 && r <= 0x2065, r >= 0x206a && r <= 0x206f,
		r >= 0xfe00 && r <= 0xfe0f, r >= 0xfff0 && r <= 0xfffb, r >= 0xe0000 && r <= 0xe0fff:
		return true
	}
	return false
}

// picture is a character, or what stands for it in a text where it must not be: ␀ for NUL, ␛ for escape.
func picture(r rune) rune {
	switch {
	case fault(r, true) == "" && r != '\r':
		return r
	case r < ' ':
		return 0x2400 + r
	case r == 0x7f:
		return 0x2421
	}
	return mark
}
