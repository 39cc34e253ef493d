package decide

import (
	"fmt"
	"time"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// PinText says what is pinned, by whom and why, on one line.
func PinText(p *v1alpha1.Pin) string {
	text := fmt.Sprintf("pinned to %s (deployment %d)", Short(p.Revisions), p.ID)
	if p.By != "" {
		text += " by " + object.Brief(p.By, maxQuoted)
	}
	if !p.At.IsZero() {
		text += " since " + p.At.UTC().Format(time.RFC3339)
	}
	if p.Reason != "" {
		text += ": " + object.Brief(p.Reason, maxQuoted)
	}
	return text
}
