package jq

import (
	"encoding/base64"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/itchyny/gojq"

	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/legible"
)

// functions are the functions that make a value of their input and the values of their arguments.
var functions = map[string]function{ //nolint:gochecknoglobals // a table
	"not/0":            func(_ *machine, in any, _ ...any) (any, error) { return !truthy(in), nil },
	"type/0":           func(_ *machine, in any, _ ...any) (any, error) { return typeOf(in), nil },
	"length/0":         length,
	"keys/0":           keys,
	"keys_unsorted/0":  keys,
	"tostring/0":       toString,
	"@text/0":          toString,
	"tojson/0":         toJSON,
	"@json/0":          toJSON,
	"fromjson/0":       fromJSON,
	"tonumber/0":       toNumber,
	"ascii_downcase/0": onText(func(s, _ string) any { return asciiMap(s, 'A', 'Z', 'a'-'A') }),
	"ascii_upcase/0":   onText(func(s, _ string) any { return asciiMap(s, 'a', 'z', 'A'-'a') }),
	"@base64/0":        onText(func(s, _ string) any { return base64.StdEncoding.EncodeToString([]byte(s)) }),
	"@base64d/0":       decode64,
	"trim/0":           onText(func(s, _ string) any { return strings.TrimSpace(s) }),
	"startswith/1":     onText(func(s, arg string) any { return strings.HasPrefix(s, arg) }),
	"endswith/1":       onText(func(s, arg string) any { return strings.HasSuffix(s, arg) }),
	"ltrimstr/1":       trimmed(strings.TrimPrefix),
	"rtrimstr/1":       trimmed(strings.TrimSuffix),
	"split/1":          onText(splitText),
	"join/1":           join,
	"add/0":            add,
	"any/0":            anyItem(true),
	"all/0":            anyItem(false),
	"has/1":            func(m *machine, in any, args ...any) (any, error) { return has(in, args[0]) },
	"in/1":             func(m *machine, in any, args ...any) (any, error) { return has(args[0], in) },
	"contains/1":       func(m *machine, in any, args ...any) (any, error) { return contains(m, in, args[0]) },
	"inside/1":         func(m *machine, in any, args ...any) (any, error) { return contains(m, args[0], in) },
	"index/1":          onText(func(s, arg string) any { return indexText(s, arg) }),
	"test/1":           func(m *machine, in any, args ...any) (any, error) { return matches(m, in, args[0], "") },
	"test/2":           func(m *machine, in any, args ...any) (any, error) { return matches(m, in, args[0], args[1]) },
	"to_entries/0":     toEntries,
	"from_entries/0":   fromEntries,
	"error/0":          func(m *machine, in any, _ ...any) (any, error) { return nil, raised(m, in) },
	"error/1":          func(m *machine, _ any, args ...any) (any, error) { return nil, raised(m, args[0]) },
}

// selectors are the functions that let their input through when it is of a type.
var selectors = map[string]func(v any) bool{ //nolint:gochecknoglobals // a table
	"values":    func(v any) bool { return v != nil },
	"nulls":     func(v any) bool { return v == nil },
	"booleans":  func(v any) bool { return typeOf(v) == "boolean" },
	"numbers":   func(v any) bool { return typeOf(v) == "number" },
	"strings":   func(v any) bool { return typeOf(v) == "string" },
	"arrays":    func(v any) bool { return typeOf(v) == "array" },
	"objects":   func(v any) bool { return typeOf(v) == "object" },
	"iterables": func(v any) bool { return typeOf(v) == "array" || typeOf(v) == "object" },
	"scalars":   func(v any) bool { return typeOf(v) != "array" && typeOf(v) != "object" },
}

func (c compiler) call(f *gojq.Func) (expr, error) {
	name := fmt.Sprintf("%s/%d", f.Name, len(f.Args))
	if strings.HasPrefix(f.Name, "$") && len(f.Args) == 0 {
		return c.variable(f.Name)
	}
	args, err := c.queries(f.Args...)
	if err != nil {
		return nil, err
	}
	if passes, ok := selectors[f.Name]; ok && len(args) == 0 {
		return func(_ *machine, in node, _ *binding, emit sink) error {
			if !passes(in.v) {
				return nil
			}
			return emit(in)
		}, nil
	}
	if made, ok := functions[name]; ok {
		if strings.HasPrefix(name, "test/") {
			if err := checkPattern(f.Args[0]); err != nil {
				return nil, err
			}
		}
		return call(made, args), nil
	}
	if run := control(name, args); run != nil {
		return run, nil
	}
	return nil, fmt.Errorf("uses the function %s, which is not offered in path expressions here", legible.Cut(name, 40))
}

// checkPattern reports an invalid regular expression early.
func checkPattern(q *gojq.Query) error {
	if q.Term == nil || q.Term.Str == nil || q.Term.Str.Queries != nil {
		return nil
	}
	if _, err := regexp.Compile(q.Term.Str.Str); err != nil {
		return fmt.Errorf("has a regular expression that cannot be read: %w", err)
	}
	return nil
}

