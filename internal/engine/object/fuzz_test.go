package object

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

// An object that is read and written is the same object for whoever reads it next.
func FuzzDecodeObject(f *testing.F) {
	for _, text := range []string{`{"a":1,"A":2}`, `{"a":1,"a":2}`, `{"n":9223372036854775807,"m":1e3,"o":-0}`, `{"a":"\ud800"}`, "{\"a\":\"\x00\"}", `null`, `[]`, `{}{}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		obj, err := DecodeJSON(raw)
		if err != nil {
			return
		}
		once, err := json.Marshal(obj)
		if err != nil {
			t.Fatal(err)
		}
		again, err := DecodeJSON(once)
		if err != nil {
			t.Fatalf("%s is not read again: %v", once, err)
		}
		if twice, err := json.Marshal(again); err != nil || string(twice) != string(once) {
			t.Errorf("%s became %s", once, twice)
		}
	})
}

// An object is of the Application that marked it, and of no other.
func FuzzTrackingID(f *testing.F) {
	f.Add("shop", "apps", "Deployment", "shop", "web", "shop:apps/Deployment:shop/web")
	f.Add("a", "", "ClusterRole", "", "system:x/y", "a:b:/ClusterRole:/x")
	f.Add("argocd_web", "g", "K", "n", "", ":::/:/")
	f.Fuzz(func(t *testing.T, app, group, kind, namespace, name, foreign string) {
		k := Key{Group: group, Kind: kind, Namespace: namespace, Name: name}
		if by, ok := TrackedBy(foreign, k); ok && by == "" {
			t.Errorf("%q is of an Application without a name", foreign)
		}
		if app == "" || strings.Contains(app, ":") || strings.ContainsAny(group+kind, ":/") || strings.Contains(namespace, "/") {
			return // names have none of these
		}
		if by, ok := TrackedBy(TrackingID(app, k, "dest"), k); !ok || by != app {
			t.Errorf("%v of %q is taken for that of %q", k, app, by)
		}
		other := k
		other.Name += "x"
		if by, ok := TrackedBy(TrackingID(app, k, "dest"), other); ok {
			t.Errorf("%v is taken for one of %q", other, by)
		}
	})
}

// What is shown of a foreign text is short, on its line, and text.
func FuzzShortTexts(f *testing.F) {
	f.Add("plain", 10)
	f.Add("a\x00\u202eb\xff\r\nc", 3)
	f.Add(strings.Repeat("é", 100), 7)
	f.Add("", 0)
	f.Fuzz(func(t *testing.T, text string, most int) {
		most = 1 + max(most, -(most+1))%500
		if out := Brief(text, most); utf8.RuneCountInString(out) > most || strings.ContainsAny(out, "\n\r\t") || !utf8.ValidString(out) {
			t.Errorf("Brief of %q is %q", text, out)
		}
		if out := Line(text); strings.ContainsAny(out, "\n\r\t\x00\u202e\u2066") {
			t.Errorf("Line of %q is %q", text, out)
		}
		if out := Lines(text, most); len(out) > most || strings.ContainsAny(out, "\x00\u202e\u2066\r") || !utf8.ValidString(out) {
			t.Errorf("Lines of %q is %q", text, out)
		}
		if out := Middle(text, most); len(text) > most && (len(out) > most+len(" … ") || !utf8.ValidString(out)) {
			t.Errorf("Middle of %q is %q", text, out)
		}
	})
}
