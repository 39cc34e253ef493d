package diff

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// A pattern for groups and kinds is answered in time, and one without special characters means itself.
func FuzzGroupPattern(f *testing.F) {
	for _, both := range [][2]string{{"*.example.io", "a.example.io"}, {"{a,b*}{c,}", "bc"}, {"[!a-z]", "é"}, {"[a", "a"}, {`\*`, "*"}, {strings.Repeat("*a", 60), strings.Repeat("a", 300)}} {
		f.Add(both[0], both[1])
	}
	f.Fuzz(func(t *testing.T, pattern, name string) {
		begun := time.Now()
		g, err := compileGlob(pattern)
		if err != nil {
			return
		}
		matches := g.match(name)
		if !strings.ContainsAny(pattern, `*?[]{}\`) && matches != (pattern == name) {
			t.Errorf("%q and %q: %v", pattern, name, matches)
		}
		if d := time.Since(begun); d > 2*time.Second {
			t.Errorf("it took %v", d)
		}
	})
}

// What the exclusions name stays excluded, whatever the inclusions are.
func FuzzExclusions(f *testing.F) {
	f.Add("[{apiGroups: ['*.k8s.io'], kinds: [NetworkPolicy], clusters: ['*']}]", "", "networking.k8s.io", "NetworkPolicy")
	f.Add("", "[{apiGroups: ['', apps]}]", "", "ConfigMap")
	f.Add("[{}]", "[{kinds: ['*']}]", "a", "B")
	f.Add("- apiGroups: ['{a,b}*', '[!c]']\n  kinds:\n", "&a [*a]", "bc", "D")
	f.Fuzz(func(t *testing.T, exclusions, inclusions, group, kind string) {
		const server = "https://kubernetes.default.svc"
		of := object.Kind{Group: group, Kind: kind}
		both, err := ParseExclusions(map[string]string{KeyExclusions: exclusions, KeyInclusions: inclusions})
		if err != nil {
			return
		}
		alone, err := ParseExclusions(map[string]string{KeyExclusions: exclusions})
		if err != nil {
			t.Fatalf("they can be read together, and not alone: %v", err)
		}
		if alone.Excludes(of, server) && !both.Excludes(of, server) {
			t.Errorf("%+v is excluded, and the inclusions take it in", of)
		}
	})
}

// No value of a Secret is shown, wherever it stands in it.
func FuzzMaskOfASecret(f *testing.F) {
	f.Add([]byte(`{"data":{"token":"VALUE"}}`), []byte(`{"data":{"token":"VALUE"},"stringData":{"a":"PLAIN"}}`))
	f.Add([]byte(`{"metadata":{"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"{\"kind\":\"Secret\",\"apiVersion\":\"v1\",\"data\":{\"a\":\"VALUE\"}}"}}}`), []byte(`{"data":"VALUE"}`))
	f.Add([]byte(`{"data":{"a":["VALUE"],"b":{"c":"VALUE"},"VALUE":null}}`), []byte(`{"stringData":["PLAIN"]}`))
	const plain = "a planted value"
	coded := base64.StdEncoding.EncodeToString([]byte(plain))
	planted := strings.NewReplacer("VALUE", coded, "PLAIN", plain)
	f.Fuzz(func(t *testing.T, first, second []byte) {
		var objs [2]map[string]any
		for i, raw := range [][]byte{first, second} {
			if json.Unmarshal([]byte(planted.Replace(string(raw))), &objs[i]) != nil || objs[i] == nil {
				return
			}
			for name := range objs[i] {
				if name != "data" && name != "stringData" { // the rest is not secret
					delete(objs[i], name)
				}
			}
			if data, ok := objs[i]["data"].(map[string]any); ok {
				delete(data, coded) // names of keys are shown
				delete(data, plain)
			}
			if data, ok := objs[i]["stringData"].(map[string]any); ok {
				delete(data, coded)
				delete(data, plain)
			}
			objs[i]["apiVersion"], objs[i]["kind"] = "v1", "Secret"
		}
		a, b := Mask(objs[0], objs[1], nil)
		for _, obj := range []map[string]any{a, b} {
			shown, err := json.Marshal(obj)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(shown), coded) || strings.Contains(string(shown), plain) {
				t.Errorf("%s and %s are shown as %s", first, second, shown)
			}
		}
	})
}
