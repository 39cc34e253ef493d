package helm

import (
	"fmt"
	"regexp"
	"strings"

	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/strvals"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/legible"
)

// values merges what the user gives, weakest first: value files, values or valuesObject, parameters, parameters with
// forceString, file parameters.
func (j *job) values() (map[string]any, error) {
	files, err := j.valueFiles()
	if err != nil {
		return nil, err
	}
	out := map[string]any{}
	for _, raw := range j.given {
		if err := j.budget.take("values of helmCharts", int64(len(raw))); err != nil {
			return nil, err
		}
		if err := j.mergeDocument(&out, raw); err != nil {
			return nil, fmt.Errorf("read values of helmCharts: %w", err)
		}
	}
	for _, f := range files {
		raw, err := f.read(j.budget)
		if err != nil {
			return nil, err
		}
		if err := j.mergeDocument(&out, raw); err != nil {
			return nil, fmt.Errorf("read value file %s: %w", f, err)
		}
	}
	if raw := inlineValues(j.opts); len(raw) > 0 {
		if err := j.budget.take("spec.source.helm.values", int64(len(raw))); err != nil {
			return nil, err
		}
		if err := j.mergeDocument(&out, raw); err != nil {
			return nil, fmt.Errorf("read spec.source.helm.values: %w", err)
		}
	}
	if err := j.parameters(out); err != nil {
		return nil, err
	}
	return out, nil
}

func inlineValues(o v1alpha1.HelmSource) []byte {
	if o.ValuesObject != nil && len(o.ValuesObject.Raw) > 0 {
		return o.ValuesObject.Raw
	}
	return []byte(o.Values)
}

func (j *job) mergeDocument(into *map[string]any, raw []byte) error {
	j.noteCapabilities(raw)
	vals, err := j.helm.parseValues(raw)
	if err != nil {
		// The library quotes what it could not read, and that can be a secret.
		return fmt.Errorf("not a YAML map: %s", firstLine(err.Error()))
	}
	j.scrub.addValues(vals)
	*into = loader.MergeMaps(*into, vals)
	return nil
}

// parameters sets single values by path, in the order in which helm template takes the options.
func (j *job) parameters(into map[string]any) error {
	for _, force := range []bool{false, true} {
		for _, p := range j.opts.Parameters {
			if p.ForceString != force {
				continue
			}
			j.noteCapabilities([]byte(p.Value))
			j.scrub.add(strings.Split(p.Name, "."), p.Value)
			set := strvals.ParseInto
			if force {
				set = strvals.ParseIntoString
			}
			if err := set(p.Name+"="+escapeSetValue(p.Value), into); err != nil {
				return fmt.Errorf("set parameter %s: the name or the value is malformed; see helm's --set for the syntax", p.Name)
			}
		}
	}
	for _, p := range j.opts.FileParameters {
		f, err := j.resolve(p.Path)
		if err != nil {
			return fmt.Errorf("file parameter %s: %w", p.Name, err)
		}
		raw, err := f.read(j.budget)
		if err != nil {
			return fmt.Errorf("file parameter %s: %w", p.Name, err)
		}
		j.noteCapabilities(raw)
		j.scrub.add(strings.Split(p.Name, "."), string(raw))
		content := func([]rune) (any, error) { return string(raw), nil }
		if err := strvals.ParseIntoFile(p.Name+"=file", into, content); err != nil {
			return fmt.Errorf("set file parameter %s: the name is malformed; see helm's --set-file for the syntax", p.Name)
		}
	}
	return nil
}

// escapeSetValue escapes the commas that helm's --set would take for the end of the value. A {list} keeps its own.
func escapeSetValue(s string) string {
	if strings.HasPrefix(s, "{") && strings.HasSuffix(s, "}") || !strings.Contains(s, ",") {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 8)
	for i := range len(s) {
		if s[i] == ',' && (i == 0 || s[i-1] != '\\') {
			b.WriteByte('\\')
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// quoted matches the piece of a value that the YAML library shows.
var quoted = regexp.MustCompile("`[^`]*`")

func firstLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return legible.Cut(quoted.ReplaceAllString(s, "a value"), 200)
}
