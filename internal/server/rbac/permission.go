package rbac

import (
	"fmt"
	"slices"
	"strings"

	"github.com/slipway-gitops/slipway/api"
)

// Permission is an action on objects of one type, written type_verb. To make a thing is to edit it.
type Permission = api.Permission

// maxPatterns is how many permissions or patterns a role or the ceiling of a token may name.
const maxPatterns = 200

// permissions are all that there are; the place in it is the bit of a set.
//
//nolint:gochecknoglobals // a table
var permissions = api.Permissions()

// set is a set of permissions, by their places in the table.
type set [2]uint64

// full has all permissions.
func full() set { return set{^uint64(0), ^uint64(0)} }

func (s *set) add(at int)     { s[at/64] |= 1 << (at % 64) }
func (s set) bit(at int) bool { return s[at/64]&(1<<(at%64)) != 0 }

func (s set) has(p Permission) bool {
	at := slices.Index(permissions, p)
	return at >= 0 && s.bit(at)
}

func (s set) and(o set) set  { return set{s[0] & o[0], s[1] & o[1]} }
func (s set) or(o set) set   { return set{s[0] | o[0], s[1] | o[1]} }
func (s set) less(o set) set { return set{s[0] &^ o[0], s[1] &^ o[1]} }
func (s set) empty() bool    { return s == set{} }

func (s set) list() []Permission {
	var out []Permission
	for at, p := range permissions {
		if s.bit(at) {
			out = append(out, p)
		}
	}
	return out
}

// Expand turns what a role or a token says into the permissions that it means, in the order of [api.Permissions]. Besides
// names it takes "*" (all of them), "application_*" (all of a type) and "*_view" (a verb of every type).
func Expand(patterns []Permission) ([]Permission, error) {
	s, err := expand(patterns)
	return s.list(), err
}

// expand gives what could be read even when there is an error, so that a role of a newer server keeps the rest.
func expand(patterns []Permission) (set, error) {
	var out set
	if len(patterns) > maxPatterns {
		return out, fmt.Errorf("%d permissions: there may be %d, use patterns such as application_*", len(patterns), maxPatterns)
	}
	var wrong error
	for _, pattern := range patterns {
		found := false
		for at, p := range permissions {
			if covers(string(pattern), p) {
				out.add(at)
				found = true
			}
		}
		if !found && wrong == nil {
			wrong = fmt.Errorf("permission %.80q is not known: see the list of permissions, or write *, application_* or *_view", pattern)
		}
	}
	return out, wrong
}

func covers(pattern string, p Permission) bool {
	if pattern == "*" || pattern == string(p) {
		return true
	}
	if prefix, ok := strings.CutSuffix(pattern, "_*"); ok {
		return prefix == p.Type()
	}
	verb, ok := strings.CutPrefix(pattern, "*_")
	return ok && verb == p.Verb()
}
