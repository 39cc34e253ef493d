package diff

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/jq"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

func parsed(t *testing.T, text string) map[string]any {
	t.Helper()
	raw, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	obj, err := object.DecodeJSON(raw)
	if err != nil {
		t.Fatal(err)
	}
	return obj
}

func ignoring(t *testing.T, settings map[string]string, rules ...v1alpha1.IgnoreDifference) *Ignore {
	t.Helper()
	set, wrong := ParseSettings(settings)
	if len(wrong) > 0 {
		t.Fatal(wrong)
	}
	g, wrong := NewIgnore(rules, set)
	if len(wrong) > 0 {
		t.Fatal(wrong)
	}
	return g
}

var keyWeb = object.Key{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"}

func TestARuleIsForWhatItNames(t *testing.T) {
	t.Parallel()
	pointer := []string{"/spec/replicas"}
	for _, test := range []struct {
		name string
		rule v1alpha1.IgnoreDifference
		want bool
	}{
		{"its kind", v1alpha1.IgnoreDifference{Group: "apps", Kind: "Deployment"}, true},
		{"the same kind of another group", v1alpha1.IgnoreDifference{Group: "extensions", Kind: "Deployment"}, false},
		{"the same kind of the core group", v1alpha1.IgnoreDifference{Kind: "Deployment"}, false},
		{"another kind", v1alpha1.IgnoreDifference{Group: "apps", Kind: "StatefulSet"}, false},
		{"everything", v1alpha1.IgnoreDifference{Group: "*", Kind: "*"}, true},
		{"a pattern", v1alpha1.IgnoreDifference{Group: "ap?s", Kind: "{Deploy,Replace}ment"}, true},
		{"a pattern with a class", v1alpha1.IgnoreDifference{Group: "[a-c]pps", Kind: "[!E]*"}, true},
		{"a pattern that does not match", v1alpha1.IgnoreDifference{Group: "*", Kind: "*Set"}, false},
		{"its name", v1alpha1.IgnoreDifference{Group: "apps", Kind: "Deployment", Name: "web"}, true},
		{"another name", v1alpha1.IgnoreDifference{Group: "apps", Kind: "Deployment", Name: "api"}, false},
		{"a name is no pattern", v1alpha1.IgnoreDifference{Group: "apps", Kind: "Deployment", Name: "*"}, false},
		{"its namespace", v1alpha1.IgnoreDifference{Group: "apps", Kind: "Deployment", Namespace: "shop"}, true},
		{"its name in another namespace", v1alpha1.IgnoreDifference{Group: "apps", Kind: "Deployment", Name: "web", Namespace: "x"}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.rule.JSONPointers = pointer
			g := ignoring(t, nil, test.rule)
			rules := g.For(keyWeb)
			if (rules != nil) != test.want || rules != g.For(keyWeb) {
				t.Errorf("rules %v, want %v, the same each time", rules, test.want)
			}
		})
	}
}

func TestRulesThatMatchAddUp(t *testing.T) {
	t.Parallel()
	g := ignoring(t, map[string]string{
		"resource.customizations.ignoreDifferences.all":             "jsonPointers: [/metadata/labels/by]",
		"resource.customizations.ignoreDifferences.apps_Deployment": "jqPathExpressions: ['.spec.template.spec.containers[].image']",
		"resource.customizations.ignoreDifferences.ConfigMap":       "jsonPointers: [/data/x]",
	}, v1alpha1.IgnoreDifference{Group: "apps", Kind: "Deployment", Name: "web", JSONPointers: []string{"/spec/replicas"}})
	obj := parsed(t, "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, labels: {by: me, app: web}},\n"+
		" spec: {replicas: 3, template: {spec: {containers: [{name: a, image: b}]}}}}")
	want := parsed(t, "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, labels: {app: web}},\n"+
		" spec: {template: {spec: {containers: [{name: a}]}}}}")
	if diff := cmp.Diff(want, g.For(keyWeb).Strip(obj)); diff != "" {
		t.Error(diff)
	}
	other := keyWeb
	other.Name = "api"
	if got := g.For(other).Strip(obj)["spec"]; !sameValue(got.(map[string]any)["replicas"], int64(3)) {
		t.Errorf("a rule for another name was used: %v", got)
	}
	if a, b := g.For(keyWeb).ID(), g.For(other).ID(); a == b || a == 0 || b == 0 {
		t.Errorf("different rules have IDs %d and %d", a, b)
	}
	if (*Rules)(nil).ID() != 0 || (*Ignore)(nil).For(keyWeb) != nil {
		t.Error("no rules are not the zero ones")
	}
}

