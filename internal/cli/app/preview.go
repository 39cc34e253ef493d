package app

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/cli/iostream"
)

// previewRun says what Applications would do. Nothing is written.
func previewRun(ctx context.Context, o createOptions, objects []*unstructured.Unstructured) error {
	server, err := o.MustServer()
	if err != nil {
		return err
	}
	wrong := 0
	all := make([]api.Preview, 0, len(objects))
	for _, obj := range objects {
		found, err := server.Preview(ctx, obj, o.upsert)
		if err != nil {
			return err
		}
		if !found.Valid {
			wrong++
		}
		all = append(all, found)
		if err := o.printPreview(obj.GetName(), found); err != nil {
			return err
		}
	}
	if err := o.encodePreviews(all); err != nil {
		return err
	}
	if wrong > 0 {
		return fmt.Errorf("%d of %d applications cannot be synced as they are: see the messages for their fields", wrong, len(objects))
	}
	return nil
}

// encodePreviews prints them for programs: one as it is, several as a list.
func (o *createOptions) encodePreviews(all []api.Preview) error {
	switch {
	case o.Output == iostream.Table:
		return nil
	case len(all) == 1:
		return o.Print(o.Output, all[0])
	}
	return o.Print(o.Output, map[string]any{"items": all})
}

func (o *createOptions) printPreview(name string, found api.Preview) error {
	for _, p := range found.Problems {
		o.Sayf("%s: %s: %s", name, p.Level, iostream.Clean(strings.TrimPrefix(p.Field+": "+p.Message, ": ")))
	}
	sayWarnings(o.Common, found.Warnings)
	if o.Output != iostream.Table {
		return nil
	}
	rows := iostream.Rows{Header: []string{"APPLICATION", "KIND", "OBJECT", "VERB", "WAVE", "HOOK", "MESSAGE"}}
	for i := range found.Objects {
		x := &found.Objects[i]
		verb := x.Verb
		if x.Hook != "" {
			verb = "run"
		}
		rows.Add(name, kindText(x.Group, x.Kind), objectText(x.Namespace, x.Name), verb, strconv.Itoa(x.Wave), x.Hook, x.Error)
	}
	if rows.Len() > 0 {
		if err := o.Table(&rows); err != nil {
			return err
		}
	}
	if !o.diffs {
		return nil
	}
	for i := range found.Objects {
		if _, err := o.Out.Write([]byte(found.Objects[i].Diff)); err != nil {
			return err
		}
	}
	return nil
}
