package health

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/gobwas/glob"
	"sigs.k8s.io/yaml"
)

// Keys of the ConfigMap argocd-cm.
const (
	customizationsKey = "resource.customizations" // kinds with all that is customized of them, as one text
	healthKey         = customizationsKey + ".health."
	openLibsKey       = customizationsKey + ".useOpenLibs."
)

// Limits of what a user may override.
const (
	maxPattern   = 256
	maxOverrides = 2000
)

// customization is what is read here of one kind in resource.customizations.
type customization struct {
	HealthLua   string `json:"health.lua"`
	UseOpenLibs bool   `json:"health.lua.useOpenLibs"`
}

// ParseOverrides reads the health scripts in the data of argocd-cm. They are returned by group/kind (or kind alone in the
// core group), where both may have wildcards, together with an error for each entry that cannot be read. A key for one
// kind wins over resource.customizations. Keys of other customizations are no concern of this function.
func ParseOverrides(data map[string]string) (map[string]Script, []error) {
	out := map[string]Script{}
	var errs []error
	fail := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }

	all := map[string]json.RawMessage{}
	if text := data[customizationsKey]; strings.TrimSpace(text) != "" {
		if err := yaml.Unmarshal([]byte(text), &all); err != nil {
			fail("read %s: it must map group/kind to customizations: %w", customizationsKey, err)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(all)) {
		var c customization
		if err := json.Unmarshal(all[key], &c); err != nil {
			fail("read %s of %.100s: %w", customizationsKey, key, err)
		} else if c.HealthLua != "" {
			out[key] = Script{Source: c.HealthLua, OpenLibs: c.UseOpenLibs}
		}
	}
	libs := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(data)) {
		if !strings.HasPrefix(name, healthKey) && !strings.HasPrefix(name, openLibsKey) {
			continue
		}
		text, isHealth := strings.CutPrefix(name, healthKey)
		key, err := overrideKey(strings.TrimPrefix(text, openLibsKey))
		switch {
		case err != nil:
			fail("read %s: %w", name, err)
		case isHealth && data[name] != "":
			s := out[key]
			s.Source = data[name]
			out[key] = s
		case !isHealth:
			open, err := strconv.ParseBool(strings.TrimSpace(data[name]))
			if err != nil {
				fail("read %s: %.40q is neither true nor false", name, data[name])
				continue
			}
			libs[key] = open
		}
	}
	for _, key := range slices.Sorted(maps.Keys(out)) {
		s := out[key]
		if open, ok := libs[key]; ok {
			s.OpenLibs = open
			out[key] = s
		}
		if isPattern(key) {
			if _, err := compilePattern(key); err != nil {
				fail("read health script of %.100s: %w", key, err)
				delete(out, key)
			}
		}
	}
	if len(out) > maxOverrides {
		fail("read health scripts: there are %d, at most %d are allowed; a wildcard can stand for many kinds", len(out), maxOverrides)
		return map[string]Script{}, errs
	}
	return out, errs
}

// overrideKey makes group/kind of what follows the prefix in a key of a ConfigMap, where a slash is not allowed.
func overrideKey(text string) (string, error) {
	group, kind, two := strings.Cut(text, "_")
	switch {
	case text == "all":
		return "*/*", nil
	case text == "", two && (group == "" || kind == "" || strings.Contains(kind, "_")):
		return "", fmt.Errorf("%.100q must be GROUP_KIND, or KIND in the core group", text)
	case !two:
		return text, nil
	}
	return group + "/" + kind, nil
}

func compilePattern(key string) (*glob.Pattern, error) {
	if len(key) > maxPattern {
		return nil, fmt.Errorf("the pattern is longer than %d characters", maxPattern)
	}
	pattern, err := glob.Compile(key)
	if err != nil {
		return nil, fmt.Errorf("no valid pattern: %w", err)
	}
	return pattern, nil
}
