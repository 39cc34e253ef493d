package security

import (
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-gitops/slipway/api"
)

// Scopes of what has none: a request that may be about anything, and somebody who may do nothing anywhere.
const (
	anywhere api.Scope = "anywhere"
	nowhere  api.Scope = "nowhere"
)

// route is an operation of the description.
type route struct {
	method, path, id string
	access           string
	permission       api.Permission
	audit            string
	streams          bool
	unsettled        bool
	query, header    []parameter
	// example is a body that is accepted about our tenant; nil where there is none. fields are all that it may have.
	example map[string]any
	fields  [][]string
}

type parameter struct {
	name string
	kind string
}

// changes is true for what does something when it is allowed.
func (r *route) changes() bool { return r.audit != "" }

func (r *route) String() string { return r.method + " " + r.path }

// described reads all routes out of the description, in order.
func described(t *testing.T) []*route {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "..", "api", "openapi.json"))
	if err != nil {
		t.Fatal(err)
	}
	type schema = map[string]any
	var doc struct {
		Paths map[string]map[string]struct {
			OperationID string `json:"operationId"`
			Slipway     struct {
				Access     string
				Permission api.Permission
				Audit      string
				Streams    bool
				Unsettled  bool
			} `json:"x-slipway"`
			Parameters []struct {
				Name, In string
				Schema   struct{ Type any }
			}
			RequestBody struct {
				Content map[string]struct {
					Schema  schema
					Example map[string]any
				}
			}
		}
		Components struct{ Schemas map[string]schema }
	}
	if err := json.Unmarshal(raw, &doc); err != nil {
		t.Fatal(err)
	}
	var out []*route
	for path, methods := range doc.Paths {
		for method, op := range methods {
			r := &route{
				method: strings.ToUpper(method), path: path, id: op.OperationID, access: op.Slipway.Access, permission: op.Slipway.Permission,
				audit: op.Slipway.Audit, streams: op.Slipway.Streams, unsettled: op.Slipway.Unsettled,
			}
			if r.access == "" || r.access != "signed-in" && r.access != "public" && !r.permission.Known() {
				t.Errorf("%s: the description does not say who may: x-slipway has access %q and permission %q", r, r.access, r.permission)
			}
			for _, p := range op.Parameters {
				kind, _ := p.Schema.Type.(string)
				switch p.In {
				case "query":
					r.query = append(r.query, parameter{p.Name, kind})
				case "header":
					r.header = append(r.header, parameter{p.Name, kind})
				}
			}
			if body, has := op.RequestBody.Content["application/json"]; has {
				if r.example = body.Example; r.example == nil {
					r.example = map[string]any{}
				}
				r.fields = fieldsOf(doc.Components.Schemas, body.Schema, nil, 0)
			}
			out = append(out, r)
		}
	}
	slices.SortFunc(out, func(a, b *route) int { return strings.Compare(a.path+" "+a.method, b.path+" "+b.method) })
	return out
}

// fieldsOf lists the paths of all fields that a body may have.
func fieldsOf(all map[string]map[string]any, schema map[string]any, above []string, depth int) [][]string {
	const deepest = 4
	if ref, is := schema["$ref"].(string); is {
		schema = all[ref[strings.LastIndexByte(ref, '/')+1:]]
	}
	if items, is := schema["items"].(map[string]any); is {
		return fieldsOf(all, items, above, depth)
	}
	properties, _ := schema["properties"].(map[string]any)
	var out [][]string
	for name, part := range properties {
		below, _ := part.(map[string]any)
		path := append(slices.Clone(above), name)
		if only, _ := below["readOnly"].(bool); !only {
			out = append(out, path)
		}
		if depth < deepest {
			out = append(out, fieldsOf(all, below, path, depth+1)...)
		}
	}
	slices.SortFunc(out, slices.Compare)
	return out
}

