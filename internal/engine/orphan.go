package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// warnOrphans names objects in the destination namespace that no Application wants, where the project asks for it.
// It then watches every namespaced kind that the project permits, which no other work of the engine needs.
func (c *comparison) warnOrphans(ctx context.Context) {
	namespace := c.app.Spec.Destination.Namespace
	asked, warn := c.rules.WatchesOrphans()
	if !asked || !warn || namespace == "" {
		c.target.Live.ForgetStrays(c.instance)
		return
	}
	rules := c.rules
	missing, err := c.target.Live.WatchNamespaced(ctx, func(k object.Kind) bool { return rules.OrphanKind(k.Group, k.Kind) })
	if err != nil {
		c.warn(v1alpha1.ConditionOrphanedResourceWarning, []string{fmt.Sprintf("orphaned resources are not known: %v", err)})
		return
	}
	found := c.orphans(namespace)
	if len(found) == 0 {
		return
	}
	const shown = 5
	var some []string
	for _, key := range found[:min(len(found), shown)] {
		some = append(some, key.String())
	}
	text := fmt.Sprintf("Application has %d orphaned resources: %s", len(found), strings.Join(some, ", "))
	if len(found) > shown {
		text += fmt.Sprintf(" and %d more", len(found)-shown)
	}
	if len(missing) > 0 {
		text += fmt.Sprintf("; %d kinds could not be listed, such as %s", len(missing), missing[0])
	}
	c.warn(v1alpha1.ConditionOrphanedResourceWarning, []string{text})
}

// orphans are the objects of a namespace that no Application wants, sorted.
func (c *comparison) orphans(namespace string) []object.Key {
	strays := c.target.Live.Strays(namespace, c.instance, c.engine.Exists)
	return slices.DeleteFunc(strays, func(k object.Key) bool {
		return !c.rules.Orphaned(k.Group, k.Kind, k.Namespace, k.Name) || c.claimed(k)
	})
}

// claimed reports whether an object is the volume claim of a StatefulSet: those do not name their owner.
func (c *comparison) claimed(k object.Key) bool {
	if k.Group != "" || k.Kind != "PersistentVolumeClaim" {
		return false
	}
	// <template>-<set>-<number>, and each of the names may hold more of "-".
	rest, number, ok := cutLast(k.Name)
	if !ok || strings.Trim(number, "0123456789") != "" {
		return false
	}
	for _, set, more := strings.Cut(rest, "-"); more; _, set, more = strings.Cut(set, "-") {
		_, tracked, foreign := c.target.Live.Get(object.Key{Group: "apps", Kind: "StatefulSet", Namespace: k.Namespace, Name: set})
		if tracked || foreign {
			return true
		}
	}
	return false
}

func cutLast(s string) (before, after string, found bool) {
	i := strings.LastIndexByte(s, '-')
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+1:], true
}
