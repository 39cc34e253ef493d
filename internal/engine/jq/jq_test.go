package jq

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/legible"
)

func TestTheKeysOfAPlaceLeadToIt(t *testing.T) {
	t.Parallel()
	obj, err := object.DecodeJSON([]byte(`{"spec":{"replicas":3},"webhooks":[{"name":"one"},{"name":"two"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string][]string{
		`.webhooks[].name, .spec.replicas`:          {`["spec","replicas"]`, `["webhooks",0,"name"]`, `["webhooks",1,"name"]`},
		`.webhooks[-1:][0]`:                         {`["webhooks",{"From":1,"To":2},0]`},
		`.spec.none, .`:                             {`["spec","none"]`, `[]`},
		`.webhooks[] | select(.name == "two").name`: {`["webhooks",1,"name"]`},
		`empty`: nil,
	} {
		p, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		places, err := p.Places(obj)
		if err != nil || p.String() != text {
			t.Fatalf("%s: %v", p, err)
		}
		var got []string
		for _, place := range places {
			raw, err := json.Marshal(place.Keys())
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, string(raw))
		}
		slices.Sort(got)
		slices.Sort(want)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
	}
}

func TestAValueIsNoPlace(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`1`, `"x"`, `.a + 1`, `[.a]`, `.a | tostring`} {
		p, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Places(map[string]any{"a": int64(1)}); !errors.Is(err, ErrNoPlace) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestAnExpressionThatNeverEndsIsEnded(t *testing.T) {
	t.Parallel()
	deep := map[string]any{}
	for range 500 {
		deep = map[string]any{"a": deep, "text": strings.Repeat("x", 2000)}
	}
	for _, text := range []string{
		`recurse(.)`, `recurse(.; true) | empty`, `.a | select([recurse(.)] | length > 1)`,
		`.a | select([.. | .. | .. | ..] | length == 0)`, `.. | select(([..] | tojson | tojson | tojson | test("x{1,200}y")))`,
		`.a | select(` + strings.Repeat(`[., .] | `, 60) + `tojson == "")`, `.a | select(` + strings.Repeat(`. as $x | [$x, $x] | `, 40) + `. == .)`,
		`select(` + strings.Repeat(`. as $x | "\($x)\($x)" | `, 60) + `length > 1)`, `.a | select("x" | ` + strings.Repeat(`. + . | `, 60) + `length == 0)`,
		strings.Repeat(`.. | `, 9) + `..`,
	} {
		p, err := Parse(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if _, err := p.Places(deep); !errors.Is(err, ErrFuel) {
			t.Errorf("%s: %v", legible.Cut(text, 60), err)
		}
	}
}

func TestWhatIsNoPathExpressionIsRefusedWithTheReason(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		``:                                 "is empty",
		`  `:                               "is empty",
		`.a[`:                              "is not valid jq",
		`.containers[] | select(.n == "x)`: "is not valid jq",
		`.a) | (.b`:                        "is not valid jq",
		`def f: .; f`:                      "defines the function f",
		`import "x" as x; .a`:              "imports a module",
		`reduce .[] as $x (0; . + $x)`:     "is not allowed",
		`.a = 1`:                           "uses the operator =",
		`.a |= 1`:                          "uses the operator |=",
		`.a * 100000`:                      "uses the operator *",
		`env.HOME`:                         "uses the function env/0",
		`$ENV.HOME`:                        "uses $ENV, which is not defined",
		`$x`:                               "uses $x, which is not defined",
		`input`:                            "uses the function input/0",
		`now`:                              "uses the function now/0",
		`halt`:                             "uses the function halt/0",
		`.a | select(IN("one"))`:           "uses the function IN/1",
		`until(true == false; [.] + [1])`:  "uses the function until/2",
		`.a | test("(")`:                   "regular expression",
		`. as [$a] | $a`:                   `only "as $name" is allowed`,
		strings.Repeat("(", 300) + "." + strings.Repeat(")", 300): "nested more than",
		strings.Repeat(".a|", 3000) + ".a":                        "bytes; at most",
	} {
		_, err := Parse(text)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", legible.Cut(text, 60), err, want)
		}
	}
}
