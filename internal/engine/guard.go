package engine

import (
	"context"
	"fmt"
	"strings"

	"github.com/slipway-gitops/slipway/internal/engine/guard"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// losing says what of others the deletion of objects takes with it; "" for nothing.
func (c *comparison) losing(ctx context.Context, deletions []object.Key) string {
	var out []string
	for _, k := range deletions {
		if l := c.loss(ctx, k); l.Any() && len(out) < shownLosses {
			out = append(out, fmt.Sprintf("%s holds %s", k, l))
		}
	}
	if len(out) == 0 {
		return ""
	}
	return ": " + strings.Join(out, "; ")
}

// shownLosses is how many objects that hold others a message names.
const shownLosses = 3

// some names the first of many objects.
func some(keys []object.Key) string { return guard.Names(keys, len(keys)) }
