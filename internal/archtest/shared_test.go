package archtest

import (
	"path"
	"regexp"
	"strings"
	"testing"
)

// TestWhatATestMakesForAWholeClusterIsCalledByANameOfItsOwn looks at manifests in tests. They share a cluster with other tests,
// which run at the same time, so a name outside of a namespace has a part that is made for the one test.
func TestWhatATestMakesForAWholeClusterIsCalledByANameOfItsOwn(t *testing.T) {
	t.Parallel()
	found := 0
	eachFile(t, func(name string, content []byte) {
		story := path.Ext(name) == ".txtar" && strings.HasPrefix(name, "test/")
		if strings.HasPrefix(name, "internal/archtest/") || !story && (!strings.HasSuffix(name, "_test.go") || !strings.Contains(string(content), "testenv.Cluster(")) {
			return
		}
		for _, m := range wideNames(string(content)) {
			found++
			if fixed(m.name) {
				t.Errorf("%s: the %s %s has the same name in every run: put ${UNIQUE} of stories, or testenv.Name or testenv.Namespace, into it", name, m.kind, m.name)
			}
		}
	})
	if found < 5 {
		t.Errorf("only %d manifests were found: they are written in another way now", found)
	}
}

// wide is a manifest of a kind without a namespace.
type wide struct{ kind, name string }

var wideManifest = regexp.MustCompile(`kind: "?(Namespace|ClusterRole|ClusterRoleBinding|CustomResourceDefinition|PriorityClass|StorageClass|PersistentVolume|IngressClass|RuntimeClass|ValidatingWebhookConfiguration|MutatingWebhookConfiguration|APIService)"?(?:,\s*|\s*\\n|\s*\n)metadata:\s*(?:\\n|\n)?\s*\{?\s*name:\s*([^,}\n]*)`)

func wideNames(text string) (out []wide) {
	for _, m := range wideManifest.FindAllStringSubmatch(text, -1) {
		out = append(out, wide{m[1], strings.TrimSpace(m[2])})
	}
	return out
}

// fixed is true for a name without a variable, as stories and Go write one.
func fixed(name string) bool {
	return !strings.Contains(name, "$") && !strings.Contains(name, `" +`) && !strings.Contains(name, "%")
}

func TestAFixedNameIsToldFromOneOfItsOwn(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"kind: ClusterRole\nmetadata: {name: all}\n":                true,
		"kind: ClusterRole\nmetadata:\n  name: all\n":               true,
		"{kind: Namespace, metadata: {name: all}}":                  true,
		`"kind: Namespace\nmetadata: {name: all, namespace: \"\"}"`: true,
		"kind: ClusterRole\nmetadata: {name: \"a-${UNIQUE}\"}\n":    false,
		`"kind: Namespace\nmetadata: {name: " + ns + "-made}"`:      false,
		"{kind: Namespace, metadata: {name: \"own-%s\"}}":           false,
	} {
		got := wideNames(text)
		if len(got) != 1 || fixed(got[0].name) != want {
			t.Errorf("%q is read as %q", text, got)
		}
	}
}
