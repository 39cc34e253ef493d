package diff

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
)

func TestRespectingDifferencesAppliesWhatIsLive(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name                string
		rule                v1alpha1.IgnoreDifference
		desired, live, want string
	}{
		{
			"a field that both have",
			v1alpha1.IgnoreDifference{JSONPointers: []string{"/spec/replicas"}},
			"{spec: {replicas: 1, x: 1}}", "{spec: {replicas: 5, x: 2}}", "{spec: {replicas: 5, x: 1}}",
		},
		{
			"a field that live lacks",
			v1alpha1.IgnoreDifference{JSONPointers: []string{"/spec/replicas"}},
			"{spec: {replicas: 1, x: 1}}", "{spec: {x: 2}}", "{spec: {x: 1}}",
		},
		{
			"a field that is not wanted and not ours",
			v1alpha1.IgnoreDifference{JSONPointers: []string{"/spec/replicas"}},
			"{spec: {x: 1}}", "{spec: {replicas: 5}}", "{spec: {x: 1}}",
		},
		{
			"a field that is not wanted any more and ours",
			v1alpha1.IgnoreDifference{JSONPointers: []string{"/spec/replicas"}},
			"{spec: {x: 1}}", `{metadata: {managedFields: [{manager: slipway, operation: Apply, fieldsV1: {"f:spec": {"f:replicas": {}}}}]}, spec: {replicas: 5}}`,
			"{spec: {x: 1, replicas: 5}}",
		},
		{
			"a map that is ours in part",
			v1alpha1.IgnoreDifference{JSONPointers: []string{"/data"}},
			"{kind: X}", `{metadata: {managedFields: [{manager: slipway, operation: Apply, fieldsV1: {"f:data": {"f:a": {}}}}]}, data: {a: "1", b: "2"}}`,
			`{kind: X, data: {a: "1"}}`,
		},
		{
			"items by their name and not their place",
			v1alpha1.IgnoreDifference{JQPathExpressions: []string{".c[].image"}},
			"{c: [{name: a, image: 1}, {name: new, image: 3}]}", "{c: [{name: b, image: 8}, {name: a, image: 9}]}",
			"{c: [{name: a, image: 9}, {name: new, image: 3}]}",
		},
		{
			"whole items",
			v1alpha1.IgnoreDifference{JQPathExpressions: []string{`.c[] | select(.name == "a")`}},
			"{c: [{name: a, image: 1}, {name: b}]}", "{c: [{name: a, image: 9, more: 1}]}", "{c: [{name: a, image: 9, more: 1}, {name: b}]}",
		},
		{
			"a whole item that live lacks",
			v1alpha1.IgnoreDifference{JSONPointers: []string{"/c/0"}},
			"{c: [{name: a}, {name: b}]}", "{c: [{name: x}, {name: b}]}", "{c: [{name: b}]}",
		},
		{
			"part of a list of texts",
			v1alpha1.IgnoreDifference{JSONPointers: []string{"/args/1"}},
			"{args: [x, y]}", "{args: [x, z]}", "{args: [x, z]}",
		},
		{
			"nothing there",
			v1alpha1.IgnoreDifference{JSONPointers: []string{"/a/b/c", "/args/7/x"}, JQPathExpressions: []string{".a[]"}},
			"{args: [x]}", "{args: [x]}", "{args: [x]}",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.rule.Group, test.rule.Kind = "*", "*"
			desired, live := parsed(t, test.desired), parsed(t, test.live)
			got := ignoring(t, nil, test.rule).For(keyWeb).Respect(desired, live, "slipway")
			if diff := cmp.Diff(parsed(t, test.want), got); diff != "" {
				t.Error(diff)
			}
			if !cmp.Equal(desired, parsed(t, test.desired)) || !cmp.Equal(live, parsed(t, test.live)) {
				t.Error("an object was changed")
			}
		})
	}
}