// control are the functions whose arguments are expressions, or that keep the place of their input.
func control(name string, a []expr) expr {
	switch name {
	case "empty/0":
		return func(*machine, node, *binding, sink) error { return nil }
	case "select/1":
		return branch(a[0], identity, func(*machine, node, *binding, sink) error { return nil })
	case "recurse/0":
		return recurse
	case "recurse/1":
		return recurseBy(a[0])
	case "recurse/2":
		return recurseBy(pipe(a[0], control("select/1", a[1:])))
	case "first/0":
		return access(identity, constant(int64(0)), false)
	case "last/0":
		return access(identity, constant(int64(-1)), false)
	case "first/1":
		return limit(constant(int64(1)), a[0])
	case "last/1":
		return last(a[0])
	case "limit/2":
		return limit(a[0], a[1])
	case "nth/1":
		return access(identity, a[0], false)
	case "isempty/1":
		return isEmpty(a[0])
	case "map/1":
		return collect(pipe(iterate, a[0]))
	case "with_entries/1":
		return pipe(call(toEntries, nil), pipe(collect(pipe(iterate, a[0])), call(fromEntries, nil)))
	case "any/1":
		return anyOf(iterate, a[0], true)
	case "all/1":
		return anyOf(iterate, a[0], false)
	case "any/2":
		return anyOf(a[0], a[1], true)
	case "all/2":
		return anyOf(a[0], a[1], false)
	case "getpath/1":
		return getPath(a[0])
	case "paths/0":
		return allPaths(nil)
	case "paths/1":
		return allPaths(a[0])
	}
	return nil
}

func call(made function, args []expr) expr {
	var run func(m *machine, in node, env *binding, emit sink, vals []any) error
	run = func(m *machine, in node, env *binding, emit sink, vals []any) error {
		if len(vals) < len(args) {
			return args[len(vals)](m, in.value(), env, func(n node) error {
				return run(m, in, env, emit, append(vals[:len(vals):len(vals)], n.v))
			})
		}
		if err := m.spend(1); err != nil {
			return err
		}
		v, err := made(m, in.v, vals...)
		if err != nil {
			return err
		}
		return emit(in.made(v))
	}
	return func(m *machine, in node, env *binding, emit sink) error { return run(m, in, env, emit, nil) }
}

// enough ends an expression of which enough results are there; each has its own.
type enough struct{ _ byte }

func (*enough) Error() string { return "stopped" }

func limit(count, of expr) expr {
	return func(m *machine, in node, env *binding, emit sink) error {
		return count(m, in.value(), env, func(c node) error {
			f, ok := object.Float(c.v)
			left := clampIndex(f)
			if !ok || left <= 0 {
				return nil
			}
			stop := &enough{}
			err := of(m, in, env, func(n node) error {
				left--
				if err := emit(n); err != nil || left > 0 {
					return err
				}
				return stop
			})
			if err == error(stop) { //nolint:errorlint // this very one, which is never wrapped
				return nil
			}
			return err
		})
	}
}

func last(of expr) expr {
	return func(m *machine, in node, env *binding, emit sink) error {
		var last node
		found := false
		err := of(m, in, env, func(n node) error {
			last, found = n, true
			return m.spend(1)
		})
		if err != nil || !found {
			return err
		}
		return emit(last)
	}
}

func isEmpty(of expr) expr {
	return func(m *machine, in node, env *binding, emit sink) error {
		empty := true
		err := limit(constant(int64(1)), of)(m, in.value(), env, func(node) error {
			empty = false
			return nil
		})
		if err != nil {
			return err
		}
		return emit(in.made(empty))
	}
}

// anyOf is any(of; cond) where stop is true, else all(of; cond).
func anyOf(of, cond expr, stop bool) expr {
	return func(m *machine, in node, env *binding, emit sink) error {
		found := false
		check := pipe(of, pipe(cond, func(_ *machine, n node, _ *binding, emit sink) error {
			if truthy(n.v) != stop {
				return nil
			}
			return emit(n)
		}))
		err := limit(constant(int64(1)), check)(m, in.value(), env, func(node) error {
			found = true
			return nil
		})
		if err != nil {
			return err
		}
		return emit(in.made(found == stop))
	}
}

func getPath(path expr) expr {
	return func(m *machine, in node, env *binding, emit sink) error {
		return path(m, in.value(), env, func(p node) error {
			keys, ok := p.v.([]any)
			if !ok {
				return errors.New("getpath wants an array and got " + typeOf(p.v))
			}
			at := in
			for _, k := range keys {
				if err := m.spend(1); err != nil {
					return err
				}
				var err error
				if at, err = lookup(m, at, k); err != nil {
					return err
				}
			}
			return emit(at)
		})
	}
}

// allPaths lists the paths to everything below the input for which cond holds.
func allPaths(cond expr) expr {
	if cond == nil {
		cond = constant(true)
	}
	return func(m *machine, in node, env *binding, emit sink) error {
		return recurse(m, node{v: in.v, track: placed}, env, func(at node) error {
			if at.path == nil {
				return nil
			}
			return cond(m, at.value(), env, func(yes node) error {
				if !truthy(yes.v) {
					return nil
				}
				keys := at.path.Keys()
				if err := m.spend(len(keys)); err != nil {
					return err
				}
				for i, k := range keys {
					if n, ok := k.(int); ok {
						keys[i] = int64(n)
					}
				}
				return emit(in.made(keys))
			})
		})
	}
}

func fromJSON(m *machine, in any, _ ...any) (any, error) {
	text, ok := in.(string)
	if !ok {
		return nil, errors.New("fromjson wants a string and got " + typeOf(in))
	}
	if err := m.spend(len(text)); err != nil {
		return nil, err
	}
	obj, err := object.DecodeJSON([]byte(`{"v":` + text + `}`))
	if err != nil || len(obj) != 1 {
		return nil, errors.New("fromjson got what is no JSON")
	}
	return obj["v"], nil
}
