package helm

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
	chartutil3 "helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v4/pkg/chart/common"
)

// maxSchemaErrors bounds how many violations one message lists.
const maxSchemaErrors = 20

// schemaURL names a chart's schema inside the validator; nothing is read from it.
const schemaURL = "file:///values.schema.json"

// checkSchemas validates the merged values of c and of its dependencies against their values.schema.json.
func checkSchemas(c loaded, vals map[string]any) error {
	var found []string
	if err := collectViolations(c, vals, &found); err != nil {
		return err
	}
	if len(found) == 0 {
		return nil
	}
	if len(found) > maxSchemaErrors {
		found = append(found[:maxSchemaErrors], fmt.Sprintf("and %d more", len(found)-maxSchemaErrors))
	}
	return fmt.Errorf("values don't meet the specifications of the schema(s) in the following chart(s): %s; "+
		"correct the values or set skipSchemaValidation", strings.Join(found, "; "))
}

func collectViolations(c loaded, vals map[string]any, found *[]string) error {
	if schema := c.about().schema; len(schema) > 0 {
		out, err := violations(schema, vals)
		if err != nil {
			return fmt.Errorf("values don't meet the specifications of the schema(s) in the following chart(s): %s: "+
				"values.schema.json cannot be used: %w; correct it or set skipSchemaValidation", c.about().name, err)
		}
		for _, v := range out {
			*found = append(*found, c.about().name+": "+v)
		}
	}
	for _, dep := range c.dependencies() {
		sub, ok := vals[dep.about().name]
		if !ok || sub == nil {
			continue
		}
		m, ok := asMap(sub)
		if !ok {
			*found = append(*found, dep.about().name+": its values are no map")
			continue
		}
		if err := collectViolations(dep, m, found); err != nil {
			return err
		}
	}
	return nil
}

func asMap(v any) (map[string]any, bool) {
	switch m := v.(type) {
	case map[string]any:
		return m, true
	case common.Values:
		return m, true
	case chartutil3.Values:
		return m, true
	}
	return nil, false
}

// violations returns what is wrong with vals, without the values themselves.
func violations(schema []byte, vals map[string]any) ([]string, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(noLoader{})
	if err := c.AddResource(schemaURL, doc); err != nil {
		return nil, err
	}
	compiled, err := c.Compile(schemaURL)
	if err != nil {
		return nil, err
	}
	err = compiled.Validate(vals)
	var bad *jsonschema.ValidationError
	if errors.As(err, &bad) {
		var out []string
		leaves(bad, message.NewPrinter(language.English), &out)
		return out, nil
	}
	return nil, err
}

// leaves prints the innermost causes.
func leaves(e *jsonschema.ValidationError, p *message.Printer, out *[]string) {
	if len(e.Causes) == 0 {
		*out = append(*out, "at /"+strings.Join(e.InstanceLocation, "/")+": "+violation(e.ErrorKind, p))
		return
	}
	for _, c := range e.Causes {
		leaves(c, p, out)
	}
}

// violation describes one violation. Only kinds whose text holds nothing of the value are printed in full.
func violation(k jsonschema.ErrorKind, p *message.Printer) string {
	switch k.(type) {
	case *kind.Type, *kind.Enum, *kind.Const, *kind.Required, *kind.AdditionalProperties, *kind.MinLength,
		*kind.MaxLength, *kind.MinItems, *kind.MaxItems, *kind.MinProperties, *kind.MaxProperties, *kind.FalseSchema,
		*kind.DependentRequired, *kind.Dependency:
		return k.LocalizedString(p)
	}
	return fmt.Sprintf("does not satisfy %q", strings.Join(k.KeywordPath(), "/"))
}

// noLoader refuses everything a schema refers to outside itself.
type noLoader struct{}

// Load refuses url. An unresolved URN allows everything, as it does in Helm.
func (noLoader) Load(url string) (any, error) {
	if strings.HasPrefix(url, "urn:") {
		return true, nil
	}
	return nil, fmt.Errorf("%s is outside the schema and is not read; copy it into values.schema.json", url)
}
