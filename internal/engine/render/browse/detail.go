package browse

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/engine/render/document"
	"github.com/slipway-gitops/slipway/internal/legible"
	"github.com/slipway-gitops/slipway/internal/source"
)

// Bounds of what files say.
const (
	maxFile       = 1 << 20 // bytes of a file that is read
	maxParameters = 500
	maxDepth      = 10 // of values
	maxNames      = 200
	maxText       = 300 // bytes of one text
)

// read decodes a small YAML file of a tree.
func read(tree source.Tree, name string, into any) error {
	raw, err := tree.ReadFile(name)
	if err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	if len(raw) > maxFile {
		return fmt.Errorf("%s is larger than %d MiB, so it was not read", name, maxFile>>20)
	}
	asJSON, err := document.ToJSON(raw)
	if err != nil {
		return document.In(name, err)
	}
	if err := json.Unmarshal(asJSON, into); err != nil {
		// The words of the decoder can quote the file.
		return fmt.Errorf("%s does not have the fields that it should have: correct the file", name)
	}
	return nil
}

// text is a text that may be written as a number.
type text string

// UnmarshalJSON takes texts and numbers.
func (t *text) UnmarshalJSON(raw []byte) error {
	var number json.Number
	if json.Unmarshal(raw, &number) == nil {
		*t = text(number.String())
		return nil
	}
	return json.Unmarshal(raw, (*string)(t))
}

// chartOf reads the metadata of a chart, and the names in its values.
func chartOf(tree source.Tree, dir string, entries []source.Entry) (*api.ChartDetails, bool, error) {
	var meta struct{ Name, Version, Description, AppVersion text }
	out := &api.ChartDetails{}
	err := read(tree, path.Join(dir, "Chart.yaml"), &meta)
	if err == nil {
		out.Name, out.Version = cut(meta.Name), cut(meta.Version)
		out.AppVersion, out.Description = cut(meta.AppVersion), cut(meta.Description)
	}
	if !slices.ContainsFunc(entries, func(e source.Entry) bool { return e.Name == "values.yaml" && !e.IsDir() }) {
		return out, false, err
	}
	var values map[string]any
	if wrong := read(tree, path.Join(dir, "values.yaml"), &values); wrong != nil {
		if !errors.Is(wrong, fs.ErrNotExist) {
			err = errors.Join(err, errors.New("the values are not listed: "+withoutQuotes(wrong)))
		}
		return out, false, err
	}
	more := parameters(values, "", 0, &out.Parameters)
	return out, more, err
}

// withoutQuotes says that a values file cannot be read, without what the reader quotes of it.
func withoutQuotes(err error) string {
	var at *document.Error
	if errors.As(err, &at) {
		return fmt.Sprintf("values.yaml:%d cannot be read as YAML", at.Line)
	}
	return err.Error()
}

// parameters collects the names in values, in order; it reports whether there are more than fit into the answer.
func parameters(values map[string]any, prefix string, depth int, into *[]api.ChartParameter) bool {
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if len(*into) >= maxParameters {
			return true
		}
		if len(prefix)+len(key) > maxText || !utf8.ValidString(key) {
			continue // such a name is not written by hand
		}
		name := prefix + strings.NewReplacer(`\`, `\\`, `.`, `\.`, `,`, `\,`, `=`, `\=`, `[`, `\[`).Replace(key)
		below, isMap := values[key].(map[string]any)
		if isMap && len(below) > 0 && depth < maxDepth {
			if parameters(below, name+".", depth+1, into) {
				return true
			}
			continue
		}
		*into = append(*into, api.ChartParameter{Name: name, Type: typeOf(values[key])})
	}
	return false
}

func typeOf(v any) string {
	switch v.(type) {
	case string:
		return "string"
	case bool:
		return "boolean"
	case float64, json.Number:
		return "number"
	case []any:
		return "list"
	case map[string]any:
		return "map"
	}
	return "null"
}

// kustomizationOf reads what a kustomization says.
func kustomizationOf(tree source.Tree, dir string, entries []source.Entry) (*api.KustomizeDetails, error) {
	var k struct {
		NamePrefix, NameSuffix, Namespace string
		Images                            []struct{ Name, NewName, NewTag, Digest text }
		Resources, Bases, Components      []string
	}
	out := &api.KustomizeDetails{}
	at := slices.IndexFunc(entries, func(e source.Entry) bool {
		return !e.IsDir() && slices.Contains([]string{"kustomization.yaml", "kustomization.yml", "Kustomization"}, e.Name)
	})
	if at < 0 {
		return out, nil
	}
	if err := read(tree, path.Join(dir, entries[at].Name), &k); err != nil {
		return out, err
	}
	out.NamePrefix, out.NameSuffix, out.Namespace = cut(k.NamePrefix), cut(k.NameSuffix), cut(k.Namespace)
	for _, image := range k.Images[:min(len(k.Images), maxNames)] {
		out.Images = append(out.Images, api.KustomizeImage{
			Name: cut(image.Name), NewName: cut(image.NewName), NewTag: cut(image.NewTag), Digest: cut(image.Digest),
		})
	}
	out.Resources, out.Components = some(append(k.Resources, k.Bases...)), some(k.Components)
	return out, nil
}

func some(names []string) []string {
	var out []string
	for _, n := range names[:min(len(names), maxNames)] {
		out = append(out, cut(n))
	}
	return out
}

// cut shortens a text from outside.
func cut[T ~string](in T) string {
	return legible.Cut(string(in), maxText)
}
