package kustomize_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	kubeyaml "k8s.io/apimachinery/pkg/util/yaml"
	"pgregory.net/rapid"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// built returns the text under the key k of the only object of a kustomization.
func built(t *testing.T, files map[string]string) (string, error) {
	t.Helper()
	res, err := build(t, files, nil)
	if err != nil {
		return "", err
	}
	if len(res.Objects) != 1 {
		return "", fmt.Errorf("%d objects", len(res.Objects))
	}
	var obj struct{ Data struct{ K any } }
	if err := json.Unmarshal(res.Objects[0].JSON, &obj); err != nil {
		t.Fatal(err)
	}
	text, _ := obj.Data.K.(string)
	return text, nil
}

// configMap is a kustomization with one ConfigMap that has a value, in the YAML of which it is written.
func configMap(value string) map[string]string {
	return map[string]string{
		"app/kustomization.yaml": "resources: [cm.yaml]\n",
		"app/cm.yaml":            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  k: " + value,
	}
}

// The expected texts are what "kustomize build" of version 5.8.1 prints, read by kubectl. Some differ from what the file
// says: printing a folded text adds lines to it.
func TestTextIsThatWhichTheCommandPrints(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{
		"|\n    hello":                      "hello",
		"|\n    hello\n":                    "hello\n",
		"|+\n    hello\n\n":                 "hello\n\n",
		"|-\n    hello\n":                   "hello",
		">\n    one\n    two\n":             "one two\n",
		">\n    one\n      more\n    end\n": "one\n\n  more\nend\n",
		">+\n    one\n    \n":               "one\n\n\n",
		"\"a\\u0085b\"\n":                   "a b",
		"'trailing '\n":                     "trailing ",
		"\"" + strings.Repeat("word ", 60) + " two  spaces \"\n": strings.Repeat("word ", 60) + " two  spaces ",
	} {
		t.Run(fmt.Sprintf("%.40q", value), func(t *testing.T) {
			t.Parallel()
			got, err := built(t, configMap(value))
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("(-command +ours):\n%s", d)
			}
		})
	}
}

// The whole of what the command prints, read by kubectl's decoder, against each object read here.
func TestAnyTextIsThatWhichTheCommandPrints(t *testing.T) {
	t.Parallel()
	pieces := []string{"a", "word ", " ", "  ", "\n    ", "\n      ", "long words that fill a line with much text so that it folds ", "# x", ": ", "'", "\\", "é", "1", "\u2028", "\u0085", "😀"}
	rapid.Check(t, func(rt *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 12).Draw(rt, "pieces"), "")
		style := rapid.SampledFrom([]string{"|\n    ", "|+\n    ", ">\n    ", ">+\n    ", ">-\n    ", ""}).Draw(rt, "style")
		files := configMap(style + text + "\n")
		onDisk := filesys.MakeFsInMemory()
		for name, content := range files {
			if err := onDisk.WriteFile("/"+name, []byte(content)); err != nil {
				rt.Fatal(err)
			}
		}
		opts := krusty.MakeDefaultOptions()
		opts.Reorder = krusty.ReorderOptionUnspecified
		out, err := krusty.MakeKustomizer(opts).Run(onDisk, "/app")
		if err != nil {
			return
		}
		printed, err := out.AsYaml()
		if err != nil {
			return
		}
		var ext runtime.RawExtension
		if err := kubeyaml.NewYAMLOrJSONDecoder(bytes.NewReader(printed), 4096).Decode(&ext); errors.Is(err, io.EOF) || err != nil {
			return
		}
		res, err := build(t, files, nil)
		if err != nil {
			rt.Fatalf("%q is refused: %v", files["app/cm.yaml"], err)
		}
		var want, got any
		if err := errors.Join(json.Unmarshal(ext.Raw, &want), json.Unmarshal(res.Objects[0].JSON, &got)); err != nil {
			rt.Fatal(err)
		}
		if d := cmp.Diff(want, got); d != "" {
			rt.Fatalf("%q (-command +ours):\n%s", files["app/cm.yaml"], d)
		}
	})
}

// Argo CD's Kustomize is 5.8.1. A later one leaves the templates of volume claims alone; for a StatefulSet that exists that is
// a change of a field that cannot be changed.
func TestLabelsReachTheTemplatesOfClaims(t *testing.T) {
	t.Parallel()
	res, err := build(t, map[string]string{
		"app/kustomization.yaml": "resources: [db.yaml]\nlabels: [{pairs: {team: red}, includeTemplates: true}]\n",
		"app/db.yaml":            "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: db}\nspec: {volumeClaimTemplates: [{metadata: {name: data}}]}\n",
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := string(res.Objects[0].JSON); !strings.Contains(got, `"volumeClaimTemplates":[{"metadata":{"labels":{"team":"red"},"name":"data"}}]`) {
		t.Errorf("got %s", got)
	}
}
