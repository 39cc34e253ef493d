package diff

import (
	"errors"
	"fmt"
	"strings"

	"github.com/itchyny/gojq"
)

// The language of jq is parsed by gojq and evaluated here. A rule comes from whoever may write an Application, and runs
// on every change of an object: it must end after a bounded amount of work, the same one each time, and needs nothing
// but paths. So there are no definitions, no reduce, no input, no environment and no clock, and every step and every
// byte that is looked at is paid for.

const (
	jqText  = 4 << 10 // bytes that one expression may have
	jqDepth = 200     // how deep an expression may be nested
	jqFuel  = 4 << 20 // steps that one expression may take on one object
	jqPaths = 20_000  // fields that one expression may name in one object
)

// errJQFuel ends an expression that costs too much.
var errJQFuel = errors.New("takes too many steps")

// errJQPath ends an expression that gives a value instead of a place.
var errJQPath = errors.New("gives a value and not a path; it must name fields, as the jq function path() wants")

// errJQWhole ends an expression that names the object itself.
var errJQWhole = errors.New("names the whole object")

// jqPath is a jq expression that names fields.
type jqPath struct {
	text string
	run  jqExpr
}

// jqStep is one element of a path, with those before it: a string, an int, or a jqSlice.
type jqStep struct {
	up  *jqStep
	key any
}

type jqSlice struct{ from, to int }

// jqTrack says whether the place of a value is known.
type jqTrack byte

const (
	jqValue  jqTrack = iota // nobody asks for the place
	jqPlaced                // path is the place
	jqLost                  // a place is asked for, and there is none: the value was made
)

type jqNode struct {
	v     any
	path  *jqStep
	track jqTrack
}

// made is a value that comes from nowhere in the object.
func (n jqNode) made(v any) jqNode {
	if n.track == jqValue {
		return jqNode{v: v}
	}
	return jqNode{v: v, track: jqLost}
}

// value is the same value where nobody asks for its place.
func (n jqNode) value() jqNode { return jqNode{v: n.v} }

func (n jqNode) child(v, key any) jqNode {
	if n.track == jqPlaced {
		return jqNode{v: v, path: &jqStep{up: n.path, key: key}, track: jqPlaced}
	}
	return jqNode{v: v}
}

type jqVar struct {
	up   *jqVar
	name string
	v    any
}

// jqMachine is one evaluation.
type jqMachine struct{ fuel int }

func (m *jqMachine) spend(n int) error {
	m.fuel -= n
	if m.fuel < 0 {
		return errJQFuel
	}
	return nil
}

type (
	jqEmit func(jqNode) error
	jqExpr func(m *jqMachine, in jqNode, env *jqVar, emit jqEmit) error
)

// parseJQ reads a path expression. The error says what is wrong with it, for whoever wrote it.
func parseJQ(text string) (*jqPath, error) {
	if strings.TrimSpace(text) == "" {
		return nil, errors.New("is empty")
	}
	if len(text) > jqText {
		return nil, fmt.Errorf("has %d bytes; at most %d are allowed", len(text), jqText)
	}
	query, err := gojq.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("is not valid jq: %w", err)
	}
	run, err := jqCompiler{}.query(query)
	if err != nil {
		return nil, err
	}
	return &jqPath{text: text, run: run}, nil
}

