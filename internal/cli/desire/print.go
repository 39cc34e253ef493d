package desire

import (
	"bytes"
	"fmt"

	"github.com/slipway-gitops/slipway/internal/cli/connect"
	"github.com/slipway-gitops/slipway/internal/cli/iostream"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// Print writes objects as YAML documents, or with -o json as one list {"items": [...]}. They are data, not a table: a
// terminal gets the same.
func Print(common *connect.Common, objects []object.Manifest) error {
	if common.Output == iostream.JSON {
		items := make([]any, 0, len(objects))
		for _, o := range objects {
			obj, err := o.Decode()
			if err != nil {
				return err
			}
			items = append(items, obj)
		}
		return common.Print(iostream.JSON, map[string]any{"items": items})
	}
	var out bytes.Buffer
	for i, o := range objects {
		if i > 0 {
			out.WriteString("---\n")
		}
		doc, err := object.YAML(o.JSON)
		if err != nil {
			return fmt.Errorf("encode %s: %w", o.Key, err)
		}
		out.Write(doc)
	}
	_, err := common.Out.Write(out.Bytes())
	return err
}
