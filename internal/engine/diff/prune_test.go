package diff

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/itchyny/gojq"
	"pgregory.net/rapid"

	"github.com/slipway-gitops/slipway/internal/engine/jq"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

const jqObject = `{"kind":"Deployment","metadata":{"name":"web","labels":{"app":"web","x/y":"1"},"annotations":{}},
 "spec":{"replicas":3,"paused":false,"note":null,"ratio":0.5,
 "template":{"spec":{
  "initContainers":[{"name":"init","image":"a:1"},{"name":"proxy-init","image":"b:1"}],
  "containers":[{"name":"web","image":"web:1","env":[{"name":"A","value":"1"},{"name":"B","value":"2"}],"ports":[80,443,8080]},
                {"name":"proxy","image":"proxy:2","env":[]}]}}},
 "webhooks":[{"name":"one","clientConfig":{"caBundle":"eHg="}},{"name":"two"}]}`

func jqTree(t *testing.T) map[string]any {
	t.Helper()
	obj, err := object.DecodeJSON([]byte(jqObject))
	if err != nil {
		t.Fatal(err)
	}
	return obj
}

// oracle says what gojq makes of del(text).
func oracle(t interface{ Fatal(args ...any) }, text string, obj map[string]any) (map[string]any, bool) {
	raw, err := json.Marshal(obj)
	if err != nil {
		t.Fatal(err)
	}
	var input any
	if err := json.Unmarshal(raw, &input); err != nil {
		t.Fatal(err)
	}
	query, err := gojq.Parse("del(" + text + ")")
	if err != nil {
		return nil, false
	}
	code, err := gojq.Compile(query)
	if err != nil {
		return nil, false
	}
	v, _ := code.Run(input).Next()
	out, ok := v.(map[string]any)
	return out, ok
}

func deleted(text string, obj map[string]any) (any, error) {
	p, err := jq.Parse(text)
	if err != nil {
		return nil, err
	}
	places, err := p.Places(obj)
	if err != nil {
		return nil, err
	}
	return prune(obj, grove(places, obj)), nil
}

// jqAgreed are expressions that mean here what they mean to jq.
var jqAgreed = []string{
	`.spec.replicas`, `.spec["replicas"]`, `."spec"."replicas"`, `.spec|.replicas`, `.nothing`, `.nothing.deeper`, `.spec.note.deeper`,
	`.spec.template.spec.containers[]`, `.spec.template.spec.containers[].image`, `.spec.template.spec.containers[0]`,
	`.spec.template.spec.containers[-1].env[0].value`, `.spec.template.spec.containers[5]`, `.spec.template.spec.containers[1:]`,
	`.spec.template.spec.containers[:-1]`, `.spec.template.spec.containers[0].ports[1:3]`, `.spec.template.spec.containers[0:1][].env`,
	`.spec.template.spec.containers[0].ports[1:][1:]`, `.spec.template.spec.containers[0].ports[1:][-1]`,
	`.spec.template.spec.initContainers[] | select(.name == "init")`, `.spec.template.spec.initContainers[] | select(.name | startswith("proxy"))`,
	`.spec.template.spec.containers[] | select(.name == "web") | .env[] | select(.name == "B").value`,
	`.webhooks[]?.clientConfig.caBundle`, `.webhooks[].clientConfig?.caBundle?`, `.other[]?`, `.. | .image?`, `..|.caBundle?`,
	`.. | select(type == "number")`, `.spec.template.spec.containers[] | select(.image | test("^proxy:[0-9]+$"))`,
	`.spec.template.spec.containers[] | select(.image | test("WEB"; "i"))`, `.spec.replicas, .spec.paused`, `.spec | (.replicas, .paused)`,
	`.spec.absent // .spec.replicas`, `.spec.paused // .spec.replicas`, `.spec.replicas // .spec.paused`,
	`if .kind == "Deployment" then .spec.replicas else .spec.paused end`, `if .kind == "x" then .spec.replicas elif .spec.replicas > 2 then .spec.note else empty end`,
	`if .spec.paused then .spec end`, `.kind as $k | .spec | select($k == "Deployment") | .replicas`, `.metadata.labels["x/y"]`, `.metadata.labels."x/y"`,
	`.metadata.labels[(.kind | ascii_downcase)]`, `.metadata.labels | .[keys[]]`, `first(.spec.template.spec.containers[])`,
	`limit(1; .webhooks[]) | .name`, `.webhooks | first`, `.webhooks | last | .name`, `getpath(["spec","replicas"])`, `getpath(["spec","no","way"])`,
	`recurse | select(type == "object" and has("env")) | .env`, `.spec.template | recurse(.spec?; . != null) | .containers?`,
	`.webhooks[] | select(has("clientConfig") | not)`, `.webhooks[] | select(.clientConfig.caBundle? and .name != "x")`,
	`.spec.template.spec.containers[] | select(any(.env[]; .name == "A"))`, `.spec.template.spec.containers[] | select([.env[].name] | contains(["A"]))`,
	`.spec.template.spec.containers[] | select(.env | length == 0)`, `.spec.template.spec.containers[] | select(isempty(.env[]))`,
	`.spec.template.spec.containers[] | select(. == {"name":"proxy","image":"proxy:2","env":[]})`, `.spec.template.spec.containers[] | select(contains({name: "pro"}))`,
	`.spec.template.spec.containers[0].ports[] | select(. >= 443)`, `.spec.template.spec.containers[0].ports[] | select(. - 1 < 80 or . + 1 == 8081)`,
	`.spec | objects | .replicas | numbers`, `.spec[] | scalars`, `.spec[] | nulls`, `.spec | to_entries[] | .key`, `.spec.replicas | tostring`,
	`try .spec.replicas.x catch .`, `try error("x") catch .spec`, `.spec.replicas[]`, `.spec.fakeField.foo[]`, `.`, `empty`, `1`, `null`, `"x"`, `[.spec]`,
	`.spec.template.spec.containers[] | select(.name == ("pro" + "xy"))`, `.spec.template.spec.containers[] | select("\(.name)!" == "web!")`,
	`.webhooks[] | select(.clientConfig.caBundle // "" | @base64d == "xx")`, `.webhooks[] | select((.name | split("n") | length) > 1)`,
	`.spec.template.spec.containers[] | select([.ports[]? | tostring] | join(",") | test("80,443"))`,
	`.spec.template.spec.containers[] | select(.env | map(.value) | add == "12")`, `.metadata | with_entries(.)`, `paths`, `.webhooks[1, 0]`,
	`.spec.template.spec.containers[] | select((.ports // []) | all(. > 79) and any) | .ports`, `.metadata.labels | select(keys == ["app", "x/y"]) | .app`,
	`.webhooks[] | select(.name as $n | ["two"] | inside(["one", "two"]) and $n == "two")`,
	`.webhooks[] | select(-1 == -(.name | length) + 2)`, `.webhooks["name"]`, `.spec[0]`, `.kind[0:2]`, `.webhooks[] | .["name"]`, `.webhooks[.spec.replicas - 2]`,
}

