package core

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/legible"
)

// queryNames are the parameters that a description has in the query, in order, and those of them that may come several times.
func queryNames(op *huma.Operation) (all, lists []string) {
	if op == nil {
		return nil, nil
	}
	for _, p := range op.Parameters {
		if p.In != "query" {
			continue
		}
		all = append(all, p.Name)
		if p.Explode != nil && *p.Explode && p.Schema.Type == huma.TypeArray {
			lists = append(lists, p.Name)
		}
	}
	slices.Sort(all)
	return all, lists
}

// checkQuery refuses what the route does not know, and what comes twice where one counts: a misspelled filter would let
// everything pass, and a deletion with a misspelled dryRun would delete.
func (r *Route) checkQuery(raw string) error {
	if r.Returns || raw == "" {
		return nil
	}
	query, err := url.ParseQuery(raw)
	if err != nil {
		return &api.Error{
			Code: api.CodeInvalid, Field: "query",
			Message: "the query cannot be read: separate parameters with &, and escape what is special in a URL",
		}
	}
	for _, name := range slices.Sorted(maps.Keys(query)) {
		if slices.Contains(r.parameters, name) {
			if n := len(query[name]); n > 1 && !slices.Contains(r.lists, name) {
				return &api.Error{
					Code: api.CodeInvalid, Field: "query." + name, Message: fmt.Sprintf("the parameter %s comes %d times: send it once", name, n),
				}
			}
			continue
		}
		known := "this path takes none: leave it out"
		if len(r.parameters) > 0 {
			known = "use " + strings.Join(r.parameters, ", ")
		}
		return &api.Error{
			Code: api.CodeInvalid, Field: "query." + legible.Cut(name, MaxToldName),
			Message: fmt.Sprintf("there is no parameter %.64q here: %s", name, known),
		}
	}
	return nil
}

// Takes reports whether a parameter may be in the query.
func (r *Route) Takes(name string) bool { return slices.Contains(r.parameters, name) }
