package legible_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/slipway-gitops/slipway/internal/legible"
)

// hostile are texts that a database refuses to keep, or that show something else than they say.
var hostile = map[string]string{
	"NUL": "a\x00b", "escape": "a\x1b[2Jb", "bell": "a\ab", "delete": "a\x7fb", "C1": "a\u009b31mb", "bad UTF-8": "a\xffb", "half a character": "a\xc3",
	"override": "a\u202eb", "isolate": "a\u2067b", "line separator": "a\u2028b", "no character": "a\uffffb", "surrogate": "a\xed\xa0\x80b",
}

func TestANameThatCannotBeKeptIsRefused(t *testing.T) {
	t.Parallel()
	for name, text := range hostile {
		if legible.Name(text) == nil {
			t.Errorf("%s: %q is taken", name, text)
		}
	}
	for _, text := range []string{"a\u200bb", "a\u200db", "a\ufeff", "a\u00adb", "a\nb", "a\tb", strings.Repeat("a", 254)} {
		if legible.Name(text) == nil {
			t.Errorf("%q is taken", text)
		}
	}
	for _, text := range []string{"", "web", "system:node:x", "ü-ß", "名前", "a b", strings.Repeat("a", 253)} {
		if err := legible.Name(text); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
	if err := legible.Name("a\x00b"); err == nil || err.Error() != "it has the character NUL (U+0000) at byte 1; remove it" {
		t.Errorf("the message is %v", err)
	}
}

func TestATextIsMadeLegibleAndKeepsItsLines(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"a\x00b": "a␀b", "a\x1b[2J": "a␛[2J", "a\xffb": "a\ufffdb", "one\r\ntwo\tx": "one\ntwo\tx", "a\u202eb": "a\ufffdb", "äß🙂": "äß🙂",
		"a\x7f": "a␡", "a\rb": "a␍b", "family\u200dof": "family\u200dof",
	} {
		if got := legible.Text(in, 100); got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
	if got := legible.Line("a\nb\u200bc\x00", 100); got != "a b\ufffdc␀" {
		t.Errorf("a line becomes %q", got)
	}
	if got := legible.Text("äääää", 8); got != "ää…" {
		t.Errorf("a long text becomes %q", got)
	}
}

func TestWhatIsCutIsValidAndWithinItsLimit(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ text, cut, prefix string }{
		{"short", "short", "short"},
		{"exactly ten", "exactly…", "exactly te"},
		{"über über", "über …", "über übe"},
		{"a\xffb", "ab", "ab"},
		{"a\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80", "a", "a"},
	} {
		if got := legible.Cut(test.text, 10); got != test.cut {
			t.Errorf("Cut of %q is %q, want %q", test.text, got, test.cut)
		}
		if got := legible.Prefix(test.text, 10); got != test.prefix {
			t.Errorf("Prefix of %q is %q, want %q", test.text, got, test.prefix)
		}
	}
}

func TestJSONIsMadeLegible(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`{"a\u0000b":"c\u0000"}`: `{"a␀b":"c␀"}`, `"\\u0000"`: `"\\u0000"`, `"\\\u0000"`: `"\\␀"`, `"\ud800"`: "\"\ufffd\"", `"\ud83d\ude42"`: `"\ud83d\ude42"`,
		`"\udc00\ud800x"`: "\"\ufffd\ufffdx\"", `"a\nb\tc\rd"`: `"a\nb\tc\rd"`, `"\u000a\u0009\u000d"`: `"\u000a\u0009\u000d"`, `"\b\f"`: `"␈␌"`,
		`"\u001b"`: `"␛"`, `"\u009b"`: "\"\ufffd\"", `"\u202e"`: "\"\ufffd\"", "\"a\xff\"": "\"a\ufffd\"", "\"\u202e\"": "\"\ufffd\"", `"\u00e4ä"`: `"\u00e4ä"`,
		`{"a":[1,2.5e3,true,null]}`: `{"a":[1,2.5e3,true,null]}`,
	} {
		if got := string(legible.JSON([]byte(in))); got != want {
			t.Errorf("%s becomes %s, want %s", in, got, want)
		}
	}
	doc := []byte(`{"kind":"Application","metadata":{"name":"web"}}`)
	if got := legible.JSON(doc); &got[0] != &doc[0] {
		t.Error("a document with nothing to replace is copied")
	}
}

// FuzzLegible holds the door to what it promises, for any text.
func FuzzLegible(f *testing.F) {
	for _, text := range hostile {
		f.Add(text)
	}
	for _, text := range []string{`{"a":"\u0000"}`, `"\ud800\udc00\ud800"`, `"\\\\u0000"`, "äö\u200d", `{"\u0000":{"a":[1]}}`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, got := range []string{legible.Text(s, 64), legible.Line(s, 64)} {
			if len(got) > 64 || !utf8.ValidString(got) || strings.ContainsAny(got, "\x00\x1b\u202e\u2066\u009b\x7f") {
				t.Fatalf("%q becomes %q", s, got)
			}
			if again := legible.Text(got, 64); again != got {
				t.Fatalf("%q is not what it stays: %q", got, again)
			}
		}
		if legible.Name(s) == nil && legible.Line(s, len(s)) != s {
			t.Fatalf("%q is a name and changes to %q", s, legible.Line(s, len(s)))
		}
		made := legible.JSON([]byte(s))
		if again := legible.JSON(made); !bytes.Equal(again, made) {
			t.Fatalf("%q is not what it stays: %q", made, again)
		}
		if !json.Valid([]byte(s)) {
			return
		}
		var was, is any
		if err := json.Unmarshal([]byte(s), &was); err != nil {
			return
		}
		if err := json.Unmarshal(made, &is); err != nil {
			t.Fatalf("%q becomes %q: %v", s, made, err)
		}
		if !utf8.Valid(made) || reflect.TypeOf(was) != reflect.TypeOf(is) {
			t.Fatalf("%q becomes %q", s, made)
		}
		each(is, func(text string) {
			if strings.ContainsAny(text, "\x00\x1b\u202e\u2066\u009b\x7f") {
				t.Fatalf("%q becomes %q", s, made)
			}
		})
	})
}

// each calls f for every text in a value, names of fields too.
func each(v any, f func(string)) {
	switch v := v.(type) {
	case string:
		f(v)
	case []any:
		for _, item := range v {
			each(item, f)
		}
	case map[string]any:
		for name, item := range v {
			f(name)
			each(item, f)
		}
	}
}