func TestPathExpressionsMeanWhatTheyMeanToJQ(t *testing.T) {
	t.Parallel()
	for _, text := range jqAgreed {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			obj := jqTree(t)
			got, err := deleted(text, obj)
			want, ok := oracle(t, text, obj)
			switch {
			case !ok && err == nil && got != nil:
				t.Errorf("jq refuses it; here it gives %v", got)
			case ok && err != nil:
				t.Errorf("%v; to jq it means %v", err, want)
			case ok:
				if diff := cmp.Diff(plainJSON(t, want), plainJSON(t, got)); diff != "" {
					t.Error(diff)
				}
			}
			if diff := cmp.Diff(jqTree(t), obj); diff != "" {
				t.Errorf("the object was changed: %s", diff)
			}
		})
	}
}

func plainJSON(t interface{ Fatal(args ...any) }, v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// anyTree draws a small JSON value.
func anyTree(depth int) *rapid.Generator[any] {
	return rapid.Custom(func(t *rapid.T) any {
		top := 6
		if depth == 0 {
			top = 4
		}
		switch rapid.IntRange(0, top).Draw(t, "sort") {
		case 0:
			return nil
		case 1:
			return rapid.Bool().Draw(t, "bool")
		case 2:
			return rapid.Int64Range(-2, 3).Draw(t, "number")
		case 3, 4:
			return rapid.SampledFrom([]string{"", "a", "b", "web", "x y"}).Draw(t, "text")
		case 5:
			return rapid.SliceOfN(anyTree(depth-1), 0, 4).Draw(t, "list")
		}
		return anyMap(depth).Draw(t, "map")
	})
}

func anyMap(depth int) *rapid.Generator[any] {
	return rapid.Custom(func(t *rapid.T) any {
		m := rapid.MapOfN(rapid.SampledFrom([]string{"a", "b", "c", "name"}), anyTree(depth-1), 0, 4).Draw(t, "fields")
		return map[string]any(m)
	})
}

// anyExpression draws a path expression.
func anyExpression() *rapid.Generator[string] {
	steps := []string{
		".a", ".b", ".c", ".name", "[]", "[]?", "[0]", "[-1]", "[1:]", "[:2]", ".a?", `["b"]`, " | (..)", " | (.)", " | select(.a == 1)",
		" | select(type == \"object\")", " | select(.name? == \"web\")", ", .b", " | (.c? // .b?)", " | first(.[]?)", " | (.a, .b)?", " | if .a? then .b else .c end",
		" | select(has(\"a\")?)", " | recurse(.[]?)", " | values", " | getpath([\"a\",\"b\"])", " | .[.name]?", " | last", " | limit(2; .[]?)",
	}
	return rapid.Custom(func(t *rapid.T) string {
		return "." + strings.TrimPrefix(strings.Join(rapid.SliceOfN(rapid.SampledFrom(steps), 1, 5).Draw(t, "steps"), ""), ".")
	})
}

func TestAnyPathExpressionMeansWhatItMeansToJQ(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := anyExpression().Draw(t, "expression")
		obj, _ := anyMap(4).Draw(t, "object").(map[string]any)
		before := plainJSON(t, obj)
		got, err := deleted(text, obj)
		want, ok := oracle(t, text, obj)
		if errors.Is(err, jq.ErrNoPlace) && strings.Contains(text, "[0]") {
			return // an index of a text, which jq refuses in a path as we do; gojq counts it as one
		}
		// An error ignores nothing, which is what counts.
		if err != nil || got == nil {
			got = obj
		}
		if !ok {
			want = obj
		}
		if plainJSON(t, want) != plainJSON(t, got) {
			t.Fatalf("%v %v; jq: %v %v", got, err, want, ok)
		}
		if plainJSON(t, obj) != before {
			t.Fatal("the object was changed")
		}
	})
}
