package render

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
)

// ErrNoPlugin is wrapped by the error of a Renderer for plugins that has none of that name, or none that knows the files.
var ErrNoPlugin = errors.New("no such config management plugin is beside the agent")

// PluginAdvice says what to do where there is no such plugin: a config management plugin of Argo CD, or one of Kustomize. Only the
// name is known of it.
func PluginAdvice(name string) string {
	name = strings.ToLower(name)
	has := func(words ...string) bool {
		for _, w := range words {
			if strings.Contains(name, w) {
				return true
			}
		}
		return false
	}
	switch {
	case has("sops"):
		return "store the key in a labelled Secret, so that the agent decrypts the files itself, and remove the plugin from the source"
	case has("secret", "vault", "avp", "strongbox", "git-crypt"):
		return "have External Secrets or Sealed Secrets make the Secrets in the cluster, and remove the plugin from the source"
	case has("helmfile", "tanka", "cdk8s", "kcl", "cue", "ytt", "dhall", "pkl"):
		return "commit what it renders, for example from CI, and deploy that directory"
	}
	return adviceOnAny
}

// adviceOnAny is what to do without a plugin of which nothing is known.
const adviceOnAny = "render with Helm, Kustomize, Jsonnet or plain files, or commit what the plugin prints"

// PluginEnvironment returns the variables that a config management plugin gets for a prepared Request, as NAME=value, and what
// they depend on.
func PluginEnvironment(req Request) ([]string, Deps) {
	e := newEnvironment(req)
	var out []string
	for _, name := range []string{
		"ARGOCD_APP_NAME", "ARGOCD_APP_NAMESPACE", "ARGOCD_APP_PROJECT_NAME", "ARGOCD_APP_REVISION", "ARGOCD_APP_REVISION_SHORT",
		"ARGOCD_APP_REVISION_SHORT_8", "ARGOCD_APP_SOURCE_PATH", "ARGOCD_APP_SOURCE_REPO_URL", "ARGOCD_APP_SOURCE_TARGET_REVISION",
		"KUBE_VERSION", "KUBE_API_VERSIONS",
	} {
		out = append(out, name+"="+e.value(name))
	}
	p := req.Source.Plugin
	if p == nil {
		p = &v1alpha1.PluginSource{}
	}
	for _, entry := range p.Env {
		out = append(out, "ARGOCD_ENV_"+entry.Name+"="+e.expand(entry.Value))
	}
	return append(out, parameterVariables(p.Parameters)...), e.used
}

// parameterVariables are parameters as one JSON text, and one variable for each value.
func parameterVariables(list []v1alpha1.PluginParameter) []string {
	raw, err := json.Marshal(list)
	if err != nil {
		raw = []byte("null") // they were read from JSON, so it cannot be
	}
	out := []string{"ARGOCD_APP_PARAMETERS=" + string(raw)}
	for _, p := range list {
		name := "PARAM_" + variable(p.Name)
		if p.String != nil {
			out = append(out, name+"="+*p.String)
		}
		for i, item := range p.Array {
			out = append(out, name+"_"+strconv.Itoa(i)+"="+item)
		}
		for key, value := range p.Map {
			out = append(out, name+"_"+variable(key)+"="+value)
		}
	}
	return out
}

// variable is a name as one of a variable: capital letters, digits and underscores.
func variable(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' {
			return r
		}
		return '_'
	}, strings.ToUpper(name))
}

// maxListed bounds how many plugins an error names.
const maxListed = 20

// noPlugin is the error where nothing runs plugins, or there is none of that name. there are the names of those that there are.
func noPlugin(name string, err error, there []string) error {
	advice := PluginAdvice(name)
	if len(there) == 0 {
		return fmt.Errorf("config management plugin %q: %w; %s", name, err, advice)
	}
	has := strings.Join(there[:min(len(there), maxListed)], ", ")
	if more := len(there) - maxListed; more > 0 {
		has += fmt.Sprintf(" and %d more", more)
	}
	if advice != adviceOnAny {
		has += "; " + advice
	}
	return fmt.Errorf("config management plugin %q: %w; the agent has %s", name, err, has)
}
