package jq

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// Functions that look for something in a value.

func has(in, key any) (any, error) {
	switch v := in.(type) {
	case map[string]any:
		if name, ok := key.(string); ok {
			_, has := v[name]
			return has, nil
		}
	case []any:
		if f, ok := object.Float(key); ok {
			i := clampIndex(f)
			return i >= 0 && i < len(v), nil
		}
	}
	return nil, errors.New("cannot look for " + typeOf(key) + " in " + typeOf(in))
}

func contains(m *machine, a, b any) (bool, error) {
	switch x := a.(type) {
	case map[string]any:
		y, ok := b.(map[string]any)
		if !ok {
			break
		}
		for _, k := range sorted(y) {
			sub, has := x[k]
			if !has {
				return false, m.spend(1)
			}
			if ok, err := contains(m, sub, y[k]); !ok || err != nil {
				return false, err
			}
		}
		return true, m.spend(1 + len(y))
	case []any:
		y, ok := b.([]any)
		if !ok {
			break
		}
		for _, want := range y {
			found := false
			for i := 0; i < len(x) && !found; i++ {
				if typeOf(x[i]) != typeOf(want) {
					continue
				}
				var err error
				if found, err = contains(m, x[i], want); err != nil {
					return false, err
				}
			}
			if !found {
				return false, m.spend(1 + len(x))
			}
		}
		return true, m.spend(1 + len(y))
	case string:
		if y, ok := b.(string); ok {
			return strings.Contains(x, y), m.spend((len(x) + len(y)) / 2)
		}
	}
	if typeOf(a) != typeOf(b) {
		return false, errors.New("cannot look for " + typeOf(b) + " in " + typeOf(a))
	}
	order, err := compare(m, a, b)
	return order == 0, err
}

// matches matches a regular expression. Go's need time that grows with text and pattern alone.
func matches(m *machine, in, pattern, flags any) (any, error) {
	s, ok1 := in.(string)
	p, ok2 := pattern.(string)
	f, ok3 := flags.(string)
	if flags == nil {
		ok3 = true
	}
	if !ok1 || !ok2 || !ok3 {
		return nil, errors.New("test wants strings and got " + typeOf(in))
	}
	const most = 512
	if len(p) > most {
		return nil, fmt.Errorf("has a regular expression of %d bytes; at most %d are allowed", len(p), most)
	}
	if err := m.spend(200 + 20*len(p) + len(s)*(1+len(p)/16)); err != nil {
		return nil, err
	}
	prefix := ""
	for _, flag := range f {
		switch flag {
		case 'i', 's':
			prefix += string(flag)
		case 'g', 'n':
		default:
			return nil, fmt.Errorf("has the flag %q of a regular expression, which is not offered here", flag)
		}
	}
	if prefix != "" {
		p = "(?" + prefix + ")" + p
	}
	re, err := regexp.Compile(p)
	if err != nil {
		return nil, errors.New("has a regular expression that cannot be read")
	}
	return re.MatchString(s), nil
}

func toEntries(m *machine, in any, _ ...any) (any, error) {
	obj, ok := in.(map[string]any)
	if !ok {
		return nil, errors.New("to_entries wants an object and got " + typeOf(in))
	}
	out := make([]any, 0, len(obj))
	for _, k := range sorted(obj) {
		out = append(out, map[string]any{"key": k, "value": obj[k]})
	}
	return out, m.spend(3 * len(obj))
}

func fromEntries(m *machine, in any, _ ...any) (any, error) {
	out := map[string]any{}
	err := iterate(m, node{v: in}, nil, func(n node) error {
		entry, ok := n.v.(map[string]any)
		key, ok2 := entry["key"].(string)
		if !ok || !ok2 {
			return errors.New("from_entries wants objects with a key")
		}
		out[key] = entry["value"]
		return nil
	})
	return out, err
}

func sorted(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }
