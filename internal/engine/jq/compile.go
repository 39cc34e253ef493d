package jq

import (
	"errors"
	"fmt"
	"strings"

	"github.com/itchyny/gojq"

	"github.com/slipway-gitops/slipway/internal/legible"
)

// compiler turns what gojq parsed into functions; what is not offered is an error that names it.
type compiler struct {
	depth int
	vars  []string
}

func (c compiler) query(q *gojq.Query) (expr, error) {
	if c.depth++; c.depth > maxDepth {
		return nil, fmt.Errorf("is nested more than %d deep", maxDepth)
	}
	switch {
	case q == nil:
		return nil, errors.New("is incomplete")
	case q.Meta != nil || len(q.Imports) > 0:
		return nil, errors.New("imports a module, which is not allowed here")
	case len(q.FuncDefs) > 0:
		return nil, fmt.Errorf("defines the function %s: definitions are not allowed here", q.FuncDefs[0].Name)
	case q.Term != nil:
		return c.term(q.Term)
	case q.Right == nil:
		return nil, errors.New("is incomplete")
	}
	left, err := c.query(q.Left)
	if err != nil {
		return nil, err
	}
	right, err := c.query(q.Right)
	if err != nil {
		return nil, err
	}
	switch q.Op {
	case gojq.OpPipe:
		return pipe(left, right), nil
	case gojq.OpComma:
		return comma(left, right), nil
	case gojq.OpAlt:
		return alternative(left, right), nil
	case gojq.OpAnd:
		return logic(left, right, false), nil
	case gojq.OpOr:
		return logic(left, right, true), nil
	case gojq.OpEq, gojq.OpNe, gojq.OpLt, gojq.OpLe, gojq.OpGt, gojq.OpGe, gojq.OpAdd, gojq.OpSub:
		op := q.Op
		return combined(left, right, func(m *machine, a, b any) (any, error) { return operate(m, op, a, b) }), nil
	}
	return nil, fmt.Errorf("uses the operator %s, which is not allowed in a path expression here", q.Op)
}

