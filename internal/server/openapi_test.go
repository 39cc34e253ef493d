package server

import (
	"bytes"
	"flag"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write api/openapi.json anew")

// description is the committed one.
var description = filepath.Join("..", "..", "api", "openapi.json")

func TestTheCommittedDescriptionIsThatOfTheRoutes(t *testing.T) {
	t.Parallel()
	want, err := newServer(t, nil).handler.OpenAPI()
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(description, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(description)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(have, want) {
		t.Errorf("api/openapi.json is out of date: go test ./internal/server -run Description -update\n%s", cmp.Diff(string(have), string(want)))
	}
}

func TestTheDescriptionIsWholeAndValid(t *testing.T) {
	t.Parallel()
	raw, err := newServer(t, nil).handler.OpenAPI()
	if err != nil {
		t.Fatal(err)
	}
	doc, err := openapi3.NewLoader().LoadFromData(raw)
	if err != nil {
		t.Fatal(err)
	}
	if err := doc.Validate(t.Context(), openapi3.DisableExamplesValidation()); err != nil {
		t.Errorf("the description is not valid: %v", err)
	}
	count := 0
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			count++
			name := method + " " + path
			if op.OperationID == "" || op.Summary == "" || op.Description == "" || len(op.Tags) != 1 {
				t.Errorf("%s needs an operationId, a summary, a description and a tag", name)
			}
			if op.Responses.Status(http.StatusInternalServerError) == nil || op.Responses.Status(http.StatusTooManyRequests) == nil {
				t.Errorf("%s does not say how it fails", name)
			}
			for _, parameter := range op.Parameters {
				if parameter.Value.Description == "" {
					t.Errorf("%s does not say what %s is", name, parameter.Value.Name)
				}
			}
			if op.RequestBody == nil {
				continue
			}
			for _, media := range op.RequestBody.Value.Content {
				if media.Example == nil {
					t.Errorf("%s has no example of a body", name)
				}
			}
		}
	}
	for name, schema := range doc.Components.Schemas {
		for field, property := range schema.Value.Properties {
			if property.Ref == "" && property.Value.Description == "" {
				t.Errorf("%s.%s is not described", name, field)
			}
		}
	}
	if count != len(newServer(t, nil).handler.Routes()) {
		t.Errorf("%d operations are described", count)
	}
}
