package jq

import (
	"errors"

	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// How results flow from one part of an expression into the next.

func identity(_ *machine, in node, _ *binding, emit sink) error { return emit(in) }

func constant(v any) expr {
	return func(_ *machine, in node, _ *binding, emit sink) error { return emit(in.made(v)) }
}

func pipe(left, right expr) expr {
	return func(m *machine, in node, env *binding, emit sink) error {
		return left(m, in, env, func(n node) error {
			if err := m.spend(1); err != nil {
				return err
			}
			return right(m, n, env, emit)
		})
	}
}

func comma(left, right expr) expr {
	return func(m *machine, in node, env *binding, emit sink) error {
		if err := m.spend(1); err != nil {
			return err
		}
		if err := left(m, in, env, emit); err != nil {
			return err
		}
		return right(m, in, env, emit)
	}
}

// guarded runs an expression and distinguishes its own errors from those of the receiver of its results.
func guarded(m *machine, run expr, in node, env *binding, emit sink) (own, theirs error) {
	err := run(m, in, env, func(n node) error {
		theirs = emit(n)
		return theirs
	})
	switch {
	case theirs != nil:
		return nil, theirs
	case errors.Is(err, ErrFuel):
		return nil, err
	}
	return err, nil
}

func attempt(body, catch expr) expr {
	return func(m *machine, in node, env *binding, emit sink) error {
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

func alternative(left, right expr) expr {
	return func(m *machine, in node, env *binding, emit sink) error {
		found := false
		_, theirs := guarded(m, left, in, env, func(n node) error {
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

// logic is "and", or "or" where stop is true: the right side is not asked where the left one decides.
func logic(left, right expr, stop bool) expr {
	return func(m *machine, in node, env *binding, emit sink) error {
		return left(m, in.value(), env, func(a node) error {
			if err := m.spend(1); err != nil {
				return err
			}
			if truthy(a.v) == stop {
				return emit(in.made(stop))
			}
			return right(m, in.value(), env, func(b node) error { return emit(in.made(truthy(b.v))) })
		})
	}
}

// combined makes one value of every pair of results.
func combined(left, right expr, combine func(m *machine, a, b any) (any, error)) expr {
	return func(m *machine, in node, env *binding, emit sink) error {
		return right(m, in.value(), env, func(b node) error {
			return left(m, in.value(), env, func(a node) error {
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

func collect(items expr) expr {
	return func(m *machine, in node, env *binding, emit sink) error {
		list := []any{}
		err := items(m, in.value(), env, func(n node) error {
			list = append(list, n.v)
			return m.spend(1)
		})
		if err != nil {
			return err
		}
		return emit(in.made(list))
	}
}

func branch(cond, then, otherwise expr) expr {
	return func(m *machine, in node, env *binding, emit sink) error {
		return cond(m, in.value(), env, func(n node) error {
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

func iterate(m *machine, in node, _ *binding, emit sink) error {
	if in.track == lost {
		return ErrNoPlace
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
		for _, k := range sorted(v) {
			if err := emit(in.child(v[k], k)); err != nil {
				return err
			}
		}
		return nil
	}
	return errors.New("cannot iterate over " + typeOf(in.v))
}

func recurse(m *machine, in node, env *binding, emit sink) error {
	if err := m.spend(1); err != nil {
		return err
	}
	if err := emit(in); err != nil {
		return err
	}
	switch in.v.(type) {
	case []any, map[string]any:
		return iterate(m, in, env, func(n node) error { return recurse(m, n, env, emit) })
	}
	return nil
}

// recurseBy follows next from every result again. The fuel bounds it: each round costs some, and so does its depth.
func recurseBy(next expr) expr {
	var run func(depth int, m *machine, in node, env *binding, emit sink) error
	run = func(depth int, m *machine, in node, env *binding, emit sink) error {
		if err := m.spend(1 + depth); err != nil {
			return err
		}
		if err := emit(in); err != nil {
			return err
		}
		return next(m, in, env, func(n node) error { return run(depth+1, m, n, env, emit) })
	}
	return func(m *machine, in node, env *binding, emit sink) error { return run(0, m, in, env, emit) }
}

// access looks up a key or an index; both are evaluated on the input of the whole term.
func access(of, key expr, optional bool) expr {
	return func(m *machine, in node, env *binding, emit sink) error {
		return of(m, in, env, func(n node) error {
			return key(m, in.value(), env, func(k node) error {
				if err := m.spend(1); err != nil {
					return err
				}
				sub, err := lookup(m, n, k.v)
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
	if optional && !errors.Is(err, ErrFuel) {
		return nil
	}
	return err
}

func lookup(m *machine, n node, key any) (node, error) {
	if n.track == lost {
		return n, ErrNoPlace
	}
	if name, ok := key.(string); ok {
		switch v := n.v.(type) {
		case map[string]any:
			return n.child(v[name], name), nil
		case nil:
			return n.child(nil, name), nil
		}
		return n, errors.New("expected an object but got " + typeOf(n.v))
	}
	f, ok := object.Float(key)
	if !ok {
		return n, errors.New("cannot index with " + typeOf(key))
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
	return n, errors.New("expected an array but got " + typeOf(n.v))
}

// cut is a slice of a list, or of a text.
func cut(of, from, to expr, optional bool) expr {
	return func(m *machine, in node, env *binding, emit sink) error {
		return of(m, in, env, func(n node) error {
			return from(m, in.value(), env, func(a node) error {
				return to(m, in.value(), env, func(b node) error {
					if err := m.spend(1); err != nil {
						return err
					}
					sub, err := sliceOf(m, n, a.v, b.v)
					if err != nil {
						return forgive(err, optional)
					}
					return emit(sub)
				})
			})
		})
	}
}

func sliceOf(m *machine, n node, from, to any) (node, error) {
	if n.track == lost {
		return n, ErrNoPlace
	}
	switch v := n.v.(type) {
	case nil:
		return n.child(nil, Slice{}), nil
	case []any:
		a, b, err := bounds(len(v), from, to)
		if err != nil {
			return n, err
		}
		return n.child(v[a:b:b], Slice{a, b}), nil
	case string:
		if err := m.spend(len(v)); err != nil {
			return n, err
		}
		runes := []rune(v)
		a, b, err := bounds(len(runes), from, to)
		if err != nil {
			return n, err
		}
		return n.made(string(runes[a:b])), nil
	}
	return n, errors.New("cannot slice " + typeOf(n.v))
}

func bounds(n int, from, to any) (a, b int, err error) {
	bound := func(v any, otherwise int) (int, error) {
		if v == nil {
			return otherwise, nil
		}
		f, ok := object.Float(v)
		if !ok {
			return 0, errors.New("cannot slice with " + typeOf(v))
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
