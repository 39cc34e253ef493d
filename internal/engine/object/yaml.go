package object

import (
	"bytes"
	"fmt"

	"sigs.k8s.io/yaml"
)

// YAML returns JSON as YAML. Characters that YAML has no plain form for, and JSON does, are escaped before: an object
// that holds one can be printed, and none of them reaches a terminal.
func YAML(raw []byte) ([]byte, error) {
	var out bytes.Buffer
	out.Grow(len(raw))
	for _, r := range string(raw) { // outside of a string, JSON has none of them
		if r >= 0x7f && r < 0xa0 || r == 0xfeff || r == 0xfffe || r == 0xffff {
			fmt.Fprintf(&out, `\u%04x`, r)
		} else {
			out.WriteRune(r)
		}
	}
	return yaml.JSONToYAML(out.Bytes())
}
