package strict

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

type inner struct {
	Project string          `json:"project"`
	Kind    string          `json:"kind"`
	Status  string          `json:"status,omitempty"`
	Free    json.RawMessage `json:"free,omitempty"`
	Any     any             `json:"any,omitempty"`
}

type outer struct {
	inner
	Spec    inner             `json:"spec"`
	List    []inner           `json:"list"`
	Map     map[string]inner  `json:"map"`
	Labels  map[string]string `json:"labels"`
	Pointer *inner            `json:"pointer"`
	At      time.Time         `json:"at"`
	Data    []byte            `json:"data"`
	Number  json.Number       `json:"number"`
	Hidden  string            `json:"-"`
	Plain   string
}

func TestADocumentHasOneMeaningOrIsRefused(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, raw, want string }{
		{"plain", `{"spec":{"project":"a"},"list":[{"kind":"x"}],"map":{"A":{},"a":{}},"labels":{"app":"1","App":"2"},"Plain":"p","kind":"k"}`, ""},
		{"free parts keep letters apart", `{"spec":{"free":{"Project":1,"project":2},"any":{"Project":1,"project":2}}}`, ""},
		{"pairs of halves", `{"kind":"\ud83d\ude00"}`, ""},
		{"a backslash before u0000", `{"kind":"\\u0000"}`, ""},
		{"null", `null`, ""},
		{"case", `{"spec":{"Project":"a"}}`, "spec: there is no field Project: names are exact, write project"},
		{"case beside", `{"spec":{"project":"a","Project":"b"}}`, "write project"},
		{"case in a list", `{"list":[{},{"KIND":"a"}]}`, "list[1]: there is no field KIND"},
		{"case in a map", `{"map":{"x":{"proJect":"a"}}}`, "map.x: there is no field proJect"},
		{"case behind a pointer", `{"pointer":{"PROJECT":"a"}}`, "write project"},
		{"case of an embedded field", `{"PROJECT":"a"}`, "write project"},
		{"case by an escape", `{"spec":{"\u0050roject":"a"}}`, "write project"},
		{"the Kelvin sign", `{"\u212aind":"a"}`, `there is no field "\u212aind": names are exact, write kind`},
		{"the long s", `{"spec":{"ſtatus":"a"}}`, "write status"},
		{"unknown", `{"spec":{"other":"a"}}`, "spec: there is no field other: leave it out"},
		{"hidden", `{"Hidden":"a"}`, "there is no field Hidden"},
		{"no tag", `{"plain":"a"}`, "write Plain"},
		{"twice", `{"spec":{"project":"a","project":"a"}}`, "spec: the name project comes twice"},
		{"twice by an escape", `{"spec":{"project":"a","pro\u006aect":"a"}}`, "the name project comes twice"},
		{"twice in a free part", `{"spec":{"free":{"a":[{"b":1,"b":2}]}}}`, "spec.free.a[0]: the name b comes twice"},
		{"twice among labels", `{"labels":{"a":"1","a":"2"}}`, "labels: the name a comes twice"},
		{"NUL", `{"kind":"a\u0000b"}`, "kind: a text holds the character NUL"},
		{"NUL as it is", "{\"kind\":\"a\x00b\"}", "kind: a text holds the character NUL"},
		{"NUL in a name", `{"labels":{"a\u0000":"b"}}`, "labels: a text holds the character NUL"},
		{"first half", `{"kind":"\ud83d"}`, "first half"},
		{"first half before a letter", `{"kind":"\ud83d\u0041"}`, "first half"},
		{"second half", `{"kind":"\ude00"}`, "second half"},
		{"no UTF-8", "{\"kind\":\"\xff\"}", "not UTF-8"},
		{"nothing", ``, "there is no JSON"},
		{"two documents", `{} {}`, "something follows"},
		{"a text without its end", `{"kind":"a`, "ends early"},
		{"a wrong escape", `{"kind":"\x41"}`, "no valid JSON at byte"},
		{"a comma too many", `{"kind":"a",}`, "no valid JSON at byte"},
		{"a list without its end", `{"list":[{}`, "ends early"},
		{"a wrong word", `{"kind":nul}`, "no valid JSON"},
		{"a line in a text", "{\"kind\":\"a\nb\"}", "no valid JSON"},
		{"a number with a zero before", `{"number":012}`, "no valid JSON"},
		{"too large a number", `{"spec":{"any":1e400}}`, "spec.any: the number 1e400 is too large"},
		{"too small a number", `{"spec":{"any":1e-400}}`, "too small"},
		{"a number of 1,000 digits", `{"spec":{"any":1` + strings.Repeat("0", 1000) + `}}`, "more than 400 digits"},
		{"a large number", `{"spec":{"any":12345678901234567890}}`, ""},
		{"deep", `{"spec":` + strings.Repeat(`{"any":`, 100), "nests more than 100 times"},
		{"deep lists", strings.Repeat(`[`, 10_000_000), "nests more than 100 times"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var into outer
			expect(t, Decode([]byte(test.raw), &into), test.want)
		})
	}
}

