package project_test

import (
	"strings"
	"testing"

	"github.com/slipway-gitops/slipway/internal/project"
)

// A rule that denies gets lost where a later key, or one in other letters, takes the place of it.
func TestGlobalProjectsHaveOneMeaningOrAreRefused(t *testing.T) {
	t.Parallel()
	const rule = "- projectName: strict\n  labelSelector: {matchLabels: {tier: prod}}\n"
	for name, text := range map[string]string{
		"a key twice": rule + "  projectName: loose\n", "other case beside": rule + "  ProjectName: loose\n",
		"other case in the selector": rule + "  LabelSelector: {}\n", "a label twice": "- projectName: a\n  labelSelector: {matchLabels: {a: b, a: c}}\n",
	} {
		if got, err := project.ParseGlobals(text); err == nil || !strings.Contains(err.Error(), "globalProjects in argocd-cm cannot be read") {
			t.Errorf("%s: got %v, %v", name, got, err)
		}
	}
	if got, err := project.ParseGlobals(rule); err != nil || len(got) != 1 {
		t.Errorf("got %v, %v", got, err)
	}
}
