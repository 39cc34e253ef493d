package v1alpha1

import (
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	kjson "sigs.k8s.io/json"
)

// Limits of Decode. The API server stores at most about 1.5 MiB, so nothing that came from one is turned away.
const (
	// MaxObjectBytes is the size of the largest document Decode reads.
	MaxObjectBytes = 4 << 20
	// MaxUnknownFields is how many unknown fields Decode names; further ones are only ignored.
	MaxUnknownFields = 20
	// maxFieldPathBytes cuts the name of one unknown field short: names are the user's and end up in a condition.
	maxFieldPathBytes = 200
)

// Decode reads an Application from JSON. Fields this package does not know are ignored and named in unknown, sorted, by
// their path such as "spec.source.fooBar" or "spec.sources[1].helm.fooBar"; field names are case-sensitive. The inside
// of free-form values such as helm.valuesObject has no unknown fields. The error says that raw is too large, is no JSON
// or has a value of the wrong type; app is nil then.
func Decode(raw []byte) (app *Application, unknown []string, err error) {
	app = &Application{}
	if unknown, err = decode(raw, app); err != nil {
		return nil, nil, fmt.Errorf("read application: %w", err)
	}
	return app, unknown, nil
}

// DecodeProject reads an AppProject from JSON, in the way Decode reads an Application.
func DecodeProject(raw []byte) (project *AppProject, unknown []string, err error) {
	project = &AppProject{}
	if unknown, err = decode(raw, project); err != nil {
		return nil, nil, fmt.Errorf("read project: %w", err)
	}
	return project, unknown, nil
}

// DecodeApplicationSet reads an ApplicationSet from JSON, in the way Decode reads an Application. Nested matrix and
// merge generators are free-form here.
func DecodeApplicationSet(raw []byte) (set *ApplicationSet, unknown []string, err error) {
	set = &ApplicationSet{}
	if unknown, err = decode(raw, set); err != nil {
		return nil, nil, fmt.Errorf("read application set: %w", err)
	}
	return set, unknown, nil
}

func decode(raw []byte, into any) (unknown []string, err error) {
	if len(raw) > MaxObjectBytes {
		return nil, fmt.Errorf("the document has %d bytes, more than the limit of %d: make it smaller", len(raw), MaxObjectBytes)
	}
	strict, err := kjson.UnmarshalStrict(raw, into, kjson.DisallowUnknownFields)
	if err != nil {
		return nil, err
	}
	for _, e := range strict {
		var field kjson.FieldError
		if errors.As(e, &field) {
			unknown = append(unknown, shorten(field.FieldPath()))
		}
	}
	slices.Sort(unknown)
	unknown = slices.Compact(unknown)
	if len(unknown) > MaxUnknownFields {
		unknown = unknown[:MaxUnknownFields]
	}
	return unknown, nil
}

// shorten cuts a path at a rune's start, so that it stays valid UTF-8.
func shorten(path string) string {
	if len(path) <= maxFieldPathBytes {
		return path
	}
	cut := maxFieldPathBytes
	for cut > 0 && !utf8.RuneStart(path[cut]) {
		cut--
	}
	return path[:cut] + "..."
}
