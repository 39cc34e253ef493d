package diff

import (
	"errors"
	"slices"
)

// How results flow from one part of an expression into the next.

func jqIdentity(_ *jqMachine, in jqNode, _ *jqVar, emit jqEmit) error { return emit(in) }

func jqConst(v any) jqExpr {
	return func(_ *jqMachine, in jqNode, _ *jqVar, emit jqEmit) error { return emit(in.made(v)) }
}

func jqPipe(left, right jqExpr) jqExpr {
	return func(m *jqMachine, in jqNode, env *jqVar, emit jqEmit) error {
		return left(m, in, env, func(n jqNode) error {
			if err := m.spend(1); err != nil {
				return err
			}
			return right(m, n, env, emit)
		})
	}
}

func jqComma(left, right jqExpr) jqExpr {
	return func(m *jqMachine, in jqNode, env *jqVar, emit jqEmit) error {
		if err := m.spend(1); err != nil {
			return err
		}
		if err := left(m, in, env, emit); err != nil {
			return err
		}
		return right(m, in, env, emit)
	}
}

// guarded runs an expression and tells its own errors from those of whoever takes its results.
func guarded(m *jqMachine, run jqExpr, in jqNode, env *jqVar, emit jqEmit) (own, theirs error) {
	err := run(m, in, env, func(n jqNode) error {
		theirs = emit(n)
		return theirs
	})
	switch {
	case theirs != nil:
		return nil, theirs
	case errors.Is(err, errJQFuel):
		return nil, err
	}
	return err, nil
}

func jqTry(body, catch jqExpr) jqExpr {
	return func(m *jqMachine, in jqNode, env *jqVar, emit jqEmit) error {
		own, theirs := guarded(m, body, in, env, emit)
		if theirs != nil || own == nil || catch == nil {
			return theirs
		}
		if err := m.spend(1); err != nil {
			return err
		}
		return catch(m, in.made(own.Error()), env, emit)
	}
}

func truthy(v any) bool { return v != nil && v != false }

func jqAlternative(left, right jqExpr) jqExpr {
	return func(m *jqMachine, in jqNode, env *jqVar, emit jqEmit) error {
		found := false
		_, theirs := guarded(m, left, in, env, func(n jqNode) error {
			if !truthy(n.v) {
				return nil
			}
			found = true
			return emit(n)
		})
		if theirs != nil || found {
			return theirs
		}
		if err := m.spend(1); err != nil {
			return err
		}
		return right(m, in, env, emit)
	}
}

// jqLogic is "and", or "or" where stop is true: the right side is not asked where the left one decides.
func jqLogic(left, right jqExpr, stop bool) jqExpr {
	return func(m *jqMachine, in jqNode, env *jqVar, emit jqEmit) error {
		return left(m, in.value(), env, func(a jqNode) error {
			if err := m.spend(1); err != nil {
				return err
			}
			if truthy(a.v) == stop {
				return emit(in.made(stop))
			}
			return right(m, in.value(), env, func(b jqNode) error { return emit(in.made(truthy(b.v))) })
		})
	}
}

// jqCombine makes one value of every pair of results.
func jqCombine(left, right jqExpr, combine func(m *jqMachine, a, b any) (any, error)) jqExpr {
	return func(m *jqMachine, in jqNode, env *jqVar, emit jqEmit) error {
		return right(m, in.value(), env, func(b jqNode) error {
			return left(m, in.value(), env, func(a jqNode) error {
				if err := m.spend(1); err != nil {
					return err
				}
				v, err := combine(m, a.v, b.v)
				if err != nil {
					return err
				}
				return emit(in.made(v))
			})
		})
	}
}

func jqCollect(items jqExpr) jqExpr {
	return func(m *jqMachine, in jqNode, env *jqVar, emit jqEmit) error {
		list := []any{}
		err := items(m, in.value(), env, func(n jqNode) error {
			list = append(list, n.v)
			return m.spend(1)
		})
		if err != nil {
			return err
		}
		return emit(in.made(list))
	}
}

func jqIf(cond, then, otherwise jqExpr) jqExpr {
	return func(m *jqMachine, in jqNode, env *jqVar, emit jqEmit) error {
		return cond(m, in.value(), env, func(n jqNode) error {
			if err := m.spend(1); err != nil {
				return err
			}
			if truthy(n.v) {
				return then(m, in, env, emit)
			}
			return otherwise(m, in, env, emit)
		})
	}
}

func jqIterate(m *jqMachine, in jqNode, _ *jqVar, emit jqEmit) error {
	if in.track == jqLost {
		return errJQPath
	}
	switch v := in.v.(type) {
	case []any:
		for i, item := range v {
			if err := m.spend(1); err != nil {
				return err
			}
			if err := emit(in.child(item, i)); err != nil {
				return err
			}
		}
		return nil
	case map[string]any:
		if err := m.spend(len(v)); err != nil {
			return err
		}
		for _, k := range sortedKeys(v) {
			if err := emit(in.child(v[k], k)); err != nil {
				return err
			}
		}
		return nil
	}
	return errors.New("cannot iterate over " + jqType(in.v))
}