func TestEachMistakeIsToldAndTheOtherRulesCount(t *testing.T) {
	t.Parallel()
	g, wrong := NewIgnore([]v1alpha1.IgnoreDifference{
		{Group: "apps"},
		{Group: "[", Kind: "Deployment"},
		{Group: "apps", Kind: "Deployment", JSONPointers: []string{"spec/replicas", "", "/", "/a~2", "/kind", "/spec/paused"}},
		{Group: "apps", Kind: "Deployment", JQPathExpressions: []string{".spec.x[", "now", ".spec.replicas"}},
		{Group: "apps", Kind: "Deployment", ManagedFieldsManagers: []string{"", "hpa"}},
	}, nil)
	want := []string{
		"spec.ignoreDifferences[0]: names no kind", "spec.ignoreDifferences[1]: group", "spec.ignoreDifferences[2].jsonPointers[0]: \"spec/replicas\" does not begin",
		"[2].jsonPointers[1]", "[2].jsonPointers[2]", "[2].jsonPointers[3]", "[2].jsonPointers[4]", "[3].jqPathExpressions[0]: \".spec.x[\" is not valid jq",
		"[3].jqPathExpressions[1]: \"now\" uses the function", "[4].managedFieldsManagers[0]",
	}
	if len(wrong) != len(want) {
		t.Fatalf("%d mistakes, want %d: %v", len(wrong), len(want), wrong)
	}
	for i, w := range want {
		if !strings.Contains(wrong[i].Error(), w) {
			t.Errorf("%v, want %s", wrong[i], w)
		}
	}
	rest := g.For(keyWeb).Strip(parsed(t, "{apiVersion: apps/v1, kind: Deployment, spec: {paused: true, replicas: 1, x: 1}}"))
	if diff := cmp.Diff(map[string]any{"x": int64(1)}, rest["spec"]); diff != "" {
		t.Error(diff)
	}
}

func TestSettingsAreReadAndTheirMistakesTold(t *testing.T) {
	t.Parallel()
	set, wrong := ParseSettings(map[string]string{
		"resource.customizations": "apps/Deployment:\n  health.lua: x\n  ignoreDifferences: |\n    jsonPointers: [/spec/replicas]\n" +
			"'*.example.com/*':\n  knownTypeFields: [{field: spec.cpu, type: core/Quantity}, {field: spec.x, type: a/B}]\na/b/c: {}\n",
		"resource.customizations.ignoreDifferences.apps_StatefulSet": "jsonPointers: [spec]\njqPathExpressions: [.spec]\nmanagers: [x]",
		"resource.customizations.ignoreDifferences.a_b_c":            "{}",
		"resource.customizations.ignoreDifferences.broken":           "[",
		"resource.customizations.health.apps_Deployment":             "return {}",
		"resource.compareoptions":                                    "ignoreResourceStatusField: sometimes\nignoreAggregatedRoles: true",
		"resource.sensitive.mask.annotations":                        "one, two,,",
		"url":                                                        "https://example.com",
	})
	want := []string{
		"resource.compareoptions: ignoreResourceStatusField is \"sometimes\"", "type \"a/B\" is not known", "\"a/b/c\" is no kind",
		"\"a_b_c\" is no kind", "broken: is not the YAML", "apps_StatefulSet: holds what is not understood", "apps_StatefulSet: jsonPointers[0]: \"spec\"",
	}
	var all strings.Builder
	for _, err := range wrong {
		all.WriteString(err.Error() + "\n")
	}
	for _, w := range want {
		if !strings.Contains(all.String(), w) {
			t.Errorf("nothing says %s:\n%s", w, all.String())
		}
	}
	if len(wrong) != len(want) {
		t.Errorf("%d mistakes, want %d:\n%s", len(wrong), len(want), all.String())
	}
	if diff := cmp.Diff([]string{"one", "two"}, set.Mask); diff != "" || set.Status != "all" {
		t.Error(diff, set.Status)
	}
	g, _ := NewIgnore(nil, set)
	for key, yes := range map[object.Key]bool{
		keyWeb: true, {Group: "apps", Kind: "StatefulSet"}: true, {Group: "x.example.com", Kind: "Any"}: true, {Group: "apps", Kind: "DaemonSet"}: false,
		{Group: "rbac.authorization.k8s.io", Kind: "ClusterRole"}: true, {Group: "argoproj.io", Kind: "Rollout"}: true, {Kind: "broken"}: false,
	} {
		if got := g.For(key); (got != nil) != yes {
			t.Errorf("%s: %v", key, got)
		}
	}
	if !g.Made(nil, set) || g.Made(nil, nil) || g.Made([]v1alpha1.IgnoreDifference{{Kind: "x"}}, set) {
		t.Error("an Ignore does not know what it was made of")
	}
}