// paths returns the places in obj that the expression names. An error means that it names none: as jq's del() would, it
// does all or nothing.
func (p *jqPath) paths(obj any) ([]*jqStep, error) {
	m := &jqMachine{fuel: jqFuel}
	var out []*jqStep
	err := p.run(m, jqNode{v: obj, track: jqPlaced}, nil, func(n jqNode) error {
		if n.track != jqPlaced {
			return errJQPath
		}
		if len(out) >= jqPaths {
			return errJQFuel
		}
		out = append(out, n.path)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// elements lists the keys of a path from the top.
func (s *jqStep) elements() []any {
	n := 0
	for at := s; at != nil; at = at.up {
		n++
	}
	out := make([]any, n)
	for at := s; at != nil; at = at.up {
		n--
		out[n] = at.key
	}
	return out
}

// jqCompiler turns what gojq parsed into functions; what is not offered is an error that names it.
type jqCompiler struct {
	depth int
	vars  []string
}

func (c jqCompiler) query(q *gojq.Query) (jqExpr, error) {
	if c.depth++; c.depth > jqDepth {
		return nil, fmt.Errorf("is nested more than %d deep", jqDepth)
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
		return jqPipe(left, right), nil
	case gojq.OpComma:
		return jqComma(left, right), nil
	case gojq.OpAlt:
		return jqAlternative(left, right), nil
	case gojq.OpAnd:
		return jqLogic(left, right, false), nil
	case gojq.OpOr:
		return jqLogic(left, right, true), nil
	case gojq.OpEq, gojq.OpNe, gojq.OpLt, gojq.OpLe, gojq.OpGt, gojq.OpGe, gojq.OpAdd, gojq.OpSub:
		op := q.Op
		return jqCombine(left, right, func(m *jqMachine, a, b any) (any, error) { return jqOperate(m, op, a, b) }), nil
	}
	return nil, fmt.Errorf("uses the operator %s, which is not allowed in a path expression here", q.Op)
}

func (c jqCompiler) queries(qs ...*gojq.Query) ([]jqExpr, error) {
	out := make([]jqExpr, len(qs))
	for i, q := range qs {
		var err error
		if out[i], err = c.query(q); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (c jqCompiler) term(t *gojq.Term) (jqExpr, error) {
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
			run = jqPipe(run, jqTry(jqIterate, nil))
		case s.Iter:
			run = jqPipe(run, jqIterate)
		case s.Optional && i == 0:
			run = jqTry(run, nil)
		case s.Bind != nil:
			run, err = c.bind(run, s.Bind)
		}
		if err != nil {
			return nil, err
		}
	}
	return run, nil
}

func (c jqCompiler) base(t *gojq.Term) (jqExpr, error) {
	switch t.Type {
	case gojq.TermTypeIdentity:
		return jqIdentity, nil
	case gojq.TermTypeRecurse:
		return jqRecurse, nil
	case gojq.TermTypeNull:
		return jqConst(nil), nil
	case gojq.TermTypeTrue:
		return jqConst(true), nil
	case gojq.TermTypeFalse:
		return jqConst(false), nil
	case gojq.TermTypeIndex:
		return c.index(jqIdentity, t.Index, false)
	case gojq.TermTypeFunc:
		return c.call(t.Func)
	case gojq.TermTypeArray:
		if t.Array.Query == nil {
			return jqConst([]any{}), nil
		}
		items, err := c.query(t.Array.Query)
		return jqCollect(items), err
	case gojq.TermTypeObject:
		return c.object(t.Object)
	case gojq.TermTypeNumber:
		v, ok := jqNumber(t.Number)
		if !ok {
			return nil, fmt.Errorf("has the number %s, which cannot be read", t.Number)
		}
		return jqConst(v), nil
	case gojq.TermTypeUnary:
		run, err := c.term(t.Unary.Term)
		if err != nil || t.Unary.Op == gojq.OpAdd {
			return run, err
		}
		return jqCombine(jqConst(int64(0)), run, func(m *jqMachine, a, b any) (any, error) {
			return jqOperate(m, gojq.OpSub, a, b)
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
	return nil, fmt.Errorf("uses %q, which is not allowed in a path expression here", clip(t.String(), 40))
}

func clip(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit], "") + "…"
}

func (c jqCompiler) text(s *gojq.String) (jqExpr, error) {
	if s.Queries == nil {
		return jqConst(s.Str), nil
	}
	run := jqConst("")
	for _, q := range s.Queries {
		part, err := c.query(q)
		if err != nil {
			return nil, err
		}
		run = jqCombine(run, part, func(m *jqMachine, a, b any) (any, error) {
			text, err := jqToString(m, b)
			if err != nil {
				return nil, err
			}
			return jqOperate(m, gojq.OpAdd, a, text)
		})
	}
	return run, nil
}

func (c jqCompiler) index(of jqExpr, i *gojq.Index, optional bool) (jqExpr, error) {
	if i.Name != "" {
		return jqAt(of, jqConst(i.Name), optional), nil
	}
	if i.Str != nil {
		key, err := c.text(i.Str)
		return jqAt(of, key, optional), err
	}
	bound := func(q *gojq.Query) (jqExpr, error) {
		if q == nil {
			return jqConst(nil), nil
		}
		return c.query(q)
	}
	from, err := bound(i.Start)
	if err != nil || !i.IsSlice {
		return jqAt(of, from, optional), err
	}
	to, err := bound(i.End)
	return jqCut(of, from, to, optional), err
}

func (c jqCompiler) bind(of jqExpr, b *gojq.Bind) (jqExpr, error) {
	if len(b.Patterns) != 1 || b.Patterns[0].Name == "" {
		return nil, errors.New("takes a value apart with \"as\": only \"as $name\" is allowed here")
	}
	name := b.Patterns[0].Name
	c.vars = append(c.vars[:len(c.vars):len(c.vars)], name)
	body, err := c.query(b.Body)
	return func(m *jqMachine, in jqNode, env *jqVar, emit jqEmit) error {
		return of(m, in.value(), env, func(n jqNode) error {
			if err := m.spend(1); err != nil {
				return err
			}
			return body(m, in, &jqVar{up: env, name: name, v: n.v}, emit)
		})
	}, err
}

func (c jqCompiler) condition(i *gojq.If) (jqExpr, error) {
	otherwise := jqIdentity
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
		otherwise = jqIf(parts[0], parts[1], otherwise)
	}
	parts, err := c.queries(i.Cond, i.Then)
	if err != nil {
		return nil, err
	}
	return jqIf(parts[0], parts[1], otherwise), nil
}

func (c jqCompiler) try(t *gojq.Try) (jqExpr, error) {
	// The body of a try is a term without suffixes of its own, or a query in parentheses.
	body, err := c.query(t.Body)
	if err != nil || t.Catch == nil {
		return jqTry(body, nil), err
	}
	catch, err := c.query(t.Catch)
	return jqTry(body, catch), err
}

func (c jqCompiler) object(o *gojq.Object) (jqExpr, error) {
	run := jqConst(map[string]any{})
	for _, kv := range o.KeyVals {
		var key, val jqExpr
		var err error
		switch {
		case kv.KeyString != nil:
			key, err = c.text(kv.KeyString)
		case kv.KeyQuery != nil:
			key, err = c.query(kv.KeyQuery)
		default:
			key = jqConst(strings.TrimPrefix(kv.Key, "$"))
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
			val = jqAt(jqIdentity, key, false)
		}
		if err != nil {
			return nil, err
		}
		pair := jqCombine(key, val, func(_ *jqMachine, k, v any) (any, error) {
			name, ok := k.(string)
			if !ok {
				return nil, errors.New("has an object key that is no string")
			}
			return map[string]any{name: v}, nil
		})
		run = jqCombine(run, pair, func(m *jqMachine, a, b any) (any, error) { return jqOperate(m, gojq.OpAdd, a, b) })
	}
	return run, nil
}

func (c jqCompiler) variable(name string) (jqExpr, error) {
	for i := len(c.vars) - 1; i >= 0; i-- {
		if c.vars[i] == name {
			return func(_ *jqMachine, in jqNode, env *jqVar, emit jqEmit) error {
				for ; env != nil; env = env.up {
					if env.name == name {
						return emit(in.made(env.v))
					}
				}
				return emit(in.made(nil))
			}, nil
		}
	}
	return nil, fmt.Errorf("uses %s, which is not defined", clip(name, 40))
}