// body is the body of a request about our tenant: the example, with what makes it ours alone and new.
func (g *stage) body(r *route, fresh string) map[string]any {
	raw, err := json.Marshal(r.example)
	if err != nil {
		g.t.Fatal(err)
	}
	var body map[string]any
	if err := json.Unmarshal(raw, &body); err != nil {
		g.t.Fatal(err)
	}
	creates := r.method == "POST" && strings.HasPrefix(r.id, "create-")
	if resource, is := body["resource"].(map[string]any); is && resource["metadata"] != nil {
		spec, _ := resource["spec"].(map[string]any)
		if _, has := spec["project"]; has {
			spec["project"] = ourProject
		}
		if template, is := spec["template"].(map[string]any); is {
			if inner, is := template["spec"].(map[string]any); is {
				inner["project"] = ourProject
			}
		}
		metadata, _ := resource["metadata"].(map[string]any)
		if creates && !strings.Contains(r.path, "argo-projects") {
			metadata["name"] = fresh
		}
		return body
	}
	if fields, is := body["fields"].(map[string]any); is && placed(r) {
		fields["project"] = ourProject
	}
	if _, has := body["name"]; has {
		switch {
		case creates && (r.path == "/api/v1/users" || r.path == "/api/v1/organizations"):
			body["name"] = walker + fresh
		case creates:
			body["name"] = fresh
		case strings.HasSuffix(r.path, "{id}"):
			id := g.ids[noun(r.path)]
			body["name"] = id[strings.LastIndexByte(id, '.')+1:]
		case strings.HasSuffix(r.path, "{name}"):
			body["name"] = g.name(r)
		}
	}
	return body
}

// noun is the part of a path that says what it is about.
func noun(path string) string { return strings.Split(path, "/")[3] }

// below is the noun below an agent; "" where there is none.
func below(path string) string {
	parts := strings.Split(path, "/")
	if len(parts) > 5 && parts[3] == "agents" {
		return parts[5]
	}
	return ""
}

// placed is true for what belongs to an Argo project, and so to a project of ours.
func placed(r *route) bool {
	return slices.Contains([]string{"applications", "applicationsets", "argo-projects", "repositories", "credential-templates", "clusters"}, below(r.path))
}

// name is what {name} stands for.
func (g *stage) name(r *route) string {
	switch below(r.path) {
	case "applicationsets":
		return ourProject + "s"
	case "":
		return "degraded" // a view
	}
	return ourProject
}

// target is the path of a request about our tenant, with the query that it cannot do without.
func (g *stage) target(r *route) (path string, query url.Values) {
	id := g.ids[noun(r.path)]
	if id == "" {
		id = "nothing-is-called-so"
	}
	path = strings.NewReplacer("{id}", id, "{other}", id, "{agent}", "account.prod", "{namespace}", "argocd", "{name}", g.name(r), "{argoProject}", ourProject,
		"{revision}", strings.Repeat("0123456789abcdef0123", 2)).Replace(r.path)
	query = url.Values{}
	for name, value := range map[string]string{
		"resourceName": "web", "objectName": "web", "kind": "Deployment", "podNamespace": ourProject, "pod": "web-0", "repoURL": "https://git.example.org/ours.git", "by": "agent",
	} {
		if slices.ContainsFunc(r.query, func(p parameter) bool { return p.name == name }) && (name != "by" || strings.HasSuffix(path, "/matrix")) {
			query.Set(name, value)
		}
	}
	return path, query
}

// scope is where at the least somebody needs a permission for a request about our tenant. It is said here again, and not
// asked of the server: an error in one of the two is found by the other.
func (g *stage) scope(r *route, body map[string]any) api.Scope {
	project := api.ProjectScope(ourOrg, ourProject)
	switch {
	case below(r.path) == "credential-templates" && r.method != "GET":
		return api.ScopeAccount // it counts for all addresses below its own, whoever reads them
	case below(r.path) != "" && placed(r):
		return project
	case noun(r.path) == "agents" && strings.Contains(r.path, "/{"):
		if below(r.path) == "repositories" || strings.Contains(r.path, "repository") {
			return anywhere // it is looked at for a project
		}
		return api.ScopeAccount
	case r.access == "listed":
		return anywhere
	case strings.Contains(r.path, "/{"):
		id := g.ids[noun(r.path)]
		switch noun(r.path) {
		case "organizations":
			return api.Scope("org." + id)
		case "projects":
			return project
		case "users":
			return api.ScopeAccount
		}
		if scope, _, err := api.ParseID(id); err == nil && id != "" {
			return scope
		}
		return anywhere
	}
	if r.path == "/api/v1/users" || r.path == "/api/v1/organizations" || r.path == "/api/v1/settings" {
		return api.ScopeAccount
	}
	if text, is := body["scope"].(string); is {
		return api.Scope(text)
	}
	return anywhere
}
