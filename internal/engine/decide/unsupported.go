package decide

import (
	"slices"
	"strings"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// maxOptions is how many options of objects are named.
const maxOptions = 5

// Unsupported names the fields of an Application that nothing here acts on yet, in one line: those that no type of ours has,
// some known ones, and options of its objects. They are kept.
func Unsupported(app *v1alpha1.Application, unknown, options []string) []string {
	names := slices.Clone(unknown)
	if app.Spec.SourceHydrator != nil {
		names = append(names, "spec.sourceHydrator")
	}
	for _, option := range object.AppOptions(Options(app)).Unknown {
		names = append(names, "sync option "+option)
	}
	if names = append(names, options[:min(len(options), maxOptions)]...); len(names) == 0 {
		return nil
	}
	return []string{"not acted on by this version: " + strings.Join(names, ", ")}
}
