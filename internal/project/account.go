package project

import (
	"fmt"
	"strings"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
)

// account is one entry of spec.destinationServiceAccounts.
type account struct {
	server, namespace glob
	name              string
}

func newAccount(b *budget, in v1alpha1.DestinationServiceAccount) (account, error) {
	out := account{name: in.DefaultServiceAccount}
	for _, field := range []struct {
		into       *glob
		name, text string
	}{{&out.server, "server", in.Server}, {&out.namespace, "namespace", in.Namespace}} {
		if strings.HasPrefix(field.text, "!") {
			return account{}, fmt.Errorf("%s has an invalid format, '%.200s': write which are meant, not which are not", field.name, field.text)
		}
		var err error
		if *field.into, err = b.compile(field.text, false); err != nil {
			return account{}, fmt.Errorf("%s has an invalid format, '%.200s': %w", field.name, field.text, err)
		}
	}
	namespace, name, both := strings.Cut(in.DefaultServiceAccount, ":")
	if both && !objectName(name) || !objectName(namespace) {
		return account{}, fmt.Errorf("defaultServiceAccount has an invalid format, '%.200s': write name or namespace:name",
			in.DefaultServiceAccount)
	}
	return out, nil
}

// objectName reports whether a text can be the name of a namespace or service account. The API server makes a user of
// it, so that anything else could be another user.
func objectName(s string) bool {
	return s != "" && len(s) <= 253 && !strings.ContainsFunc(s, func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' && c != '.'
	})
}

// ServiceAccount returns the user that syncs act as at a destination (spec.destinationServiceAccounts), as
// "system:serviceaccount:<namespace>:<name>"; "" when no entry is for it. The first entry that matches counts. An
// account without a namespace is in the one that is deployed to, or in that of the Application where there is none.
func (r *Rules) ServiceAccount(c Cluster, namespace, appNamespace string) (string, error) {
	if len(c.Server) > maxValue || len(namespace) > maxValue {
		return "", r.denied("a destination of more than %d bytes: correct spec.destination", maxValue)
	}
	for _, a := range r.accounts {
		if !a.server.match(c.Server) || !a.namespace.match(namespace) {
			continue
		}
		if strings.Contains(a.name, ":") {
			return "system:serviceaccount:" + a.name, nil
		}
		in := namespace
		if in == "" {
			in = appNamespace
		}
		if !objectName(in) {
			return "", fmt.Errorf("project %q has service account %q for this destination and no namespace for it: "+
				"write defaultServiceAccount as namespace:name", r.name, a.name)
		}
		return "system:serviceaccount:" + in + ":" + a.name, nil
	}
	return "", nil
}