func expect(t *testing.T, err error, want string) {
	t.Helper()
	if want == "" && err != nil {
		t.Errorf("it is refused: %v", err)
	}
	if want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
		t.Errorf("got %v, want %q", err, want)
	}
}

func TestNULIsFoundWhereverItIs(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.SampledFrom([]rune{'\\', 'u', '0', '"', 0, 'a'})).Draw(t, "text")
		data, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		if err := Check(data, nil); (err != nil) != strings.Contains(text, "\x00") {
			t.Errorf("NUL in %s: %v", data, err)
		}
	})
}

func TestUnknownFieldsAreLeftOutWhereThatIsAllowed(t *testing.T) {
	t.Parallel()
	var got outer
	if err := Decode([]byte(`{"spec":{"project":"a","other":{"Project":"b"}}}`), &got, Unknown); err != nil || got.Spec.Project != "a" {
		t.Errorf("got %q and %v", got.Spec.Project, err)
	}
	expect(t, Decode([]byte(`{"spec":{"project":"a","Project":"b"}}`), &got, Unknown), "names are exact")
}

func TestWhatOthersWroteIsReadByExactNames(t *testing.T) {
	t.Parallel()
	var got outer
	raw := []byte(`{"spec":{"project":"a","Project":"b","kind":"x\u0000\ud800"},"list":[{"KIND":"b"}],"\u212aind":"c"}`)
	if err := Decode(raw, &got, Foreign); err != nil {
		t.Fatal(err)
	}
	if got.Spec.Project != "a" || got.Spec.Kind != "x\x00\ufffd" || got.List[0].Kind != "" || got.Kind != "" {
		t.Errorf("got %+v", got)
	}
	if !bytes.Contains(raw, []byte(`"Project"`)) {
		t.Error("the document that was given has changed")
	}
}

func TestAMessageOutlivesOneBadDocumentInIt(t *testing.T) {
	t.Parallel()
	var got outer
	raw := `{"list":[{"free":{"a":"\u0000"}},{"free":` + strings.Repeat("[", 500) + strings.Repeat("]", 500) + `}],"later":1}`
	expect(t, Decode([]byte(raw), &got, Unknown, Envelope), "")
	expect(t, Decode([]byte(`{"List":[]}`), &got, Unknown, Envelope), "names are exact")
	expect(t, Decode([]byte(strings.Repeat("[", 1_000_000)), &got, Envelope), "nests more than 10000 times")
	if err := Check(got.List[0].Free, nil); err == nil {
		t.Error("the bad document is taken by itself")
	}
}

func TestWholeNumbersAreThoseThatKubernetesKeeps(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		`9223372036854775807`:   "",
		`-9223372036854775808`:  "",
		`12345678901234567000`:  "", // what a double is written as
		`1e20`:                  "",
		`12345678901234567890`:  "does not keep",
		`9223372036854775808`:   "does not keep",
		`0.1000000000000000055`: "",
	} {
		expect(t, Check([]byte(raw), nil, WholeNumbers), want)
	}
}

