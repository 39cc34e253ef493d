package health_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-gitops/slipway/internal/engine/health"
)

func TestOverridesAreReadFromBothFormsOfKeys(t *testing.T) {
	t.Parallel()
	got, errs := health.ParseOverrides(map[string]string{
		"resource.customizations": "'*.example.com/*':\n  health.lua: wild\n  health.lua.useOpenLibs: true\n" +
			"a.io/A:\n  health.lua: old\nb.io/B:\n  actions: x\n",
		"resource.customizations.health.a.io_A":            "new",
		"resource.customizations.health.Pod":               "core",
		"resource.customizations.health.c.io_C":            "c",
		"resource.customizations.useOpenLibs.c.io_C":       "true",
		"resource.customizations.useOpenLibs.d.io_D":       "true",
		"resource.customizations.ignoreDifferences.c.io_C": "jsonPointers: [/x]",
		"resource.customizations.health.e.io_E":            "",
		"timeout.reconciliation":                           "180s",
	})
	want := map[string]health.Script{
		"*.example.com/*": {Source: "wild", OpenLibs: true}, "a.io/A": {Source: "new"}, "Pod": {Source: "core"},
		"c.io/C": {Source: "c", OpenLibs: true},
	}
	if diff := cmp.Diff(want, got); diff != "" || len(errs) > 0 {
		t.Error(diff, errs)
	}
}

func TestABrokenEntryIsNamedAndLeavesTheOthers(t *testing.T) {
	t.Parallel()
	got, errs := health.ParseOverrides(map[string]string{
		"resource.customizations":                      "x.io/X: 5\n'y.io/[': {health.lua: s}\nz.io/Z: {health.lua: s}\n",
		"resource.customizations.health.a_b_c":         "s",
		"resource.customizations.useOpenLibs.z.io_Z":   "perhaps",
		"resource.customizations.health.good.io_Thing": "s",
	})
	if diff := cmp.Diff(map[string]health.Script{"z.io/Z": {Source: "s"}, "good.io/Thing": {Source: "s"}}, got); diff != "" {
		t.Error(diff)
	}
	var all strings.Builder
	for _, err := range errs {
		all.WriteString(err.Error() + "\n")
	}
	for _, want := range []string{"x.io/X", "y.io/[", "health.a_b_c", "useOpenLibs.z.io_Z"} {
		if !strings.Contains(all.String(), want) {
			t.Errorf("no error names %s: %s", want, all.String())
		}
	}
	if len(errs) != 4 {
		t.Errorf("%d errors: %s", len(errs), all.String())
	}
}

func FuzzParseOverrides(f *testing.F) {
	f.Add("resource.customizations", "a/b:\n  health.lua: x")
	f.Add("resource.customizations", "[1")
	f.Add("resource.customizations", "'{a/[': {health.lua: s}")
	f.Add("resource.customizations.health.a_b", "return {}")
	f.Add("resource.customizations.useOpenLibs._", "true")
	f.Fuzz(func(t *testing.T, key, value string) {
		scripts, _ := health.ParseOverrides(map[string]string{key: value})
		a := health.New(scripts)
		for name, s := range scripts {
			if s.Source == "" {
				t.Errorf("%q has no source", name)
			}
		}
		a.Knows("shop.example.com", "Widget")
	})
}