func TestAggregatedRolesAreFilledByOthers(t *testing.T) {
	t.Parallel()
	rules := ignoring(t, map[string]string{"resource.compareoptions": "ignoreAggregatedRoles: true"}).
		For(object.Key{Group: "rbac.authorization.k8s.io", Kind: "ClusterRole", Name: "a"})
	obj := parsed(t, "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, aggregationRule: {}, rules: [{verbs: [get]}]}")
	if _, has := rules.Strip(obj)["rules"]; has {
		t.Error("they count")
	}
	delete(obj, "aggregationRule")
	if _, has := rules.Strip(obj)["rules"]; !has {
		t.Error("those of a plain role do not count")
	}
}

func TestKnownTypesHaveOneSpelling(t *testing.T) {
	t.Parallel()
	settings := map[string]string{
		"resource.customizations.knownTypeFields.example.com_App": "- {field: spec.template, type: core/v1/PodSpec}\n" +
			"- {field: spec.limits, type: core/v1/ResourceList}\n- {field: spec.sizes.of, type: core/Quantity}\n- {field: spec.wait, type: meta/v1/Duration}\n" +
			"- {field: spec.res, type: core/v1/ResourceRequirements}",
	}
	rules := ignoring(t, settings).For(object.Key{Group: "example.com", Kind: "App"})
	a := parsed(t, `{spec: {template: {containers: [{resources: {limits: {cpu: 1000m}}, env: [], x: null}]}, limits: {cpu: "0.1"},
  sizes: [{of: 1024Mi}], wait: 60m, res: {requests: {memory: 1000Mi}}, other: 1000m}}`)
	b := parsed(t, `{spec: {template: {containers: [{resources: {limits: {cpu: 1}}}]}, limits: {cpu: 100m},
  sizes: [{of: 1Gi}], wait: 1h0m0s, res: {requests: {memory: 1000Mi}}, other: 1000m}}`)
	if diff := cmp.Diff(rules.Strip(b), rules.Strip(a)); diff != "" {
		t.Error(diff)
	}
	b["spec"].(map[string]any)["other"] = "1"
	if sameValue(rules.Strip(a), rules.Strip(b)) {
		t.Error("a field that has no known type was normalized")
	}
	rollout := ignoring(t, nil).For(object.Key{Group: "argoproj.io", Kind: "Rollout"})
	c := parsed(t, `{spec: {template: {spec: {containers: [{resources: {limits: {cpu: 0.1}}}]}}}}`)
	d := parsed(t, `{spec: {template: {spec: {containers: [{resources: {limits: {cpu: 100m}}}]}}}}`)
	if !sameValue(rollout.Strip(c), rollout.Strip(d)) {
		t.Error("the pod template of a Rollout is not known")
	}
}

// scaled is a Deployment that an autoscaler scales and into which an injector put a container.
const scaled = `
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  labels: {app: web}
  managedFields:
  - {manager: slipway, operation: Apply, apiVersion: apps/v1, fieldsV1: {"f:metadata": {"f:labels": {"f:app": {}}}, "f:spec": {"f:template": {"f:spec": {"f:containers":
      {"k:{\"name\":\"web\"}": {".": {}, "f:name": {}}}}}}}}
  - {manager: hpa, operation: Update, apiVersion: apps/v1, subresource: scale, fieldsV1: {"f:spec": {"f:replicas": {}}}}
  - {manager: injector, operation: Update, apiVersion: apps/v1, fieldsV1: {"f:spec": {"f:template": {"f:spec": {"f:containers":
      {"k:{\"name\":\"web\"}": {".": {}, "f:name": {}, "f:image": {}}}}}}}}
spec:
  replicas: 7
  template: {spec: {containers: [{name: web, image: "mirror/web:1"}]}}
`

