package project

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// Cluster is a destination cluster, as far as rules are about it. Give both Server and Name where both are known: a
// rule that denies one of them cannot see the other.
type Cluster struct {
	Server  string // URL of its API server
	Name    string
	Project string        // the one that it is registered for; "" for all
	Limits  object.Limits // the parts of it that its Secret permits
}

// destination is one entry of spec.destinations.
type destination struct {
	server, name, namespace rule
}

func newDestination(b *budget, d v1alpha1.ApplicationDestination) (destination, error) {
	var out destination
	for _, field := range []struct {
		into *rule
		text string
	}{{&out.server, d.Server}, {&out.name, d.Name}, {&out.namespace, d.Namespace}} {
		text, deny := strings.CutPrefix(field.text, "!")
		g, err := b.compile(text, false)
		if err != nil {
			return destination{}, err
		}
		*field.into = rule{g, deny}
	}
	return out, nil
}

// meets reports whether a value is one that the rule is for: what a pattern with "!" does not describe is.
func (r rule) meets(s string) bool { return r.match(s) != r.deny }

// PermitsDestination says whether Applications may deploy to a namespace of a cluster (spec.destinations): nil, or why
// not. A pattern with "!" permits what it does not describe, and denies what it does: a server in the namespaces of
// the same entry, a cluster's name in all, a namespace on the clusters of the same entry.
func (r *Rules) PermitsDestination(c Cluster, namespace string) error {
	if len(c.Server) > maxValue || len(c.Name) > maxValue || len(namespace) > maxValue {
		return r.denied("a destination of more than %d bytes: correct spec.destination", maxValue)
	}
	if namespace != "" {
		if err := c.Limits.PermitsNamespace(namespace); err != nil {
			return err
		}
	}
	permitted := false
	for _, d := range r.destinations {
		server := c.Server != "" && d.server.meets(c.Server)
		name := c.Name != "" && d.name.meets(c.Name)
		inside := d.namespace.meets(namespace)
		switch {
		case (server || name) && inside:
			permitted = true
		case !name && d.name.deny,
			!server && d.server.deny && inside,
			(server || name) && d.namespace.deny:
			return r.denied("%s: spec.destinations of the project forbids it; deploy elsewhere, or have the project changed", place(c, namespace))
		}
	}
	switch {
	case !permitted:
		return r.denied("%s: add it to spec.destinations of the project, or deploy elsewhere", place(c, namespace))
	case r.scopedOnly && c.Project != r.name:
		return r.denied("%s: it permits only clusters that are registered for it; register the cluster with project: %s",
			place(c, namespace), r.name)
	}
	return nil
}

func place(c Cluster, namespace string) string {
	cluster := c.Server
	if cluster == "" {
		cluster = c.Name
	}
	if namespace == "" {
		return fmt.Sprintf("cluster %s without a namespace", cluster)
	}
	return fmt.Sprintf("namespace %s of cluster %s", namespace, cluster)
}

// namespaceRule is one entry of spec.sourceNamespaces: a glob, or a regular expression between slashes.
type namespaceRule struct {
	glob
	expression *regexp.Regexp
}

func newNamespaceRule(b *budget, pattern string) (namespaceRule, error) {
	if len(pattern) < 3 || !strings.HasPrefix(pattern, "/") || !strings.HasSuffix(pattern, "/") {
		g, err := b.compile(pattern, false)
		return namespaceRule{glob: g}, err
	}
	const most = 256 // bytes: repetitions make an expression much larger than its text
	if b.bytes -= most; len(pattern) > most || b.bytes < 0 {
		return namespaceRule{}, fmt.Errorf("regular expression %.40q... is longer than %d bytes, or one of too many: use names and prefixes",
			pattern, most)
	}
	re, err := regexp.Compile(pattern[1 : len(pattern)-1])
	if err != nil {
		return namespaceRule{}, fmt.Errorf("regular expression %q cannot be read: correct it", pattern)
	}
	return namespaceRule{expression: re}, nil
}

func (n namespaceRule) match(namespace string) bool {
	if n.expression != nil {
		return n.expression.MatchString(namespace)
	}
	return n.glob.match(namespace)
}

// Namespaces are those in which Applications may be, beside the controller's own: names, globs, and regular expressions
// between slashes.
type Namespaces struct {
	rules []namespaceRule
	names []string // when all are plain names
	plain bool
}

// NewNamespaces reads patterns of namespaces. Blanks around them, and empty ones, are ignored.
func NewNamespaces(patterns []string) (Namespaces, error) {
	out := Namespaces{plain: true}
	b := newBudget()
	for _, pattern := range patterns {
		if pattern = strings.TrimSpace(pattern); pattern == "" {
			continue
		}
		rule, err := newNamespaceRule(b, pattern)
		if err != nil {
			return Namespaces{}, err
		}
		out.rules = append(out.rules, rule)
		out.names = append(out.names, pattern)
		out.plain = out.plain && rule.expression == nil && rule.exact()
	}
	return out, nil
}

// Names returns the namespaces when all of them are given by name.
func (n Namespaces) Names() ([]string, bool) { return n.names, n.plain }

// Has reports whether one of the patterns describes a namespace.
func (n Namespaces) Has(namespace string) bool {
	return len(namespace) <= maxValue && slices.ContainsFunc(n.rules, func(r namespaceRule) bool { return r.match(namespace) })
}

// PermitsNamespace says whether an Application in a namespace may name the project (spec.sourceNamespaces): nil, or why
// not. The controller's own namespace is always permitted.
func (r *Rules) PermitsNamespace(appNamespace, controllerNamespace string) error {
	if appNamespace == "" || appNamespace == controllerNamespace {
		return nil
	}
	for _, n := range r.namespaces {
		if len(appNamespace) > maxValue {
			break
		}
		if n.match(appNamespace) {
			return nil
		}
	}
	return r.denied("Applications in namespace %.253s: add it to spec.sourceNamespaces of the project, "+
		"or name another project in spec.project", appNamespace)
}
