package support

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/slipway-gitops/slipway/internal/redact"
)

// maxList is how many elements of a list within an item are kept.
const maxList = 200

// fields are those of a document that are kept, each by its path with dots. What is below a field that ends a path is kept
// whole; lists are looked through element by element.
type fields map[string]fields

func keep(paths ...string) fields {
	out := fields{}
	for _, path := range paths {
		at := out
		for name := range strings.SplitSeq(path, ".") {
			if at[name] == nil {
				at[name] = fields{}
			}
			at = at[name]
		}
	}
	return out
}

// of gives what is kept of a value.
func (f fields) of(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if below, ok := f[key]; ok || len(f) == 0 {
				out[key] = below.of(v[key])
			}
		}
		return out
	case []any:
		out := make([]any, 0, min(len(v), maxList+1))
		for i, one := range v {
			if i == maxList {
				out = append(out, fmt.Sprintf("(%d more)", len(v)-maxList))
				break
			}
			out = append(out, f.of(one))
		}
		return out
	case string:
		return redact.URLs(v)
	}
	return v
}

// item is the JSON of what is kept of a value, without secrets.
func (f fields) item(v any) ([]byte, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("encode: %w", err)
	}
	var doc any
	if err := json.Unmarshal(raw, &doc); err != nil {
		return nil, fmt.Errorf("decode: %w", err)
	}
	if raw, err = json.Marshal(f.of(doc)); err != nil {
		return nil, fmt.Errorf("encode: %w", err)
	}
	var out bytes.Buffer
	if err := json.Indent(&out, redact.JSON(raw), "  ", "  "); err != nil {
		return nil, fmt.Errorf("indent: %w", err)
	}
	return out.Bytes(), nil
}

// text is a text without secrets.
func text(s string) string { return redact.Text(redact.URLs(s)) }