const wantedScaled = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, labels: {app: web}},
  spec: {replicas: 2, template: {spec: {containers: [{name: web, image: "web:1"}]}}}}`

func TestWhatNamedManagersOwnDoesNotCount(t *testing.T) {
	t.Parallel()
	live, desired := parsed(t, scaled), parsed(t, wantedScaled)
	g := ignoring(t, nil, v1alpha1.IgnoreDifference{Group: "*", Kind: "*", ManagedFieldsManagers: []string{"hpa", "injector"}})
	rules := g.For(keyWeb)
	bound := rules.Of(live)
	owned, _ := OwnedFields(live, "slipway")
	if !bound.Match(desired, live, owned) {
		t.Errorf("they count: %v and %v", bound.Strip(desired), bound.Strip(live))
	}
	if !bound.Same(rules.OfHolders(Holders(live))) || bound.Same(rules) || bound.ID() != rules.ID() {
		t.Error("rules that are bound by holders are not the same as those bound by the object")
	}
	containers, _ := element(bound.Strip(live), "spec", "template", "spec", "containers")
	if diff := cmp.Diff([]any{map[string]any{"name": "web"}}, containers); diff != "" {
		t.Errorf("what identifies an item must stay: %s", diff)
	}
	one := ignoring(t, nil, v1alpha1.IgnoreDifference{Group: "*", Kind: "*", ManagedFieldsManagers: []string{"hpa"}}).For(keyWeb).Of(live)
	if one.Match(desired, live, owned) {
		t.Error("the image is owned by a manager that is not named, and does not count")
	}
	got := rules.Respect(desired, live, "slipway")
	want := parsed(t, `{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, labels: {app: web}},
  spec: {replicas: 7, template: {spec: {containers: [{name: web, image: "mirror/web:1"}]}}}}`)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func element(value any, path ...string) (any, bool) {
	for _, p := range path {
		m, _ := value.(map[string]any)
		var ok bool
		if value, ok = m[p]; !ok {
			return nil, false
		}
	}
	return value, true
}

func TestAnExpressionThatIsTooDearIsToldAndIgnoresNothing(t *testing.T) {
	t.Parallel()
	g := ignoring(t, nil, v1alpha1.IgnoreDifference{Group: "apps", Kind: "*", JQPathExpressions: []string{"recurse(.)"}, JSONPointers: []string{"/b"}})
	obj := map[string]any{"a": int64(1), "b": int64(2)}
	if diff := cmp.Diff(map[string]any{"a": int64(1)}, g.For(keyWeb).Strip(obj)); diff != "" {
		t.Error(diff)
	}
	problems := g.Problems()
	if len(problems) != 1 || !errors.Is(problems[0], jq.ErrFuel) || !strings.Contains(problems[0].Error(), `"recurse(.)" takes too many steps`) {
		t.Errorf("%v", problems)
	}
}

func TestAWholeObjectCannotBeIgnored(t *testing.T) {
	t.Parallel()
	g := ignoring(t, nil, v1alpha1.IgnoreDifference{Group: "apps", Kind: "*", JQPathExpressions: []string{".", "select(.a) | ., .a"}})
	obj := map[string]any{"a": int64(1)}
	if diff := cmp.Diff(obj, g.For(keyWeb).Strip(obj)); diff != "" || len(g.Problems()) != 1 {
		t.Error(diff, g.Problems())
	}
}

func TestRulesCanBeUsedByMany(t *testing.T) {
	t.Parallel()
	g := ignoring(t, nil, v1alpha1.IgnoreDifference{Group: "*", Kind: "*", Name: "web", JQPathExpressions: []string{".spec.a | select(true)", "1"}})
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			key := object.Key{Group: "apps", Kind: strings.Repeat("x", i%3), Name: "web"}
			for range 50 {
				if got := g.For(key).Strip(map[string]any{"spec": map[string]any{"a": int64(1)}}); len(got["spec"].(map[string]any)) > 0 {
					t.Error(got)
				}
				g.Problems()
			}
		})
	}
	all.Wait()
}

func FuzzIgnoreRules(f *testing.F) {
	for _, text := range jqAgreed {
		f.Add("/spec/replicas", text, "apps", "Deploy*")
	}
	f.Add("/a~1b/0/-", "recurse(.)", "[a-z", "{a,b}")
	f.Add("", "", "", "")
	f.Add("/spec/template/spec/containers/0/env/1", `.. | .a?`, `\`, "[!]")
	f.Fuzz(func(t *testing.T, pointer, expression, group, kind string) {
		g, _ := NewIgnore([]v1alpha1.IgnoreDifference{
			{Group: group, Kind: kind, JSONPointers: []string{pointer}, JQPathExpressions: []string{expression}},
			{Group: "apps", Kind: "Deployment", JSONPointers: []string{pointer}, JQPathExpressions: []string{expression}},
		}, nil)
		obj := jqTree(t)
		rules := g.For(keyWeb)
		rules.Strip(obj)
		rules.Respect(obj, obj, "slipway")
		if diff := cmp.Diff(jqTree(t), obj); diff != "" {
			t.Error(diff)
		}
		ParseSettings(map[string]string{"resource.customizations": expression, keyIgnore + "all": pointer + "\n" + expression, keyKnown + group: expression})
	})
}
