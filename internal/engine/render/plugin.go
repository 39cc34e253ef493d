package render

import "strings"

// PluginAdvice says what to do instead of using a plugin: a config management plugin of Argo CD, or one of Kustomize. Only the
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
	case has("sops", "secret", "vault", "avp", "strongbox", "git-crypt"):
		return "nothing is decrypted when a source is rendered: have External Secrets or Sealed Secrets make the Secrets in the cluster, " +
			"and remove the plugin from the source"
	case has("helmfile", "tanka", "cdk8s", "kcl", "cue", "ytt", "dhall", "pkl"):
		return "commit what it renders, for example from CI, and deploy that directory"
	}
	return "render with Helm, Kustomize, Jsonnet or plain files, or commit what the plugin prints"
}
