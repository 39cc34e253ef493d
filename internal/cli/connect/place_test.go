package connect

import (
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/slipway-gitops/slipway/api"
)

func TestWhatSaysNoNamespaceGoesIntoThatOfItsAgent(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, says, want string
		agent            api.Agent
	}{
		{"of an agent that was heard", "", "team", api.Agent{Status: api.AgentStatus{Namespace: "team"}}},
		{"of a hosted agent that was not heard yet", "", "slipway-edge", api.Agent{Hosted: &api.Hosting{Namespace: "slipway-edge"}}},
		{"its own", "apps", "apps", api.Agent{Status: api.AgentStatus{Namespace: "team"}}},
		{"nobody knows", "", "", api.Agent{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			obj := &unstructured.Unstructured{Object: map[string]any{}}
			if test.says != "" {
				obj.SetNamespace(test.says)
			}
			err := PlaceAt(test.agent, obj)
			if obj.GetNamespace() != test.want || (err != nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), "-n") {
				t.Errorf("it goes into %q (%v), not %q", obj.GetNamespace(), err, test.want)
			}
		})
	}
}

func TestANamespaceIsChosenByFlagOrEnvironmentOnly(t *testing.T) {
	chosen := func(args ...string) string {
		var o Options
		flags := pflag.NewFlagSet("", pflag.ContinueOnError)
		o.AddFlags(flags)
		if err := flags.Parse(args); err != nil {
			t.Fatal(err)
		}
		return o.ChosenNamespace()
	}
	t.Setenv("SLIPWAY_NAMESPACE", "")
	if got := chosen(); got != "" {
		t.Errorf("nobody chose %q", got)
	}
	if got := chosen("-n", "argocd"); got != "argocd" {
		t.Errorf("a flag chose %q", got)
	}
	t.Setenv("SLIPWAY_NAMESPACE", "team")
	if got := chosen(); got != "team" {
		t.Errorf("the environment chose %q", got)
	}
}
