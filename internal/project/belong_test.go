package project

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// belongs asks about a resource as JSON.
func belongs(t *testing.T, raw string) string {
	t.Helper()
	var resource map[string]any
	if err := json.Unmarshal([]byte(raw), &resource); err != nil {
		t.Fatalf("%v: %s", err, raw)
	}
	name, sole := Belongs(resource)
	if !sole {
		return "any"
	}
	return name
}

func TestAResourceBelongsToTheProjectThatItNames(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		`{"kind":"Application","spec":{"project":"a"}}`:                    "a",
		`{"kind":"Application","spec":{"Project":"a"}}`:                    "default",
		`{"kind":"Application","spec":{"project":""}}`:                     "default",
		`{"kind":"Application"}`:                                           "default",
		`{"kind":"Application","spec":{"project":["a"]}}`:                  "any",
		`{"kind":"AppProject","metadata":{"name":"a"}}`:                    "a",
		`{"kind":"AppProject"}`:                                            "any",
		`{"kind":"ApplicationSet"}`:                                        "default",
		`{"kind":"ApplicationSet","spec":{"template":{"spec":{}}}}`:        "default",
		`{"kind":"ApplicationSet","spec":{"template":{"spec":"a"}}}`:       "any",
		`{"kind":"ApplicationSet","spec":{"template":[],"generators":[]}}`: "any",
	} {
		if got := belongs(t, raw); got != want {
			t.Errorf("%s belongs to %s, want %s", raw, got, want)
		}
	}
}

// TestASetThatCanMakeApplicationsOfOtherProjectsBelongsToNone holds for every way in which a template can write a name: what
// could set the project is enough, whatever it looks like.
func TestASetThatCanMakeApplicationsOfOtherProjectsBelongsToNone(t *testing.T) {
	t.Parallel()
	const plain = `"template":{"spec":{"project":"a"}}`
	set := func(spec string) string { return `{"kind":"ApplicationSet","spec":{` + spec + `}}` }
	within := func(generator string) []string {
		return []string{
			generator,
			`{"matrix":{"generators":[{"list":{"elements":[]}},` + generator + `]}}`,
			`{"merge":{"mergeKeys":["x"],"generators":[` + generator + `]}}`,
			`{"matrix":{"generators":[{"merge":{"generators":[` + generator + `]}}]}}`,
		}
	}
	for _, ok := range []string{
		plain, plain + `,"goTemplate":true,"templatePatch":""`, plain + `,"templatePatch":null`,
		plain + `,"generators":[{"list":{"elements":[{"template":{"spec":{"project":"b"}},"project":"b"}]}}]`,
		plain + `,"generators":[{"git":{"repoURL":"x","template":{"metadata":{"name":"x"},"spec":{"project":"a"}}},"selector":{"matchLabels":{"template":"b"}}}]`,
		plain + `,"generators":[{"matrix":{"generators":[{"clusters":{}},{"merge":{"mergeKeys":[],"generators":[{"list":{"elements":[]}}]}}]}}]`,
	} {
		if got := belongs(t, set(ok)); got != "a" {
			t.Errorf("%s belongs to %s, want a", ok, got)
		}
	}
	bad := []string{
		`"template":{"spec":{"project":"{{project}}"}}`, `"template":{"spec":{"project":"a{{ x }}"}}`, `"template":{"spec":{"project":"A"}}`,
		`"template":{"spec":{"project":1}}`, `"template":{"spec":{"project":"a","other":1}}`,
		plain + `,"templatePatch":"{\"spec\":{\"pro\\x6aect\":\"b\"}}"`, plain + `,"templatePatch":"x"`, plain + `,"templatePatch":{}`, plain + `,"templatePatch":[]`,
		plain + `,"later":{"project":"b"}`, plain + `,"generators":{}`, plain + `,"generators":["x"]`,
	}
	for _, template := range []string{
		`{"spec":{"project":"b"}}`, `{"spec":{"project":"{{x}}"}}`, `{"spec":{"Project":"b"}}`, `{"Spec":{"project":"b"}}`, `{"ſpec":{}}`, `{"spec":"x"}`, `"x"`, `[]`, `{"spec":{"project":{}}}`,
	} {
		for _, kind := range append(simpleGenerators(), "matrix", "merge", "later", "List") {
			for _, one := range within(fmt.Sprintf(`{%q:{"template":%s}}`, kind, template)) {
				bad = append(bad, plain+`,"generators":[`+one+`]`)
			}
		}
		for _, one := range within(`{"matrix":{"Generators":[{"list":{"template":` + template + `}}]}}`) {
			bad = append(bad, plain+`,"generators":[`+one+`]`)
		}
	}
	for _, spec := range bad {
		if got := belongs(t, set(spec)); got != "any" {
			t.Errorf("%s belongs to %s, want any", strings.TrimSpace(spec), got)
		}
	}
}