func TestADryRunThatChangesOnlyWhatDoesNotCountIsEqual(t *testing.T) {
	t.Parallel()
	now := parsed(t, scaled)
	then := parsed(t, strings.NewReplacer(
		"replicas: 7", "replicas: 2", `"f:spec": {"f:template"`, `"f:spec": {"f:replicas": {}, "f:template"`, "subresource: scale", "subresource: other",
	).Replace(scaled))
	pointer := ignoring(t, nil, v1alpha1.IgnoreDifference{Group: "apps", Kind: "Deployment", JSONPointers: []string{"/spec/replicas"}}).For(keyWeb)
	manager := ignoring(t, nil, v1alpha1.IgnoreDifference{Group: "apps", Kind: "Deployment", ManagedFieldsManagers: []string{"hpa"}}).For(keyWeb)
	other := ignoring(t, nil, v1alpha1.IgnoreDifference{Group: "apps", Kind: "Deployment", JSONPointers: []string{"/spec/paused"}}).For(keyWeb)
	if !pointer.Equal(now, then, "slipway") || !manager.Equal(now, then, "slipway") {
		t.Error("what does not count makes a difference")
	}
	if other.Equal(now, then, "slipway") || (*Rules)(nil).Equal(now, then, "slipway") {
		t.Error("what counts makes no difference")
	}
	if !other.Equal(now, now, "slipway") || !(*Rules)(nil).Equal(now, now, "slipway") {
		t.Error("an object differs from itself")
	}
}

// anyRule draws a rule for everything.
func anyRule() *rapid.Generator[v1alpha1.IgnoreDifference] {
	return rapid.Custom(func(t *rapid.T) v1alpha1.IgnoreDifference {
		names := rapid.SampledFrom([]string{"/a", "/b", "/c", "/name", "/0", "/1", "/x~1y"})
		pointer := rapid.Custom(func(t *rapid.T) string { return strings.Join(rapid.SliceOfN(names, 1, 4).Draw(t, "parts"), "") })
		return v1alpha1.IgnoreDifference{
			Group: "*", Kind: "*",
			JSONPointers:      rapid.SliceOfN(pointer, 0, 3).Draw(t, "pointers"),
			JQPathExpressions: rapid.SliceOfN(anyExpression(), 0, 2).Draw(t, "expressions"),
		}
	})
}

func TestRulesKeepTheirPromises(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		g, wrong := NewIgnore([]v1alpha1.IgnoreDifference{anyRule().Draw(t, "rule")}, nil)
		if len(wrong) > 0 {
			t.Fatal(wrong)
		}
		rules := g.For(keyWeb)
		a, _ := anyMap(3).Draw(t, "a").(map[string]any)
		b, _ := anyMap(3).Draw(t, "b").(map[string]any)
		before, other := plainJSON(t, a), plainJSON(t, b)
		rest := rules.Strip(a)
		rules.Respect(a, b, "slipway")
		if plainJSON(t, a) != before || plainJSON(t, b) != other {
			t.Fatal("the object was changed")
		}
		if rules.Strip(a) == nil || plainJSON(t, rules.Strip(a)) != plainJSON(t, rest) {
			t.Fatal("twice the same gives two results")
		}
		if sameValue(rules.Strip(a), rules.Strip(b)) && !sameValue(rules.Strip(rules.Respect(a, b, "slipway")), rules.Strip(a)) && !listed(a, b) {
			t.Fatal("respecting what does not count changed what counts")
		}
		if none := ignoring0(t).For(keyWeb); none != nil {
			t.Fatal("a rule for another kind applies")
		}
	})
}

func ignoring0(t *rapid.T) *Ignore {
	rule := anyRule().Draw(t, "other rule")
	rule.Group, rule.Kind = "batch", "Job*"
	g, _ := NewIgnore([]v1alpha1.IgnoreDifference{rule}, nil)
	return g
}

// listed reports whether lists are about: their items move when some are left out.
func listed(objects ...map[string]any) bool {
	for _, o := range objects {
		for _, v := range o {
			switch v := v.(type) {
			case []any:
				return true
			case map[string]any:
				if listed(v) {
					return true
				}
			}
		}
	}
	return false
}

// unlisted reports whether an object has no lists: an index is another item once items are gone.
func unlisted(v any) bool {
	obj, ok := v.(map[string]any)
	return ok && !listed(obj)
}

func TestStrippingMapsTwiceIsAsStrippingThemOnce(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		rule := anyRule().Draw(t, "rule")
		rule.JQPathExpressions = nil // what is left can be selected anew: "the first item" is another one then
		g, _ := NewIgnore([]v1alpha1.IgnoreDifference{rule}, nil)
		obj, _ := anyMap(3).Filter(unlisted).Draw(t, "object").(map[string]any)
		once := g.For(keyWeb).Strip(obj)
		if !sameValue(once, g.For(keyWeb).Strip(once)) {
			t.Fatalf("%v and %v", once, g.For(keyWeb).Strip(once))
		}
	})
}
