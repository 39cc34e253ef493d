package project_test

import (
	"testing"
	"time"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/project"
)

// An AppProject of anybody is judged in time, and one that permits nothing permits nothing.
func FuzzAppProject(f *testing.F) {
	f.Add([]byte(`{"spec":{"destinations":[{"server":"*","namespace":"!x"}],"sourceRepos":["*"],"roles":[{"name":"a","policies":["p, proj:x:a, applications, get, x/*, allow"]}]}}`), "https://c", "shop")
	f.Add([]byte(`{"spec":{"destinations":[{"namespace":"/(((a*)*)*)*b/"}],"syncWindows":[{"schedule":"* * * * *","duration":"1h","kind":"deny"}]}}`), "", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaac")
	f.Add([]byte(`{"spec":{"destinations":[]}}`), "*", "*")
	f.Add([]byte(`{"spec":{"destinations":[null,{"server":"[a-"}]}}`), "a", "")
	f.Fuzz(func(t *testing.T, raw []byte, server, namespace string) {
		p, _, err := v1alpha1.DecodeProject(raw)
		if err != nil {
			return
		}
		begun := time.Now()
		_ = project.Validate(p)
		if rules, err := project.New(p); err == nil {
			permitted := rules.PermitsDestination(project.Cluster{Server: server}, namespace) == nil
			if permitted && len(p.Spec.Destinations) == 0 {
				t.Errorf("%s permits %q, %q", raw, server, namespace)
			}
		}
		if d := time.Since(begun); d > 5*time.Second {
			t.Errorf("it took %v", d)
		}
	})
}
