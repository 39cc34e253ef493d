package core

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/strict"
)

// description is what does not come from the routes.
func description() huma.Config {
	registry := huma.NewMapRegistry("#/components/schemas/", schemaName)
	problems := registry.Schema(reflect.TypeFor[api.Problem](), true, "Problem")
	config := huma.Config{
		OpenAPI: &huma.OpenAPI{
			OpenAPI: "3.1.0",
			Info: &huma.Info{
				Title: "Slipway", Version: "v1",
				Description: "The control plane of Slipway. Sign in with POST /api/v1/session, or send a token as `Authorization: Bearer slp_…`. " +
					"Errors are application/problem+json: `code` is for programs, `detail` contains the next step. " +
					"Read the next page of a list with `nextCursor`. A POST with an Idempotency-Key is executed once, " +
					"and gets the same answer for 24 hours.",
			},
			Servers: []*huma.Server{{URL: "/", Description: "This server"}},
			Components: &huma.Components{
				Schemas: registry,
				Responses: map[string]*huma.Response{"problem": {
					Description: "What went wrong, and what to do next",
					Content: map[string]*huma.MediaType{"application/problem+json": {
						Schema: problems,
						Example: map[string]any{
							"title": "Conflict", "status": 409, "code": "conflict",
							"detail": "role org.acme.deployer has changed since version 3, it is at 4: read it again and repeat the change",
						},
					}},
				}},
				SecuritySchemes: map[string]*huma.SecurityScheme{
					"token": {Type: "http", Scheme: "bearer", Description: "An API token"},
					"session": {
						Type: "apiKey", In: "cookie", Name: "__Host-slipway_session",
						Description: "Session of a browser; the name has no __Host- without TLS",
					},
				},
			},
		},
		OpenAPIPath:   "/api/v1/openapi",
		Formats:       map[string]huma.Format{"application/json": exactJSON(), "json": exactJSON()},
		DefaultFormat: "application/json",
	}
	return config
}

// schemaName names a type in the description: "ApplicationDetail", "PageUser".
func schemaName(t reflect.Type, hint string) string {
	name := huma.DefaultSchemaNamer(t, hint)
	return strings.ReplaceAll(name, "Api", "")
}

// described is a route's part of the description; nil for one that is not in it.
func (h *Core) described(route *Route) *huma.Operation {
	item := h.doc.Paths[route.Path]
	if item == nil {
		return nil
	}
	ops := map[string]*huma.Operation{"GET": item.Get, "POST": item.Post, "PUT": item.Put, "PATCH": item.Patch, "DELETE": item.Delete}
	return ops[route.Method]
}

// addExample puts the example of a route into its description, beside what the types say.
func (r *Route) addExample(op *huma.Operation) {
	if op == nil || op.RequestBody == nil || r.Example == "" {
		return
	}
	var value any
	if strict.Decode([]byte(r.Example), &value) != nil {
		return // the test of the description finds it
	}
	for _, media := range op.RequestBody.Content {
		media.Example = value
	}
}

// addAccess says in the description who may: what no type of a request or an answer says.
func (r *Route) addAccess(op *huma.Operation) {
	if op == nil {
		return
	}
	says := map[string]any{"access": r.Access.String()}
	for name, text := range map[string]string{"permission": string(r.Permission), "audit": r.Audit} {
		if text != "" {
			says[name] = text
		}
	}
	for name, is := range map[string]bool{"reads": r.Reads, "streams": r.Streams, "unsettled": r.Unsettled} {
		if is {
			says[name] = true
		}
	}
	if op.Extensions == nil {
		op.Extensions = map[string]any{}
	}
	op.Extensions["x-slipway"] = says
}

// OpenAPI is the description of the interface, as it is committed.
func (h *Core) OpenAPI() ([]byte, error) {
	raw, err := json.Marshal(h.doc)
	if err != nil {
		return nil, fmt.Errorf("write description of the interface: %w", err)
	}
	var value any
	if err := strict.Decode(raw, &value); err != nil {
		return nil, fmt.Errorf("read description of the interface: %w", err)
	}
	pretty, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write description of the interface: %w", err)
	}
	return append(pretty, '\n'), nil
}
