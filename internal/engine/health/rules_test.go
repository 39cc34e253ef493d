package health

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestEveryRuleFileCompiles(t *testing.T) {
	t.Parallel()
	b := &rulebook{names: ruleFileNames}
	for _, name := range slices.Sorted(maps.Keys(b.names())) {
		f := b.file(name)
		if f.err != nil {
			t.Errorf("%s: %v", name, f.err)
			continue
		}
		for _, kind := range slices.Sorted(maps.Keys(f.kinds)) {
			if _, err := f.kinds[kind].compiled(); err != nil {
				t.Errorf("%s, kind %s: %v", name, kind, err)
			}
		}
	}
}

// rulesOfText loads one file from a text.
func rulesOfText(t *testing.T, text string) *loadedKind {
	t.Helper()
	f, err := parseRuleFile([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	b := &rulebook{}
	k := &loadedKind{text: f.Health[0], file: f}
	k.compiled = func() (*block, error) { return b.compile(k) }
	return k
}

func expression(t *testing.T, text string) *loadedKind {
	t.Helper()
	return rulesOfText(t, "group: x.io\nhealth:\n- kinds: [X]\n  let:\n    it: >-\n      "+text+"\n  rules:\n  - {status: Healthy, message: \"${it}\"}\n")
}

func TestExpressionsForgive(t *testing.T) {
	t.Parallel()
	obj := map[string]any{
		"kind": "X", "metadata": map[string]any{"generation": int64(3), "annotations": map[string]any{"a/b": "12"}},
		"spec": map[string]any{"n": int64(2), "f": 2.5, "whole": 4.0, "text": "abc", "on": true, "map": map[string]any{"b": int64(2), "a": int64(1)}},
		"status": map[string]any{"conditions": []any{
			map[string]any{"type": "A", "status": "True", "message": "m"},
			"no map", nil,
			map[string]any{"type": "B", "status": "False"},
		}, "replicas": "3/5"},
	}
	for expr, want := range map[string]string{
		`spec.a.b.c == null`:                      "true",
		`spec.text.a == null`:                     "true",
		`spec.n.a.b`:                              "",
		`has(spec.n) && !has(spec.m)`:             "true",
		`spec.nothing ? "yes" : "no"`:             "no",
		`spec.n && spec.on ? "yes" : "no"`:        "yes",
		`spec.nothing < 1`:                        "true",
		`spec.text < 1`:                           "false",
		`spec.nothing + 1`:                        "1",
		`"n is " + spec.n + spec.nothing`:         "n is 2",
		`spec.f + 1`:                              "3.5",
		`spec.whole`:                              "4",
		`spec.whole == 4`:                         "true",
		`7 / 2`:                                   "3.5",
		`-spec.n`:                                 "-2",
		`[1] + [2] == [1, 2]`:                     "true",
		`size(spec.nothing) + size(spec.text)`:    "3",
		`condition("A").message`:                  "m",
		`condition("Z").message`:                  "",
		`condition(status.other, "A") == null`:    "true",
		`conditions.exists(c, c.type == "B")`:     "true",
		`spec.nothing.exists(c, c.type == "B")`:   "false",
		`spec.text.all(c, false)`:                 "true",
		`spec.map.map(k, k + spec.map[k]).join()`: "a1b2",
		`conditions.filter(c, c.status).map(c, c.type).join(", ")`: "A, B",
		`"b" in spec.map && "B" in ["A", "B"] && !("x" in spec.n)`: "true",
		`conditions[-1].type + conditions[9].type`:                 "B",
		`number(annotations["a/b"]) + 1`:                           "13",
		`capture(status.replicas, "([0-9]+)/([0-9]+)")[1]`:         "5",
		`size(capture(spec.n, "(.)"))`:                             "0",
		`status.replicas.matches("^[0-9]/")`:                       "true",
		`default(spec.nothing, "d") + default(spec.text, "d")`:     "dabc",
		`substring("abcdefghij", 0, 7) + substring("ab", 0, 7)`:    "abcdefgab",
		`sort([3, 1, 2]).map(i, string(i)).join("")`:               "123",
		`sum(values(spec.map)) + max(1, 5) + min(1, 5)`:            "9",
		`upper(spec.text).lower().contains("bc")`:                  "true",
		`split("a,b", ",").last() + reverse(["x", "y"])[0]`:        "by",
		`replace("a-b", "-", "+").startsWith("a+")`:                "true",
		`typeOf(spec.n) + typeOf(spec.map) + typeOf(spec.nothing)`: "numbermapnull",
		`indexes(["a", "b"]).map(i, i + 1) == [1, 2]`:              "true",
		`{"a": 1}.a`: "1",
	} {
		r, ok := expression(t, expr).judge("x.io", "X", obj)
		if !ok || r.Status != Healthy || r.Message != want {
			t.Errorf("%s: got %s, want %q", expr, r, want)
		}
	}
}

func TestAFaultInARuleGivesUnknown(t *testing.T) {
	t.Parallel()
	many := make([]any, 3000)
	for expr, want := range map[string]string{
		`1 / spec.nothing`: "division by zero",
		`it + 1`:           "refers to itself",
		`spec.many.all(a, spec.many.all(b, a == b))`: "too large",
		`spec.unclosed[`:                               "at column",
		`stauts.phase`:                                 "stauts is not a name",
		`frobnicate(spec)`:                             "no function frobnicate",
		`spec.huge.exists(a, a == 1)`:                  "too many",
		`first(spec, status)`:                          "arguments",
		`matches(spec.a, "(")`:                         "pattern of matches",
		`matches(spec.a, spec.b)`:                      "must be a literal",
		`Foo{a: 1}`:                                    "protocol buffers",
		`[[1]].map(a, a.map(b, [b].map(c, c)))[0] + x`: "x is not a name",
	} {
		r, ok := expression(t, expr).judge("x.io", "X", map[string]any{"spec": map[string]any{"many": many, "huge": make([]any, 6000)}})
		if !ok || r.Status != Unknown || !strings.Contains(r.Message, want) || !strings.Contains(r.Message, "x.io/X") {
			t.Errorf("%s: got %s, want Unknown with %q", expr, r, want)
		}
	}
}

func TestOneObjectMayNotCostTooMuchInAll(t *testing.T) {
	t.Parallel()
	k := rulesOfText(t, `{group: x.io, health: [{kinds: [X], rules: [{each: obj.many, rules: [{when: "obj.many.all(m, m == null) && false", status: Healthy}]}]}]}`)
	r, _ := k.judge("x.io", "X", map[string]any{"many": make([]any, 4000)})
	if r.Status != Unknown || !strings.Contains(r.Message, "too large") {
		t.Errorf("got %s", r)
	}
}

func TestRulesThatMakeNoSenseAreRefused(t *testing.T) {
	t.Parallel()
	for rule, want := range map[string]string{
		`{when: "true"}`:                                   "one of status, rules and use",
		`{status: Fine}`:                                   "Fine is no status",
		`{status: Healthy, use: ready}`:                    "one of",
		`{message: m, rules: [{status: Healthy}]}`:         "needs a status",
		`{status: Healthy, message: "${kind"}`:             "has no }",
		`{use: nothing}`:                                   "no set nothing",
		`{use: ready, with: {colour: red}}`:                "no parameter colour",
		`{status: Healthy, with: {a: b}}`:                  "with belongs to use",
		`{each: conditions, status: Healthy}`:              "each and let need rules",
		`{as: c, rules: [{status: Healthy}]}`:              "as belongs to each",
		`{let: {kind: "1"}, rules: [{status: Healthy}]}`:   "another meaning",
		`{each: "[1]", as: kind, rules: [{status: None}]}`: "another meaning",
	} {
		k := rulesOfText(t, "{group: x.io, health: [{kinds: [X], rules: ["+rule+"]}]}")
		if _, err := k.compiled(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", rule, err, want)
		}
	}
}

func TestNothingOfTheLanguageIsMadeForBuiltInKinds(t *testing.T) {
	t.Parallel()
	b := &rulebook{names: ruleFileNames}
	for _, kind := range []struct{ group, kind string }{{"apps", "Deployment"}, {"", "Pod"}, {"example.com", "Widget"}} {
		if k := b.find(kind.group, kind.kind); k != nil || b.compiler != nil || len(b.files) > 0 {
			t.Errorf("%v has rules, or a file was read", kind)
		}
	}
	if b.find("cert-manager.io", "Issuer") == nil || b.compiler != nil || len(b.files) != 1 {
		t.Error("looking rules up reads one file and compiles nothing")
	}
}

// anything draws values that no API server would let through.
func anything(depth int) *rapid.Generator[any] {
	return rapid.Custom(func(t *rapid.T) any {
		last := 10
		if depth == 0 {
			last = 6
		}
		text := rapid.SampledFrom([]string{"", "True", "False", "Unknown", "Ready", "Running", "Failed", "1/2", "x\x00\xff"})
		switch rapid.IntRange(0, last).Draw(t, "shape") {
		case 0:
			return nil
		case 1:
			return rapid.Bool().Draw(t, "bool")
		case 2:
			return rapid.Int64().Draw(t, "int")
		case 3:
			return rapid.Float64().Draw(t, "float")
		case 4, 5, 6:
			return text.Draw(t, "text")
		case 7, 8:
			return rapid.SliceOfN(anything(depth-1), 0, 4).Draw(t, "list")
		}
		field := rapid.SampledFrom([]string{
			"type", "status", "message", "reason", "conditions", "phase", "replicas", "observedGeneration", "state", "ready", "paused",
		})
		return rapid.MapOfN(field, anything(depth-1), 0, 6).Draw(t, "map")
	})
}

func TestNoObjectMakesARulePanic(t *testing.T) {
	t.Parallel()
	b := &rulebook{names: ruleFileNames}
	var kinds []*loadedKind
	var groups []string
	for _, name := range slices.Sorted(maps.Keys(b.names())) {
		f := b.file(name)
		for _, kind := range slices.Sorted(maps.Keys(f.kinds)) {
			kinds, groups = append(kinds, f.kinds[kind]), append(groups, name)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		i := rapid.IntRange(0, len(kinds)-1).Draw(t, "kind")
		obj := map[string]any{
			"kind": "X", "metadata": anything(2).Draw(t, "metadata"), "spec": anything(3).Draw(t, "spec"),
			"status": anything(4).Draw(t, "status"),
		}
		r, ok := kinds[i].judge(groups[i], "X", obj)
		if ok == (r.Status == "") || ok && !isStatus(string(r.Status)) {
			t.Fatalf("%s: assessed %v, %s", groups[i], ok, r)
		}
		if r.Status == Unknown && strings.Contains(r.Message, "runtime error") {
			t.Fatalf("%s: %s", groups[i], r)
		}
	})
}
