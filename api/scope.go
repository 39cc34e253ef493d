package api

import (
	"errors"
	"fmt"
	"strings"
)

// MaxName is how long a name may be, in bytes: it also has to be a label of Kubernetes.
const MaxName = 63

// Scope is where something belongs, and with it who may see it: "account", "org.<organization>" or
// "project.<organization>.<project>". Only ParseScope and the functions here make one that is well formed.
type Scope string

// ScopeAccount is the whole installation; every other scope is inside it.
const ScopeAccount Scope = "account"

const (
	orgPrefix     = "org."
	projectPrefix = "project."
)

// OrgScope is the scope of an organization. The name is not checked.
func OrgScope(org string) Scope { return Scope(orgPrefix + org) }

// ProjectScope is the scope of a project of an organization. The names are not checked.
func ProjectScope(org, project string) Scope { return Scope(projectPrefix + org + "." + project) }

// CheckName says what is wrong with a name; nil where nothing is. A name has 1 to 63 lower-case letters, digits and
// inner hyphens.
func CheckName(name string) error {
	switch {
	case name == "":
		return errors.New("a name is missing: give one of lower-case letters, digits and inner hyphens")
	case len(name) > MaxName:
		return fmt.Errorf("the name has %d bytes: %d are allowed", len(name), MaxName)
	case name[0] == '-' || name[len(name)-1] == '-':
		return fmt.Errorf("the name %q begins or ends with a hyphen: begin and end with a lower-case letter or a digit", name)
	}
	for i := range len(name) {
		c := name[i]
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' {
			return fmt.Errorf("the name %q has a character that is not allowed: use lower-case letters, digits and inner hyphens", name)
		}
	}
	return nil
}

// ParseScope reads a scope; the empty string is the account.
func ParseScope(s string) (Scope, error) {
	if s == "" || s == string(ScopeAccount) {
		return ScopeAccount, nil
	}
	parts, err := split(s)
	if err != nil {
		return "", fmt.Errorf("read scope %.200q: %w", s, err)
	}
	switch {
	case parts[0] == "org" && len(parts) == 2, parts[0] == "project" && len(parts) == 3:
		return Scope(s), nil
	}
	return "", fmt.Errorf(`read scope %.200q: write "account", "org.<organization>" or "project.<organization>.<project>"`, s)
}

// split takes a scope or an id apart. Its names, all but the first part, are well formed.
func split(s string) ([]string, error) {
	parts := strings.SplitN(s, ".", 5)
	for _, name := range parts[1:] {
		if err := CheckName(name); err != nil {
			return nil, err
		}
	}
	return parts, nil
}

// Valid is true for a scope that ParseScope could have returned.
func (s Scope) Valid() bool {
	parsed, err := ParseScope(string(s))
	return err == nil && parsed == s
}

// Org is the organization of a scope; "" for the account.
func (s Scope) Org() string {
	if org, ok := strings.CutPrefix(string(s), orgPrefix); ok {
		return org
	}
	if rest, ok := strings.CutPrefix(string(s), projectPrefix); ok {
		org, _, _ := strings.Cut(rest, ".")
		return org
	}
	return ""
}

// Project is the project of a scope, without its organization; "" for the account and an organization.
func (s Scope) Project() string {
	if rest, ok := strings.CutPrefix(string(s), projectPrefix); ok {
		_, project, _ := strings.Cut(rest, ".")
		return project
	}
	return ""
}

// Parent is the scope around this one; false for the account.
func (s Scope) Parent() (Scope, bool) {
	switch {
	case s.Project() != "":
		return OrgScope(s.Org()), true
	case s.Org() != "":
		return ScopeAccount, true
	}
	return "", false
}

// Contains is true where other is this scope or inside it.
func (s Scope) Contains(other Scope) bool {
	for {
		if s == other {
			return true
		}
		parent, ok := other.Parent()
		if !ok {
			return false
		}
		other = parent
	}
}

// ID is the identifier of something of this scope: "<scope>.<name>".
func (s Scope) ID(name string) string { return string(s) + "." + name }

// ParseID takes the identifier of something with a scope apart: "account.<name>", "org.<organization>.<name>" or
// "project.<organization>.<project>.<name>".
func ParseID(id string) (Scope, string, error) {
	parts, err := split(id)
	if err != nil {
		return "", "", fmt.Errorf("read id %.200q: %w", id, err)
	}
	switch {
	case parts[0] == "account" && len(parts) == 2:
		return ScopeAccount, parts[1], nil
	case parts[0] == "org" && len(parts) == 3:
		return OrgScope(parts[1]), parts[2], nil
	case parts[0] == "project" && len(parts) == 4:
		return ProjectScope(parts[1], parts[2]), parts[3], nil
	}
	return "",
		"", fmt.Errorf(`read id %.200q: write "account.<name>", "org.<organization>.<name>" or "project.<organization>.<project>.<name>"`, id)
}

// ProjectID is the identifier of a project: "<organization>.<project>".
func ProjectID(org, project string) string { return org + "." + project }

// ParseProjectID takes the identifier of a project apart.
func ParseProjectID(id string) (org, project string, err error) {
	parts := strings.SplitN(id, ".", 3)
	if len(parts) != 2 {
		return "", "", fmt.Errorf(`read project %.200q: write "<organization>.<project>"`, id)
	}
	for _, name := range parts {
		if err := CheckName(name); err != nil {
			return "", "", fmt.Errorf("read project %.200q: %w", id, err)
		}
	}
	return parts[0], parts[1], nil
}
