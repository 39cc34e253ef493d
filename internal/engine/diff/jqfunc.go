package diff

import (
	"encoding/base64"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/itchyny/gojq"

	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// jqMade are the functions that make a value of their input and the values of their arguments.
var jqMade = map[string]func(m *jqMachine, in any, args ...any) (any, error){ //nolint:gochecknoglobals // a table
	"not/0":            func(_ *jqMachine, in any, _ ...any) (any, error) { return !truthy(in), nil },
	"type/0":           func(_ *jqMachine, in any, _ ...any) (any, error) { return jqType(in), nil },
	"length/0":         jqLength,
	"keys/0":           jqKeys,
	"keys_unsorted/0":  jqKeys,
	"tostring/0":       func(m *jqMachine, in any, _ ...any) (any, error) { return jqToString(m, in) },
	"@text/0":          func(m *jqMachine, in any, _ ...any) (any, error) { return jqToString(m, in) },
	"tojson/0":         func(m *jqMachine, in any, _ ...any) (any, error) { return jqToJSON(m, in) },
	"@json/0":          func(m *jqMachine, in any, _ ...any) (any, error) { return jqToJSON(m, in) },
	"fromjson/0":       jqFromJSON,
	"tonumber/0":       jqToNumber,
	"ascii_downcase/0": jqOnText(func(s, _ string) any { return asciiMap(s, 'A', 'Z', 'a'-'A') }),
	"ascii_upcase/0":   jqOnText(func(s, _ string) any { return asciiMap(s, 'a', 'z', 'A'-'a') }),
	"@base64/0":        jqOnText(func(s, _ string) any { return base64.StdEncoding.EncodeToString([]byte(s)) }),
	"@base64d/0":       jqDecode64,
	"trim/0":           jqOnText(func(s, _ string) any { return strings.TrimSpace(s) }),
	"startswith/1":     jqOnText(func(s, arg string) any { return strings.HasPrefix(s, arg) }),
	"endswith/1":       jqOnText(func(s, arg string) any { return strings.HasSuffix(s, arg) }),
	"ltrimstr/1":       jqTrim(strings.TrimPrefix),
	"rtrimstr/1":       jqTrim(strings.TrimSuffix),
	"split/1":          jqOnText(splitText),
	"join/1":           jqJoin,
	"add/0":            jqAdd,
	"any/0":            jqAnyOf(true),
	"all/0":            jqAnyOf(false),
	"has/1":            func(m *jqMachine, in any, args ...any) (any, error) { return jqHas(in, args[0]) },
	"in/1":             func(m *jqMachine, in any, args ...any) (any, error) { return jqHas(args[0], in) },
	"contains/1":       func(m *jqMachine, in any, args ...any) (any, error) { return jqContains(m, in, args[0]) },
	"inside/1":         func(m *jqMachine, in any, args ...any) (any, error) { return jqContains(m, args[0], in) },
	"index/1":          jqOnText(func(s, arg string) any { return indexText(s, arg) }),
	"test/1":           func(m *jqMachine, in any, args ...any) (any, error) { return jqTest(m, in, args[0], "") },
	"test/2":           func(m *jqMachine, in any, args ...any) (any, error) { return jqTest(m, in, args[0], args[1]) },
	"to_entries/0":     jqToEntries,
	"from_entries/0":   jqFromEntries,
	"error/0":          func(m *jqMachine, in any, _ ...any) (any, error) { return nil, jqRaised(m, in) },
	"error/1":          func(m *jqMachine, _ any, args ...any) (any, error) { return nil, jqRaised(m, args[0]) },
}

// jqSelectors are the functions that let their input through when it is of a type.
var jqSelectors = map[string]func(v any) bool{ //nolint:gochecknoglobals // a table
	"values":    func(v any) bool { return v != nil },
	"nulls":     func(v any) bool { return v == nil },
	"booleans":  func(v any) bool { return jqType(v) == "boolean" },
	"numbers":   func(v any) bool { return jqType(v) == "number" },
	"strings":   func(v any) bool { return jqType(v) == "string" },
	"arrays":    func(v any) bool { return jqType(v) == "array" },
	"objects":   func(v any) bool { return jqType(v) == "object" },
	"iterables": func(v any) bool { return jqType(v) == "array" || jqType(v) == "object" },
	"scalars":   func(v any) bool { return jqType(v) != "array" && jqType(v) != "object" },
}

func (c jqCompiler) call(f *gojq.Func) (jqExpr, error) {
	name := fmt.Sprintf("%s/%d", f.Name, len(f.Args))
	if strings.HasPrefix(f.Name, "$") && len(f.Args) == 0 {
		return c.variable(f.Name)
	}
	args, err := c.queries(f.Args...)
	if err != nil {
		return nil, err
	}
	if passes, ok := jqSelectors[f.Name]; ok && len(args) == 0 {
		return func(_ *jqMachine, in jqNode, _ *jqVar, emit jqEmit) error {
			if !passes(in.v) {
				return nil
			}
			return emit(in)
		}, nil
	}
	if made, ok := jqMade[name]; ok {
		if strings.HasPrefix(name, "test/") {
			if err := checkPattern(f.Args[0]); err != nil {
				return nil, err
			}
		}
		return jqCall(made, args), nil
	}
	if run := jqControl(name, args); run != nil {
		return run, nil
	}
	return nil, fmt.Errorf("uses the function %s, which is not offered in path expressions here", clip(name, 40))
}

// checkPattern tells early of a regular expression that is none.
func checkPattern(q *gojq.Query) error {
	if q.Term == nil || q.Term.Str == nil || q.Term.Str.Queries != nil {
		return nil
	}
	if _, err := regexp.Compile(q.Term.Str.Str); err != nil {
		return fmt.Errorf("has a regular expression that cannot be read: %w", err)
	}
	return nil
}

// jqControl are the functions whose arguments are expressions, or that keep the place of their input.
func jqControl(name string, a []jqExpr) jqExpr {
	switch name {
	case "empty/0":
		return func(*jqMachine, jqNode, *jqVar, jqEmit) error { return nil }
	case "select/1":
		return jqIf(a[0], jqIdentity, func(*jqMachine, jqNode, *jqVar, jqEmit) error { return nil })
	case "recurse/0":
		return jqRecurse
	case "recurse/1":
		return jqRecurseBy(a[0])
	case "recurse/2":
		return jqRecurseBy(jqPipe(a[0], jqControl("select/1", a[1:])))
	case "first/0":
		return jqAt(jqIdentity, jqConst(int64(0)), false)
	case "last/0":
		return jqAt(jqIdentity, jqConst(int64(-1)), false)
	case "first/1":
		return jqLimit(jqConst(int64(1)), a[0])
	case "last/1":
		return jqLast(a[0])
	case "limit/2":
		return jqLimit(a[0], a[1])
	case "nth/1":
		return jqAt(jqIdentity, a[0], false)
	case "isempty/1":
		return jqIsEmpty(a[0])
	case "map/1":
		return jqCollect(jqPipe(jqIterate, a[0]))
	case "with_entries/1":
		return jqPipe(jqCall(jqToEntries, nil), jqPipe(jqCollect(jqPipe(jqIterate, a[0])), jqCall(jqFromEntries, nil)))
	case "any/1":
		return jqAny(jqIterate, a[0], true)
	case "all/1":
		return jqAny(jqIterate, a[0], false)
	case "any/2":
		return jqAny(a[0], a[1], true)
	case "all/2":
		return jqAny(a[0], a[1], false)
	case "getpath/1":
		return jqGetPath(a[0])
	case "paths/0":
		return jqAllPaths(nil)
	case "paths/1":
		return jqAllPaths(a[0])
	}
	return nil
}

func jqCall(made func(m *jqMachine, in any, args ...any) (any, error), args []jqExpr) jqExpr {
	var run func(m *jqMachine, in jqNode, env *jqVar, emit jqEmit, vals []any) error
	run = func(m *jqMachine, in jqNode, env *jqVar, emit jqEmit, vals []any) error {
		if len(vals) < len(args) {
			return args[len(vals)](m, in.value(), env, func(n jqNode) error {
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
	return func(m *jqMachine, in jqNode, env *jqVar, emit jqEmit) error { return run(m, in, env, emit, nil) }
}

// errJQStop ends an expression of which enough results are there; each has its own.
type errJQStop struct{ _ byte }

func (*errJQStop) Error() string { return "stopped" }

func jqLimit(count, of jqExpr) jqExpr {
	return func(m *jqMachine, in jqNode, env *jqVar, emit jqEmit) error {
		return count(m, in.value(), env, func(c jqNode) error {
			f, ok := number(c.v)
			left := clampIndex(f)
			if !ok || left <= 0 {
				return nil
			}
			stop := &errJQStop{}
			err := of(m, in, env, func(n jqNode) error {
				left--
				if err := emit(n); err != nil || left > 0 {
					return err
				}
				return stop
			})
			if err == error(stop) { //nolint:errorlint // this very one, which nobody wraps
				return nil
			}
			return err
		})
	}
}

func jqLast(of jqExpr) jqExpr {
	return func(m *jqMachine, in jqNode, env *jqVar, emit jqEmit) error {
		var last jqNode
		found := false
		err := of(m, in, env, func(n jqNode) error {
			last, found = n, true
			return m.spend(1)
		})
		if err != nil || !found {
			return err
		}
		return emit(last)
	}
}

func jqIsEmpty(of jqExpr) jqExpr {
	return func(m *jqMachine, in jqNode, env *jqVar, emit jqEmit) error {
		empty := true
		err := jqLimit(jqConst(int64(1)), of)(m, in.value(), env, func(jqNode) error {
			empty = false
			return nil
		})
		if err != nil {
			return err
		}
		return emit(in.made(empty))
	}
}

// jqAny is any(of; cond) where stop is true, else all(of; cond).
func jqAny(of, cond jqExpr, stop bool) jqExpr {
	return func(m *jqMachine, in jqNode, env *jqVar, emit jqEmit) error {
		found := false
		check := jqPipe(of, jqPipe(cond, func(_ *jqMachine, n jqNode, _ *jqVar, emit jqEmit) error {
			if truthy(n.v) != stop {
				return nil
			}
			return emit(n)
		}))
		err := jqLimit(jqConst(int64(1)), check)(m, in.value(), env, func(jqNode) error {
			found = true
			return nil
		})
		if err != nil {
			return err
		}
		return emit(in.made(found == stop))
	}
}

func jqGetPath(path jqExpr) jqExpr {
	return func(m *jqMachine, in jqNode, env *jqVar, emit jqEmit) error {
		return path(m, in.value(), env, func(p jqNode) error {
			keys, ok := p.v.([]any)
			if !ok {
				return errors.New("getpath wants an array and got " + jqType(p.v))
			}
			at := in
			for _, k := range keys {
				if err := m.spend(1); err != nil {
					return err
				}
				var err error
				if at, err = jqLookup(m, at, k); err != nil {
					return err
				}
			}
			return emit(at)
		})
	}
}

// jqAllPaths lists the paths to everything below the input for which cond holds.
func jqAllPaths(cond jqExpr) jqExpr {
	if cond == nil {
		cond = jqConst(true)
	}
	return func(m *jqMachine, in jqNode, env *jqVar, emit jqEmit) error {
		return jqRecurse(m, jqNode{v: in.v, track: jqPlaced}, env, func(at jqNode) error {
			if at.path == nil {
				return nil
			}
			return cond(m, at.value(), env, func(yes jqNode) error {
				if !truthy(yes.v) {
					return nil
				}
				keys := at.path.elements()
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

func jqFromJSON(m *jqMachine, in any, _ ...any) (any, error) {
	text, ok := in.(string)
	if !ok {
		return nil, errors.New("fromjson wants a string and got " + jqType(in))
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
