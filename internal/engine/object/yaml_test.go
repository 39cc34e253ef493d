package object

import (
	"encoding/json"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

func TestEveryTextCanBePrintedAsYAMLAndReadAgain(t *testing.T) {
	t.Parallel()
	for r := rune(0); r <= 0x10ffff; r++ {
		if r > 0x200 && r < 0x2000 || r > 0x2100 && r < 0xfef0 || r > 0x10010 && r < 0x10fff0 {
			continue
		}
		want := map[string]string{"a": "b" + string(r) + "c", "k" + string(r): "d"}
		raw, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		text, err := YAML(raw)
		if err != nil {
			t.Fatalf("%U: %v", r, err)
		}
		if r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 {
			if strings.ContainsRune(string(text), r) {
				t.Errorf("%U is printed as it is: %q", r, text)
			}
		}
		var got map[string]string
		if err := yaml.Unmarshal(text, &got); err != nil || got["a"] != want["a"] || got["k"+string(r)] != "d" {
			t.Errorf("%U: %q is read as %q: %v", r, text, got, err)
		}
	}
}
