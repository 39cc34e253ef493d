package link

import (
	"fmt"
	"strings"

	"github.com/slipway-gitops/slipway/api/agentapi"
)

// ConfigPolicy is the ConfigMap in the agent's namespace by which the owner of a cluster bounds what a server may ask of its
// agent. Its keys are lists, separated by commas, spaces or lines; a word may end in * and then means all that begins so:
//
//	allow       kinds of commands; all where the key is not there
//	deny        kinds that are not allowed whatever allow says; resource.terminal where the key is not there
//	namespaces  namespaces that commands may be about; all that the agent manages where the key is not there
const ConfigPolicy = "slipway-agent-policy"

// Keys of ConfigPolicy.
const (
	policyAllow      = "allow"
	policyDeny       = "deny"
	policyNamespaces = "namespaces"
)

// allowed says why a policy does not allow a command; nil where it does. A policy with a word that means nothing allows
// nothing: a mistake in a restriction must not pass silently.
func allowed(policy map[string]string, cmd agentapi.Command) *agentapi.Error {
	refuse := func(format string, args ...any) *agentapi.Error {
		return &agentapi.Error{Code: agentapi.CodePolicy, Message: fmt.Sprintf(format, args...)}
	}
	for key := range policy {
		if key != policyAllow && key != policyDeny && key != policyNamespaces {
			return refuse("the ConfigMap %s has the key %.60q, which is none of allow, deny, namespaces: nothing is allowed until it is corrected",
				ConfigPolicy, key)
		}
	}
	allow, deny := words(policy, policyAllow, "*"), words(policy, policyDeny, string(agentapi.KindResourceTerminal))
	for _, w := range append(append([]string(nil), allow...), deny...) {
		if i := strings.IndexByte(w, '*'); i >= 0 && i < len(w)-1 {
			return refuse("the ConfigMap %s has %.60q: a * may stand at the end only; nothing is allowed until it is corrected", ConfigPolicy, w)
		}
	}
	kind := string(cmd.Kind)
	switch {
	case matches(deny, kind):
		return refuse("%s is not allowed on this agent (ConfigMap %s, key deny; by default, terminals are denied)", kind, ConfigPolicy)
	case !matches(allow, kind):
		return refuse("%s is not allowed on this agent: the key allow of its ConfigMap %s does not list it", kind, ConfigPolicy)
	case cmd.Target.Namespace != "" && !matches(words(policy, policyNamespaces, "*"), cmd.Target.Namespace):
		return refuse("commands about namespace %.64s are not allowed on this agent (ConfigMap %s, key namespaces)",
			cmd.Target.Namespace, ConfigPolicy)
	}
	return nil
}

// Denied says why a policy does not let a server ask for a kind of commands about a namespace; "" where it does. An answer
// that holds what another kind of commands reads asks for both.
func Denied(policy map[string]string, kind agentapi.Kind, namespace string) string {
	if e := allowed(policy, agentapi.Command{Kind: kind, Target: agentapi.Target{Namespace: namespace}}); e != nil {
		return e.Message
	}
	return ""
}

// words reads a list; fallback where the key is not there.
func words(policy map[string]string, key, fallback string) []string {
	text, there := policy[key]
	if !there {
		text = fallback
	}
	return strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' || r == '\n' || r == '\r' })
}

func matches(patterns []string, s string) bool {
	for _, p := range patterns {
		if start, open := strings.CutSuffix(p, "*"); p == s || open && strings.HasPrefix(s, start) {
			return true
		}
	}
	return false
}
