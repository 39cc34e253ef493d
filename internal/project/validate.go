package project

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
)

// maxProblems is how many problems of a project are reported at a time.
const maxProblems = 20

// Validate says what is wrong with a project: nil, or all problems joined, at most 20. A project with problems may still
// have rules that New can compile; what is wrong in it then permits nothing.
func Validate(p *v1alpha1.AppProject) error {
	problems := faults(p)
	if _, err := New(p); err != nil {
		problems = append([]error{err}, problems...)
	}
	if len(problems) == 0 {
		return nil
	}
	return fmt.Errorf("project %q: %w", p.Name, errors.Join(problems[:min(len(problems), maxProblems)]...))
}

// faults are the problems of a project that its rules can be compiled with.
func faults(p *v1alpha1.AppProject) []error {
	var problems []error
	add := func(where string, err error) {
		if err != nil && len(problems) < maxProblems {
			problems = append(problems, fmt.Errorf("%s: %w", where, err))
		}
	}
	add("spec.sourceRepos", checkPatterns(p.Spec.SourceRepos))
	add("spec.sourceNamespaces", checkPatterns(p.Spec.SourceNamespaces))
	seen := map[v1alpha1.ApplicationDestination]bool{}
	for i, d := range p.Spec.Destinations {
		add(fmt.Sprintf("spec.destinations[%d]", i), checkDestination(d, seen))
	}
	for i, a := range p.Spec.DestinationServiceAccounts {
		_, err := newAccount(newBudget(), a)
		add(fmt.Sprintf("spec.destinationServiceAccounts[%d]", i), err)
	}
	for _, err := range checkIntegrity(&p.Spec) {
		add("signatures", err)
	}
	roles := map[string]bool{}
	for _, role := range p.Spec.Roles {
		where := fmt.Sprintf("role %.80q", role.Name)
		if roles[role.Name] {
			add(where, errors.New("the name appears twice: rename one"))
		}
		roles[role.Name] = true
		for _, err := range checkRole(p.Name, role) {
			add(where, err)
		}
	}
	for i, w := range p.Spec.SyncWindows {
		where := fmt.Sprintf("spec.syncWindows[%d]", i)
		add(where, checkWindow(w))
		if slices.ContainsFunc(p.Spec.SyncWindows[:min(i, maxCompared)], func(o v1alpha1.SyncWindow) bool { return reflect.DeepEqual(o, w) }) {
			add(where, errors.New("it appears twice: remove one"))
		}
	}
	return problems
}

// maxCompared bounds how many windows each is compared with.
const maxCompared = 1000

func checkPatterns(patterns []string) error {
	seen := make(map[string]bool, len(patterns))
	for _, pattern := range patterns {
		switch {
		case pattern == "!*":
			return errors.New(`"!*" forbids everything: name what is forbidden, or permit less`)
		case seen[pattern]:
			return fmt.Errorf("%.200q appears twice: remove one", pattern)
		}
		seen[pattern] = true
	}
	return nil
}

func checkDestination(d v1alpha1.ApplicationDestination, seen map[v1alpha1.ApplicationDestination]bool) error {
	for _, field := range []string{d.Server, d.Name, d.Namespace} {
		if field == "!*" {
			return errors.New(`"!*" forbids everything: name what is forbidden, or permit less`)
		}
	}
	if seen[d] {
		return errors.New("it appears twice: remove one")
	}
	seen[d] = true
	return nil
}

func checkRole(project string, role v1alpha1.ProjectRole) []error {
	var out []error
	if !roleName(role.Name) {
		out = append(out, errors.New("the name must be of letters, digits, - and _, and begin and end with a letter or digit: rename it"))
	}
	groups := map[string]bool{}
	for _, group := range role.Groups {
		switch {
		case !groupName(group):
			out = append(out, fmt.Errorf("group %.200q: blanks at the ends, line ends, and commas outside of quotes are not allowed: correct it",
				group))
		case groups[group]:
			out = append(out, fmt.Errorf("group %.200q appears twice: remove one", group))
		}
		groups[group] = true
	}
	policies := map[string]bool{}
	objects := policyObject(project)
	for _, line := range role.Policies {
		err := checkPolicy(project, role.Name, line, objects)
		if err == nil && policies[line] {
			err = errors.New("it appears twice: remove one")
		}
		policies[line] = true
		if err != nil {
			out = append(out, fmt.Errorf("policy %.300q: %w", line, err))
		}
		if len(out) >= maxProblems {
			break
		}
	}
	return append(out, checkTokens(role.JWTTokens)...)
}

