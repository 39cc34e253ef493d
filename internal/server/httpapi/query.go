package httpapi

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/slipway-gitops/slipway/api"
)

// queryNames are the parameters that a description has in the query, in order.
func queryNames(op *huma.Operation) []string {
	var out []string
	if op != nil {
		for _, p := range op.Parameters {
			if p.In == "query" {
				out = append(out, p.Name)
			}
		}
	}
	slices.Sort(out)
	return out
}

// checkQuery refuses what the route does not know: a filter with a slip of the pen would let everything pass, and who
// deletes with a dryRun that is spelled wrong would delete.
func (r *Route) checkQuery(raw string) error {
	if r.Returns || raw == "" {
		return nil
	}
	query, err := url.ParseQuery(raw)
	if err != nil {
		return &api.Error{Code: api.CodeInvalid, Field: "query", Message: "the query cannot be read: separate parameters with &, and escape what is special in a URL"}
	}
	for _, name := range slices.Sorted(maps.Keys(query)) {
		if slices.Contains(r.parameters, name) {
			continue
		}
		known := "this path takes none: leave it out"
		if len(r.parameters) > 0 {
			known = "use " + strings.Join(r.parameters, ", ")
		}
		return &api.Error{
			Code: api.CodeInvalid, Field: "query." + cut(name, maxToldName),
			Message: fmt.Sprintf("there is no parameter %.64q here: %s", name, known),
		}
	}
	return nil
}

// Takes reports whether a parameter may be in the query.
func (r *Route) Takes(name string) bool { return slices.Contains(r.parameters, name) }
