package rbac

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Limits of a selector.
const (
	maxSelector     = 2048 // bytes
	maxRequirements = 32
	maxValues       = 100
	maxLabelKey     = 253 + 1 + 63
	maxLabelValue   = 63
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
	p := parser{rest: text}
	var out Selector
	for {
		if len(out) == maxRequirements {
			return nil, fmt.Errorf("label selector has more than %d requirements", maxRequirements)
		}
		r, err := p.requirement()
		if err != nil {
			return nil, fmt.Errorf("label selector %.200q: %w", text, err)
		}
		out = append(out, r)
		switch p.next() {
		case "":
			return out, nil
		case ",":
		default:
			return nil, fmt.Errorf("label selector %.200q: a comma belongs between two requirements", text)
		}
	}
}

// Matches says whether all requirements hold for an object's labels. An empty selector matches nothing.
func (s Selector) Matches(labels map[string]string) bool {
	for _, r := range s {
		if !r.Matches(labels) {
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
func (r Requirement) Matches(labels map[string]string) bool {
	value, has := labels[r.Key]
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

// parser takes words and signs off the front of a text.
type parser struct{ rest string }

// next is the next word or sign; empty at the end.
func (p *parser) next() string {
	p.rest = strings.TrimLeft(p.rest, " \t\r\n")
	if p.rest == "" {
		return ""
	}
	end := 1
	switch {
	case strings.HasPrefix(p.rest, "==") || strings.HasPrefix(p.rest, "!="):
		end = 2
	case !sign(p.rest[0]):
		for end < len(p.rest) && !sign(p.rest[end]) && !strings.ContainsRune(" \t\r\n", rune(p.rest[end])) {
			end++
		}
	}
	token := p.rest[:end]
	p.rest = p.rest[end:]
	return token
}

// peek is what next would give.
func (p *parser) peek() string {
	ahead := *p
	return ahead.next()
}

func sign(c byte) bool { return strings.IndexByte("=!,()", c) >= 0 }

func (p *parser) requirement() (Requirement, error) {
	token := p.next()
	if token == "!" {
		key, err := label(p.next())
		return Requirement{Key: key, Op: NotExists}, err
	}
	key, err := label(token)
	if err != nil {
		return Requirement{}, err
	}
	r := Requirement{Key: key}
	switch p.peek() {
	case "", ",":
		r.Op = Exists
		return r, nil
	case "=", "==":
		r.Op = In
	case "!=":
		r.Op = NotIn
	case "in", "notin":
		r.Op = Operator(p.next())
		r.Values, err = p.values()
		return r, err
	default:
		return r, fmt.Errorf("after %s comes =, !=, in (…), notin (…) or nothing, not %.40q", key, p.peek())
	}
	p.next()
	value := ""
	if ahead := p.peek(); ahead != "" && ahead != "," {
		value = p.next()
	}
	r.Values = []string{value}
	return r, checkValue(value)
}

// values reads what stands in parentheses.
func (p *parser) values() ([]string, error) {
	if p.next() != "(" {
		return nil, errors.New("in and notin want values in parentheses: tier in (web, api)")
	}
	var out []string
	for {
		value := ""
		if ahead := p.peek(); ahead != "," && ahead != ")" {
			value = p.next()
		}
		if err := checkValue(value); err != nil {
			return nil, err
		}
		if out = append(out, value); len(out) > maxValues {
			return nil, fmt.Errorf("more than %d values", maxValues)
		}
		switch p.next() {
		case ",":
		case ")":
			slices.Sort(out)
			return slices.Compact(out), nil
		default:
			return nil, errors.New("a value ends with a comma or a closing parenthesis")
		}
	}
}

// label is the key of a label: a name of at most 63 characters, with a DNS name and a slash before it or not.
func label(key string) (string, error) {
	prefix, name, found := strings.Cut(key, "/")
	if !found {
		prefix, name = "", key
	}
	if name == "" || len(key) > maxLabelKey || !word(name, maxLabelValue) || found && !dnsName(prefix) {
		return "", fmt.Errorf("%.80q is not the key of a label", key)
	}
	return key, nil
}

func checkValue(value string) error {
	if value != "" && !word(value, maxLabelValue) {
		return fmt.Errorf("%.80q is not the value of a label: at most 63 letters, digits, dashes, dots and underscores", value)
	}
	return nil
}

// word says whether s has letters, digits, dashes, dots and underscores, with a letter or digit at both ends.
func word(s string, longest int) bool {
	for i := range len(s) {
		c := s[i]
		inside := i > 0 && i < len(s)-1 && (c == '-' || c == '_' || c == '.')
		if !inside && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') {
			return false
		}
	}
	return len(s) <= longest
}

func dnsName(s string) bool {
	if len(s) > 253 {
		return false
	}
	for part := range strings.SplitSeq(s, ".") {
		if part == "" || strings.ToLower(part) != part || strings.ContainsRune(part, '_') || !word(part, 253) {
			return false
		}
	}
	return true
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