// checkTokens says what is wrong with the records of issued tokens. One that ends before it begins is no token, and
// of two with one id neither could be revoked.
func checkTokens(tokens []v1alpha1.JWTToken) []error {
	var out []error
	ids := map[string]bool{}
	for i, token := range tokens {
		switch {
		case token.IssuedAt <= 0:
			out = append(out, fmt.Errorf("jwtTokens[%d]: iat %d is no time: write seconds since 1970", i, token.IssuedAt))
		case token.ExpiresAt < 0 || token.ExpiresAt > 0 && token.ExpiresAt < token.IssuedAt:
			out = append(out, fmt.Errorf("jwtTokens[%d]: exp %d is before iat %d: remove the token, or correct it", i,
				token.ExpiresAt, token.IssuedAt))
		case token.ID != "" && ids[token.ID]:
			out = append(out, fmt.Errorf("jwtTokens[%d]: id %.80q appears twice: remove one", i, token.ID))
		}
		ids[token.ID] = true
		if len(out) >= maxProblems {
			break
		}
	}
	return out
}

func roleName(s string) bool {
	alphanumeric := func(c rune) bool {
		return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
	}
	if strings.ContainsFunc(s, func(c rune) bool { return !alphanumeric(c) && c != '-' && c != '_' }) {
		return false
	}
	return s != "" && alphanumeric(rune(s[0])) && alphanumeric(rune(s[len(s)-1]))
}

// groupName reports whether a group can be written into a policy: one with commas only in quotes.
func groupName(s string) bool {
	if s == "" || strings.TrimSpace(s) != s || strings.ContainsAny(s, "\n\r\t") {
		return false
	}
	quoted := len(s) > 2 && s[0] == '"' && s[len(s)-1] == '"'
	if quoted {
		return !strings.Contains(s[1:len(s)-1], `"`)
	}
	return !strings.ContainsAny(s, `",`)
}

// policyObject matches the objects that policies of a project may be about: its name, then one or two patterns.
func policyObject(project string) *regexp.Regexp {
	return regexp.MustCompile(`\A` + regexp.QuoteMeta(project[:min(len(project), maxPattern)]) + `(/[*\w.-]+){1,2}\z`)
}

// checkPolicy says what is wrong with a line "p, proj:<project>:<role>, resource, action, object, effect".
func checkPolicy(project, role, line string, objects *regexp.Regexp) error {
	parts := strings.Split(line, ",")
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	if len(parts) != 6 || parts[0] != "p" {
		return errors.New("it must be of the form: 'p, sub, res, act, obj, eft'")
	}
	subject, resource, action, object, effect := parts[1], parts[2], parts[3], parts[4], parts[5]
	if want := "proj:" + project + ":" + role; subject != want {
		return fmt.Errorf("policy subject must be: '%s', not '%s'", want, subject)
	}
	if known := []string{"applications", "applicationsets", "repositories", "clusters", "exec", "logs"}; !slices.Contains(known, resource) {
		return fmt.Errorf("resource must be: '%s', not '%s'", strings.Join(known, "', '"), resource)
	}
	if !policyAction(action) {
		return fmt.Errorf("invalid action '%s': use get, create, update, delete, sync, override, action/..., or *", action)
	}
	if !objects.MatchString(object) {
		return fmt.Errorf("object must be of form '%s/*', '%s/<application>' or '%s/<namespace>/<application>', not '%s'", project,
			project, project, object)
	}
	if effect != "allow" && effect != "deny" {
		return fmt.Errorf("effect must be: 'allow' or 'deny', not '%s'", effect)
	}
	return nil
}

func policyAction(s string) bool {
	switch s {
	case "get", "create", "update", "delete", "sync", "override", "*":
		return true
	}
	verb, rest, ok := strings.Cut(s, "/")
	return ok && rest != "" && (verb == "action" || verb == "update" || verb == "delete")
}
