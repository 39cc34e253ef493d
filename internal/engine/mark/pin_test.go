package mark

import (
	"strings"
	"testing"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
)

func TestAPinIsReadOrSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text, wrong string
		pin               bool
	}{
		{"none", "", "", false},
		{"one", `{"id":3,"revisions":["r1"],"quarantine":{"revisions":["r2"]}}`, "", true},
		{"with a source of its own", `{"revisions":["r1"],"sources":[{"repoURL":"https://git.example/b"}]}`, "", true},
		{"no JSON", `r1`, "no valid JSON", false},
		{"without a revision", `{}`, "0 revisions for 1 sources", false},
		{"with an empty revision", `{"revisions":[""]}`, "one of its revisions is empty", false},
		{"for several sources", `{"revisions":["r1","r2"]}`, "2 revisions for 1 sources", false},
		{"with fewer revisions than its sources", `{"revisions":["r1"],"sources":[{},{}]}`, "1 revisions for 2 sources", false},
		{"too long", `{"reason":"` + strings.Repeat("x", v1alpha1.MaxAnnotation) + `","revisions":["r1"]}`, "longer than", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p, err := ReadPin(pinned(c.text))
			if (p != nil) != c.pin || (err == nil) != (c.wrong == "") {
				t.Fatalf("%v, %v", p, err)
			}
			if err != nil && (!strings.Contains(err.Error(), c.wrong) || !strings.Contains(err.Error(), "slipway app rollback") || len(err.Error()) > 1000) {
				t.Errorf("%v", err)
			}
		})
	}
}

func FuzzReadPin(f *testing.F) {
	for _, text := range []string{
		"", "{}", "null", `{"revisions":["r1"]}`, `{"revisions":[""]}`, `{"revisions":["r1"],"sources":[{"repoURL":"x","helm":{"values":"a: b"}}]}`,
		`{"revisions":["é"],"by":"a","reason":"b\nc","at":"2026-01-01T00:00:00Z"}`,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		app := pinned(text)
		p, err := ReadPin(app)
		if err != nil && p != nil || err == nil && (p == nil) != (text == "") {
			t.Fatalf("%v, %v", p, err)
		}
		if p == nil {
			return
		}
		for i, src := range PinnedSources(p, app.Spec.EffectiveSources()) {
			if src.TargetRevision != p.Revisions[i] || src.TargetRevision == "" {
				t.Errorf("source %d at %q", i, src.TargetRevision)
			}
		}
		if app.Spec.Source.TargetRevision != "main" {
			t.Error("the specification was changed")
		}
	})
}

func pinned(text string) *v1alpha1.Application {
	app := &v1alpha1.Application{Spec: v1alpha1.ApplicationSpec{Source: &v1alpha1.ApplicationSource{RepoURL: "https://git.example/a", TargetRevision: "main"}}}
	app.Annotations = map[string]string{v1alpha1.AnnotationRollback: text}
	return app
}
