package plan

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// Budget bounds what one operation may delete without a person's word: more than Objects objects that are more than
// Percent percent of the application, or any object of a kind that takes others with it.
type Budget struct {
	Off     bool
	Objects int
	Percent int
}

// DefaultBudget holds what deletes more than 10 objects and over half of an application.
func DefaultBudget() Budget { return Budget{Objects: 10, Percent: 50} }

// ParseBudget reads "off", "20" (objects), or "20,30%" (objects, and percent of the application).
func ParseBudget(text string) (Budget, error) {
	text = strings.TrimSpace(text)
	if text == "off" {
		return Budget{Off: true}, nil
	}
	objects, percent, has := strings.Cut(text, ",")
	var b Budget
	var err error
	if b.Objects, err = strconv.Atoi(strings.TrimSpace(objects)); err != nil || b.Objects < 0 {
		return Budget{}, errBudget(text)
	}
	if !has {
		return b, nil
	}
	percent, isPercent := strings.CutSuffix(strings.TrimSpace(percent), "%")
	if b.Percent, err = strconv.Atoi(percent); err != nil || !isPercent || b.Percent < 0 || b.Percent > 100 {
		return Budget{}, errBudget(text)
	}
	return b, nil
}

func errBudget(text string) error {
	const shown = 40
	return errors.New(strconv.Quote(text[:min(len(text), shown)]) +
		` is no deletion budget: write off, a number of objects, or both limits as in "20,30%"`)
}

// String prints the budget as ParseBudget reads it.
func (b Budget) String() string {
	switch {
	case b.Off:
		return "off"
	case b.Percent == 0:
		return strconv.Itoa(b.Objects)
	}
	return fmt.Sprintf("%d,%d%%", b.Objects, b.Percent)
}

// Exceeds says why deleting objects out of total is more than the budget; "" when it is not.
func (b Budget) Exceeds(deletions []object.Key, total int) string {
	if b.Off || len(deletions) == 0 {
		return ""
	}
	for _, k := range deletions {
		if TakesOthers(k.GroupKind()) {
			return fmt.Sprintf("%s takes with it what is in it or of it", k)
		}
	}
	if len(deletions) <= b.Objects || 100*len(deletions) <= b.Percent*total {
		return ""
	}
	limit := fmt.Sprintf("more than %d", b.Objects)
	if b.Percent > 0 {
		limit += fmt.Sprintf(" and over %d%%", b.Percent)
	}
	return fmt.Sprintf("%d of %d objects is %s", len(deletions), total, limit)
}

// TakesOthers reports whether deleting an object of a kind deletes more than that object, or data.
func TakesOthers(k object.Kind) bool {
	switch k {
	case object.Kind{Kind: "Namespace"}, object.Kind{Kind: "PersistentVolume"}, object.Kind{Kind: "PersistentVolumeClaim"},
		object.Kind{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"},
		object.Kind{Group: "argoproj.io", Kind: "Application"}, object.Kind{Group: "argoproj.io", Kind: "ApplicationSet"}:
		return true
	}
	return false
}

// Digest names a set of objects in 16 hexadecimal digits, whatever their order: what was confirmed is what is done.
// No other set has the same digest: a person who writes to Git could otherwise choose what is confirmed.
func Digest(keys []object.Key) string {
	sorted := slices.Clone(keys)
	slices.SortFunc(sorted, func(a, b object.Key) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Namespace, b.Namespace),
			cmp.Compare(a.Name, b.Name))
	})
	h := sha256.New()
	for _, k := range sorted {
		_, _ = h.Write([]byte(k.Group + "\x00" + k.Kind + "\x00" + k.Namespace + "\x00" + k.Name + "\x01"))
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}
