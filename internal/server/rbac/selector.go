package rbac

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
)

// Limits of a selector.
const (
	maxSelector     = 2048 // bytes
	maxRequirements = 32
	maxValues       = 100
)

// Operator is how a requirement compares.
type Operator string

// The operators. NotIn holds too where there is no such label.
const (
	In        Operator = "in"
	NotIn     Operator = "notin"
	Exists    Operator = "exists"
	NotExists Operator = "!"
)

// Requirement is one condition on the labels of an object.
type Requirement struct {
	Key    string
	Op     Operator
	Values []string // of In and NotIn: sorted, each once
}

// Selector is a label selector, read: all of its requirements must hold.
type Selector []Requirement

// ParseSelector reads a label selector as Kubernetes writes it: "team=shop,tier in (web, api),env!=dev,!legacy,owner".
// An empty one is an error, because it would match everything by mistake.
func ParseSelector(text string) (Selector, error) {
	if len(text) > maxSelector {
		return nil, fmt.Errorf("label selector of %d bytes: it may have %d", len(text), maxSelector)
	}
	wrong := func(err error) (Selector, error) { return nil, fmt.Errorf("label selector %.200q: %w", text, err) }
	// The library takes a zero character for the end, and repeats others in its errors as they are.
	if strings.ContainsFunc(text, func(r rune) bool { return r > '~' || r < ' ' && !strings.ContainsRune("\t\r\n", r) }) {
		return nil, fmt.Errorf("label selector %.200q: labels have letters, digits, dashes, dots, underscores and slashes only", text)
	}
	read, err := labels.ParseToRequirements(text)
	switch {
	case err != nil:
		return wrong(err)
	case len(read) == 0:
		return wrong(errors.New("it has no requirement, so it would match everything"))
	case len(read) > maxRequirements:
		return nil, fmt.Errorf("label selector has more than %d requirements", maxRequirements)
	}
	out := make(Selector, len(read))
	for i, r := range read {
		op, known := operators()[r.Operator()]
		if !known {
			return wrong(fmt.Errorf("%s compares numbers, which labels are not: use =, !=, in (…) or notin (…)", r.Operator()))
		}
		if r.Values().Len() > maxValues {
			return wrong(fmt.Errorf("more than %d values", maxValues))
		}
		out[i] = Requirement{Key: r.Key(), Op: op}
		if op == In || op == NotIn {
			out[i].Values = r.Values().List() // sorted
		}
	}
	return out, nil
}

func operators() map[selection.Operator]Operator {
	return map[selection.Operator]Operator{
		selection.In: In, selection.Equals: In, selection.DoubleEquals: In, selection.NotIn: NotIn, selection.NotEquals: NotIn,
		selection.Exists: Exists, selection.DoesNotExist: NotExists,
	}
}

// Matches says whether all requirements hold for an object's labels. An empty selector matches nothing.
func (s Selector) Matches(have map[string]string) bool {
	for _, r := range s {
		if !r.Matches(have) {
			return false
		}
	}
	return len(s) > 0
}

// String writes the selector in the one way that is the same for all that mean the same, but for the order.
func (s Selector) String() string {
	parts := make([]string, len(s))
	for i, r := range s {
		parts[i] = r.String()
	}
	return strings.Join(parts, ",")
}

// Matches says whether the requirement holds for an object's labels.
func (r Requirement) Matches(have map[string]string) bool {
	value, has := have[r.Key]
	switch r.Op {
	case In:
		return has && slices.Contains(r.Values, value)
	case NotIn:
		return !has || !slices.Contains(r.Values, value)
	case Exists:
		return has
	case NotExists:
		return !has
	}
	return false
}

// String writes the requirement as [ParseSelector] reads it.
func (r Requirement) String() string {
	switch r.Op {
	case Exists:
		return r.Key
	case NotExists:
		return "!" + r.Key
	case In:
		if len(r.Values) == 1 {
			return r.Key + "=" + r.Values[0]
		}
	case NotIn:
		if len(r.Values) == 1 {
			return r.Key + "!=" + r.Values[0]
		}
	}
	return r.Key + " " + string(r.Op) + " (" + strings.Join(r.Values, ",") + ")"
}

// implies says whether everything that s matches is matched by other too. It may miss a case, never claim one.
func (s Selector) implies(other Selector) bool {
	if len(s) == 0 || len(other) == 0 {
		return false
	}
	for _, want := range other {
		if !slices.ContainsFunc(s, func(have Requirement) bool { return have.implies(want) }) {
			return false
		}
	}
	return true
}

func (r Requirement) implies(other Requirement) bool {
	if r.Key != other.Key {
		return false
	}
	among := func(values, of []string) bool {
		return !slices.ContainsFunc(values, func(v string) bool { return !slices.Contains(of, v) })
	}
	switch other.Op {
	case In:
		return r.Op == In && among(r.Values, other.Values)
	case NotIn:
		return r.Op == NotExists || r.Op == NotIn && among(other.Values, r.Values) ||
			r.Op == In && !slices.ContainsFunc(r.Values, func(v string) bool { return slices.Contains(other.Values, v) })
	case Exists:
		return r.Op == In || r.Op == Exists
	case NotExists:
		return r.Op == NotExists
	}
	return false
}