func (c compiler) queries(qs ...*gojq.Query) ([]expr, error) {
	out := make([]expr, len(qs))
	for i, q := range qs {
		var err error
		if out[i], err = c.query(q); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (c compiler) term(t *gojq.Term) (expr, error) {
	run, err := c.base(t)
	if err != nil {
		return nil, err
	}
	for i, s := range t.SuffixList {
		// A question mark belongs to the one step before it.
		optional := i+1 < len(t.SuffixList) && t.SuffixList[i+1].Optional
		switch {
		case s.Index != nil:
			run, err = c.index(run, s.Index, optional)
		case s.Iter && optional:
			run = pipe(run, attempt(iterate, nil))
		case s.Iter:
			run = pipe(run, iterate)
		case s.Optional && i == 0:
			run = attempt(run, nil)
		case s.Bind != nil:
			run, err = c.bind(run, s.Bind)
		}
		if err != nil {
			return nil, err
		}
	}
	return run, nil
}

func (c compiler) base(t *gojq.Term) (expr, error) {
	switch t.Type {
	case gojq.TermTypeIdentity:
		return identity, nil
	case gojq.TermTypeRecurse:
		return recurse, nil
	case gojq.TermTypeNull:
		return constant(nil), nil
	case gojq.TermTypeTrue:
		return constant(true), nil
	case gojq.TermTypeFalse:
		return constant(false), nil
	case gojq.TermTypeIndex:
		return c.index(identity, t.Index, false)
	case gojq.TermTypeFunc:
		return c.call(t.Func)
	case gojq.TermTypeArray:
		if t.Array.Query == nil {
			return constant([]any{}), nil
		}
		items, err := c.query(t.Array.Query)
		return collect(items), err
	case gojq.TermTypeObject:
		return c.object(t.Object)
	case gojq.TermTypeNumber:
		v, ok := parseNumber(t.Number)
		if !ok {
			return nil, fmt.Errorf("has the number %s, which cannot be read", t.Number)
		}
		return constant(v), nil
	case gojq.TermTypeUnary:
		run, err := c.term(t.Unary.Term)
		if err != nil || t.Unary.Op == gojq.OpAdd {
			return run, err
		}
		return combined(constant(int64(0)), run, func(m *machine, a, b any) (any, error) {
			return operate(m, gojq.OpSub, a, b)
		}), nil
	case gojq.TermTypeString:
		return c.text(t.Str)
	case gojq.TermTypeFormat:
		if t.Str == nil {
			return c.call(&gojq.Func{Name: t.Format})
		}
	case gojq.TermTypeIf:
		return c.condition(t.If)
	case gojq.TermTypeTry:
		return c.try(t.Try)
	case gojq.TermTypeQuery:
		return c.query(t.Query)
	}
	return nil, fmt.Errorf("uses %q, which is not allowed in a path expression here", legible.Cut(t.String(), 40))
}

func (c compiler) text(s *gojq.String) (expr, error) {
	if s.Queries == nil {
		return constant(s.Str), nil
	}
	run := constant("")
	for _, q := range s.Queries {
		part, err := c.query(q)
		if err != nil {
			return nil, err
		}
		run = combined(run, part, func(m *machine, a, b any) (any, error) {
			text, err := toString(m, b)
			if err != nil {
				return nil, err
			}
			return operate(m, gojq.OpAdd, a, text)
		})
	}
	return run, nil
}

func (c compiler) index(of expr, i *gojq.Index, optional bool) (expr, error) {
	if i.Name != "" {
		return access(of, constant(i.Name), optional), nil
	}
	if i.Str != nil {
		key, err := c.text(i.Str)
		return access(of, key, optional), err
	}
	bound := func(q *gojq.Query) (expr, error) {
		if q == nil {
			return constant(nil), nil
		}
		return c.query(q)
	}
	from, err := bound(i.Start)
	if err != nil || !i.IsSlice {
		return access(of, from, optional), err
	}
	to, err := bound(i.End)
	return cut(of, from, to, optional), err
}

func (c compiler) bind(of expr, b *gojq.Bind) (expr, error) {
	if len(b.Patterns) != 1 || b.Patterns[0].Name == "" {
		return nil, errors.New("takes a value apart with \"as\": only \"as $name\" is allowed here")
	}
	name := b.Patterns[0].Name
	c.vars = append(c.vars[:len(c.vars):len(c.vars)], name)
	body, err := c.query(b.Body)
	return func(m *machine, in node, env *binding, emit sink) error {
		return of(m, in.value(), env, func(n node) error {
			if err := m.spend(1); err != nil {
				return err
			}
			return body(m, in, &binding{up: env, name: name, v: n.v}, emit)
		})
	}, err
}

func (c compiler) condition(i *gojq.If) (expr, error) {
	otherwise := identity
	var err error
	if i.Else != nil {
		if otherwise, err = c.query(i.Else); err != nil {
			return nil, err
		}
	}
	for n := len(i.Elif) - 1; n >= 0; n-- {
		parts, err := c.queries(i.Elif[n].Cond, i.Elif[n].Then)
		if err != nil {
			return nil, err
		}
		otherwise = branch(parts[0], parts[1], otherwise)
	}
	parts, err := c.queries(i.Cond, i.Then)
	if err != nil {
		return nil, err
	}
	return branch(parts[0], parts[1], otherwise), nil
}

func (c compiler) try(t *gojq.Try) (expr, error) {
	// The body of a try is a term without suffixes of its own, or a query in parentheses.
	body, err := c.query(t.Body)
	if err != nil || t.Catch == nil {
		return attempt(body, nil), err
	}
	catch, err := c.query(t.Catch)
	return attempt(body, catch), err
}

func (c compiler) object(o *gojq.Object) (expr, error) {
	run := constant(map[string]any{})
	for _, kv := range o.KeyVals {
		var key, val expr
		var err error
		switch {
		case kv.KeyString != nil:
			key, err = c.text(kv.KeyString)
		case kv.KeyQuery != nil:
			key, err = c.query(kv.KeyQuery)
		default:
			key = constant(strings.TrimPrefix(kv.Key, "$"))
		}
		if err != nil {
			return nil, err
		}
		switch {
		case kv.Val != nil:
			val, err = c.query(kv.Val)
		case strings.HasPrefix(kv.Key, "$"):
			val, err = c.variable(kv.Key)
		default:
			val = access(identity, key, false)
		}
		if err != nil {
			return nil, err
		}
		pair := combined(key, val, func(_ *machine, k, v any) (any, error) {
			name, ok := k.(string)
			if !ok {
				return nil, errors.New("has an object key that is no string")
			}
			return map[string]any{name: v}, nil
		})
		run = combined(run, pair, func(m *machine, a, b any) (any, error) { return operate(m, gojq.OpAdd, a, b) })
	}
	return run, nil
}

func (c compiler) variable(name string) (expr, error) {
	for i := len(c.vars) - 1; i >= 0; i-- {
		if c.vars[i] == name {
			return func(_ *machine, in node, env *binding, emit sink) error {
				for ; env != nil; env = env.up {
					if env.name == name {
						return emit(in.made(env.v))
					}
				}
				return emit(in.made(nil))
			}, nil
		}
	}
	return nil, fmt.Errorf("uses %s, which is not defined", legible.Cut(name, 40))
}