func TestTheNormalFormIsOneFormAndStaysIt(t *testing.T) {
	t.Parallel()
	got, err := Normal([]byte(" {\"b\" : [1e2, 1.0, 12345678901234567890], \"a\":\"\\u003c\\u0041\u2028ü\" } "))
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"a":"\u003cA\u2028ü","b":[1e2,1.0,12345678901234567890]}`; string(got) != want {
		t.Errorf("got %s, want %s", got, want)
	}
	again, err := Normal(got)
	if err != nil || !bytes.Equal(again, got) {
		t.Errorf("the form of the form is %s, %v", again, err)
	}
	wrapped, err := json.Marshal(struct{ In json.RawMessage }{got})
	if err != nil || !bytes.Contains(wrapped, got) {
		t.Errorf("within another document it is %s, %v", wrapped, err)
	}
	if _, err := Normal([]byte(`{"a":1,"a":1}`)); err == nil {
		t.Error("a document that is refused has a form")
	}
}

func TestTheFieldsOfATypeAreThoseOfEncodingJSON(t *testing.T) {
	t.Parallel()
	type a struct {
		X, Both string
		Y       string `json:"y"`
	}
	type b struct {
		Both string
		Z    string `json:"x,omitempty"`
	}
	type all struct {
		a
		*b
		Named a      `json:"a"`
		Odd   string `json:",omitempty"`
		lower string
		Self  *all `json:",omitempty"`
	}
	s := shapeOf(reflect.TypeFor[all]())
	var names []string
	for name := range s.fields {
		names = append(names, name)
	}
	for _, name := range []string{"X", "y", "x", "a", "Odd", "Self"} {
		if _, ok := s.fields[name]; !ok {
			t.Errorf("%s is missing in %v", name, names)
		}
	}
	if len(names) != 6 {
		t.Errorf("the fields are %v", names)
	}
	_ = all{}.lower
}

// FuzzDecodeAgreesWithEncodingJSON looks for documents that are taken here and that encoding/json, which compares names in
// any case, or a decoder into maps, which takes the last of two, understands in another way.
func FuzzDecodeAgreesWithEncodingJSON(f *testing.F) {
	for _, seed := range []string{
		`{"spec":{"project":"a","Project":"b"}}`, `{"spec":{"project":"a","project":"b"}}`, `{"\u212aind":"a"}`, `{"ſpec":{}}`,
		`{"kind":"a\u0000"}`, `{"kind":"\ud800"}`, `{"number":1e400}`, `{"number":12345678901234567890}`, `{"list":[{"kind":"a"}],"map":{"a":{"kind":"b"}}}`,
		`{"spec":{"free":{"a":[1,2,{"b":null}]}}}`, `[]`, `"a"`, `null`, `{"at":"2026-01-02T03:04:05Z","data":"AAAA","labels":{"a":"b"}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		err := Check(raw, nil)
		if err == nil && !json.Valid(raw) {
			t.Fatalf("%q is taken and is no JSON", raw)
		}
		if err != nil {
			return
		}
		normal, err := Normal(raw)
		if err != nil {
			t.Fatalf("%q has no normal form: %v", raw, err)
		}
		if again, err := Normal(normal); err != nil || !bytes.Equal(again, normal) {
			t.Fatalf("the form of %q is %q, and that of the form %q, %v", raw, normal, again, err)
		}
		var read, of outer
		if Decode(raw, &read) != nil {
			return
		}
		if err := Decode(normal, &of); err != nil || !reflect.DeepEqual(shownOf(read), shownOf(of)) {
			t.Fatalf("%q is read as %+v, and its form as %+v, %v", raw, read, of, err)
		}
		var exact map[string]any
		if json.Unmarshal(raw, &exact) != nil {
			return
		}
		spec, _ := exact["spec"].(map[string]any)
		project, _ := spec["project"].(string)
		kind, _ := exact["kind"].(string)
		if project != read.Spec.Project || kind != read.Kind {
			t.Fatalf("%q is read as %+v by fields and %v by names", raw, read, exact)
		}
	})
}

// shownOf is a value as JSON, in which free parts have one form.
func shownOf(v outer) string {
	raw, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	out, err := Normal(raw)
	if err != nil {
		return string(raw)
	}
	return string(out)
}

func BenchmarkCheck(b *testing.B) {
	raw := []byte(`{"list":[` + strings.Repeat(`{"project":"team-a","kind":"Application","free":{"a":[1,2,3],"b":"some text that is longer"}},`, 999) + `{}]}`)
	b.SetBytes(int64(len(raw)))
	for b.Loop() {
		if err := Check(raw, outer{}); err != nil {
			b.Fatal(err)
		}
	}
}