func sortedKeys(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func jqRecurse(m *jqMachine, in jqNode, env *jqVar, emit jqEmit) error {
	if err := m.spend(1); err != nil {
		return err
	}
	if err := emit(in); err != nil {
		return err
	}
	switch in.v.(type) {
	case []any, map[string]any:
		return jqIterate(m, in, env, func(n jqNode) error { return jqRecurse(m, n, env, emit) })
	}
	return nil
}

// jqRecurseBy follows next from every result again. The fuel bounds it: each round costs some, and so does its depth.
func jqRecurseBy(next jqExpr) jqExpr {
	var run func(depth int, m *jqMachine, in jqNode, env *jqVar, emit jqEmit) error
	run = func(depth int, m *jqMachine, in jqNode, env *jqVar, emit jqEmit) error {
		if err := m.spend(1 + depth); err != nil {
			return err
		}
		if err := emit(in); err != nil {
			return err
		}
		return next(m, in, env, func(n jqNode) error { return run(depth+1, m, n, env, emit) })
	}
	return func(m *jqMachine, in jqNode, env *jqVar, emit jqEmit) error { return run(0, m, in, env, emit) }
}

// jqAt looks up a key or an index; both are evaluated on the input of the whole term.
func jqAt(of, key jqExpr, optional bool) jqExpr {
	return func(m *jqMachine, in jqNode, env *jqVar, emit jqEmit) error {
		return of(m, in, env, func(n jqNode) error {
			return key(m, in.value(), env, func(k jqNode) error {
				if err := m.spend(1); err != nil {
					return err
				}
				sub, err := jqLookup(m, n, k.v)
				if err != nil {
					return forgive(err, optional)
				}
				return emit(sub)
			})
		})
	}
}

// forgive makes nothing of an error that a question mark allows.
func forgive(err error, optional bool) error {
	if optional && !errors.Is(err, errJQFuel) {
		return nil
	}
	return err
}

func jqLookup(m *jqMachine, n jqNode, key any) (jqNode, error) {
	if n.track == jqLost {
		return n, errJQPath
	}
	if name, ok := key.(string); ok {
		switch v := n.v.(type) {
		case map[string]any:
			return n.child(v[name], name), nil
		case nil:
			return n.child(nil, name), nil
		}
		return n, errors.New("expected an object but got " + jqType(n.v))
	}
	f, ok := number(key)
	if !ok {
		return n, errors.New("cannot index with " + jqType(key))
	}
	i := clampIndex(f)
	switch v := n.v.(type) {
	case []any:
		at := i
		if at < 0 {
			at += len(v)
		}
		if at >= 0 && at < len(v) {
			return n.child(v[at], i), nil
		}
		return n.child(nil, i), nil
	case nil:
		return n.child(nil, i), nil
	case string:
		if err := m.spend(len(v)); err != nil {
			return n, err
		}
		if runes := []rune(v); i >= -len(runes) && i < len(runes) {
			return n.made(string(runes[(i+len(runes))%len(runes)])), nil
		}
		return n.made(nil), nil
	}
	return n, errors.New("expected an array but got " + jqType(n.v))
}

// jqCut is a slice of a list, or of a text.
func jqCut(of, from, to jqExpr, optional bool) jqExpr {
	return func(m *jqMachine, in jqNode, env *jqVar, emit jqEmit) error {
		return of(m, in, env, func(n jqNode) error {
			return from(m, in.value(), env, func(a jqNode) error {
				return to(m, in.value(), env, func(b jqNode) error {
					if err := m.spend(1); err != nil {
						return err
					}
					sub, err := jqSliceOf(m, n, a.v, b.v)
					if err != nil {
						return forgive(err, optional)
					}
					return emit(sub)
				})
			})
		})
	}
}

func jqSliceOf(m *jqMachine, n jqNode, from, to any) (jqNode, error) {
	if n.track == jqLost {
		return n, errJQPath
	}
	switch v := n.v.(type) {
	case nil:
		return n.child(nil, jqSlice{}), nil
	case []any:
		a, b, err := jqBounds(len(v), from, to)
		if err != nil {
			return n, err
		}
		return n.child(v[a:b:b], jqSlice{a, b}), nil
	case string:
		if err := m.spend(len(v)); err != nil {
			return n, err
		}
		runes := []rune(v)
		a, b, err := jqBounds(len(runes), from, to)
		if err != nil {
			return n, err
		}
		return n.made(string(runes[a:b])), nil
	}
	return n, errors.New("cannot slice " + jqType(n.v))
}

func jqBounds(n int, from, to any) (a, b int, err error) {
	bound := func(v any, otherwise int) (int, error) {
		if v == nil {
			return otherwise, nil
		}
		f, ok := number(v)
		if !ok {
			return 0, errors.New("cannot slice with " + jqType(v))
		}
		i := clampIndex(f)
		if i < 0 {
			i += n
		}
		return min(max(i, 0), n), nil
	}
	if a, err = bound(from, 0); err != nil {
		return 0, 0, err
	}
	if b, err = bound(to, n); err != nil {
		return 0, 0, err
	}
	return a, max(a, b), nil
}

func clampIndex(f float64) int {
	const most = 1 << 30
	if !(f > -most) { // also what is no number
		return -most
	}
	return int(min(f, most))
}
