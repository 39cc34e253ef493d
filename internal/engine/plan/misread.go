package plan

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// Misread says what Argo CD's annotations of an object about hooks and waves ask for that nothing here knows, and what counts
// in its place: one short text for each annotation. What Helm's say besides is its own matter.
func Misread(obj map[string]any, key object.Key) []string {
	var out []string
	add := func(annotation, value, instead string) {
		out = append(out, fmt.Sprintf("%s %q of %s (%s)", annotation, object.Brief(value, 40), key, instead))
	}
	hooks := object.Annotation(obj, v1alpha1.AnnotationHook)
	unknown, known := "", false
	for name := range fields(hooks) {
		if knownHook(name) != "" {
			known = true
		} else {
			unknown = cmp.Or(unknown, name)
		}
	}
	const types = "the hooks are PreSync, Sync, PostSync, SyncFail, PreDelete, PostDelete and Skip"
	switch {
	case known && unknown != "":
		add("hook", unknown, "it is ignored; "+types)
	case !known && strings.TrimSpace(hooks) != "":
		add("hook", cmp.Or(unknown, hooks), "the object is never applied; "+types)
	}
	if wave := object.Annotation(obj, v1alpha1.AnnotationSyncWave); wave != "" {
		if _, err := strconv.ParseInt(wave, 10, 32); err != nil {
			add("sync-wave", wave, fmt.Sprintf("%d counts; write a whole number", object.WaveOf(obj)))
		}
	}
	for name := range fields(object.Annotation(obj, v1alpha1.AnnotationHookDeletePolicy)) {
		switch v1alpha1.HookDeletePolicy(name) {
		case v1alpha1.HookDeleteBeforeCreation, v1alpha1.HookDeleteSucceeded, v1alpha1.HookDeleteFailed:
			continue
		}
		add("hook-delete-policy", name, "it is ignored; the policies are BeforeHookCreation, HookSucceeded and HookFailed")
		break
	}
	return out
}
