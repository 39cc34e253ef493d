package object

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestALongTextLosesItsMiddle(t *testing.T) {
	t.Parallel()
	dump := "Job web is invalid: spec.template: Invalid value: {" + strings.Repeat("Field:nil, ", 200) + "}: field is immutable"
	got := Middle(dump, 100)
	if !strings.HasPrefix(got, "Job web is invalid: spec.template") || !strings.HasSuffix(got, "}: field is immutable") || !strings.Contains(got, " … ") {
		t.Errorf("%q", got)
	}
	if got := Middle("short", 5); got != "short" {
		t.Errorf("%q", got)
	}
}

func TestShortenedTextsAreBoundedAndValid(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text, most := rapid.String().Draw(t, "text"), rapid.IntRange(0, 40).Draw(t, "most")
		if got := Middle(text, most); len(text) > most && len(got) > most+len(" … ") || !utf8.ValidString(got) {
			t.Errorf("middle: %q", got)
		}
		if got := Brief(text, most+1); utf8.RuneCountInString(got) > most+1 || strings.ContainsAny(got, "\n\t") || !utf8.ValidString(got) {
			t.Errorf("brief: %q", got)
		}
	})
}

func TestABriefTextIsOneLine(t *testing.T) {
	t.Parallel()
	if got := Brief(" a\n\tb  c ", 10); got != "a b c" {
		t.Errorf("%q", got)
	}
	if got := Brief("abcdef", 4); got != "abc…" {
		t.Errorf("%q", got)
	}
}
