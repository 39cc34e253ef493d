package health

import (
	"fmt"
	"regexp"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
)

// rewriter turns a parsed expression into one that no absent field and no surprising type can make fail: every access
// and every operator becomes a call of a function in functions(), which takes any shape. Names and functions are
// checked on the way, so that a slip of the pen is found when a file is loaded and not when an object is judged.
type rewriter struct {
	make  ast.ExprFactory
	known func(name string) bool
	bound []string // names that macros bind, innermost last
	id    int64
	err   error
}

// The operators of CEL, and the functions that stand for them.
//
//nolint:gochecknoglobals // a table
var forgiving = map[string]string{
	operators.Less: fnLess, operators.LessEquals: fnLessEquals,
	operators.Greater: fnGreater, operators.GreaterEquals: fnGreaterEquals,
	operators.Add: fnAdd, operators.Subtract: fnSubtract, operators.Multiply: fnMultiply, operators.Divide: fnDivide,
	operators.Modulo: fnModulo, operators.Negate: fnNegate,
	operators.In: fnIn, operators.OldIn: fnIn, operators.Index: fnGet, operators.LogicalNot: fnNot,
	operators.NotStrictlyFalse: fnNotFalse,
}

func (r *rewriter) next() int64 {
	r.id++
	return r.id
}

func (r *rewriter) fail(format string, args ...any) ast.Expr {
	if r.err == nil {
		r.err = fmt.Errorf(format, args...)
	}
	return r.make.NewLiteral(r.next(), types.NullValue)
}

func (r *rewriter) call(function string, args ...ast.Expr) ast.Expr {
	return r.make.NewCall(r.next(), function, args...)
}

func (r *rewriter) literal(v ref.Val) ast.Expr { return r.make.NewLiteral(r.next(), v) }

func (r *rewriter) expr(e ast.Expr) ast.Expr {
	switch e.Kind() {
	case ast.LiteralKind:
		return r.literal(e.AsLiteral())
	case ast.IdentKind:
		return r.ident(e.AsIdent())
	case ast.SelectKind:
		s := e.AsSelect()
		function := fnGet
		if s.IsTestOnly() {
			function = fnHas
		}
		return r.call(function, r.expr(s.Operand()), r.literal(types.String(s.FieldName())))
	case ast.CallKind:
		return r.callExpr(e.AsCall())
	case ast.ListKind:
		return r.make.NewList(r.next(), r.exprs(e.AsList().Elements()), nil)
	case ast.MapKind:
		var entries []ast.EntryExpr
		for _, entry := range e.AsMap().Entries() {
			m := entry.AsMapEntry()
			entries = append(entries, r.make.NewMapEntry(r.next(), r.expr(m.Key()), r.expr(m.Value()), false))
		}
		return r.make.NewMap(r.next(), entries)
	case ast.ComprehensionKind:
		return r.loop(e.AsComprehension())
	}
	return r.fail("messages of protocol buffers are no part of the language")
}

func (r *rewriter) exprs(in []ast.Expr) []ast.Expr {
	out := make([]ast.Expr, len(in))
	for i, e := range in {
		out[i] = r.expr(e)
	}
	return out
}

func (r *rewriter) ident(name string) ast.Expr {
	if !r.isBound(name) && !r.known(name) {
		return r.fail("%s is not a name that is known here", name)
	}
	return r.make.NewIdent(r.next(), name)
}

func (r *rewriter) isBound(name string) bool {
	for _, b := range r.bound {
		if b == name {
			return true
		}
	}
	return false
}

// stepName is what every loop asks for before each of its rounds. A scope counts how often, and ends loops that go on
// for too long: all else in an expression takes as much time as the expression is long.
const stepName = "@step"

// loop rewrites what exists, all, exists_one, map and filter have become.
func (r *rewriter) loop(c ast.ComprehensionExpr) ast.Expr {
	over := r.call(fnItems, r.expr(c.IterRange()))
	init := r.expr(c.AccuInit())
	depth := len(r.bound)
	r.bound = append(r.bound, c.AccuVar())
	result := r.expr(c.Result())
	cond := r.call(operators.LogicalAnd, r.make.NewIdent(r.next(), stepName), r.expr(c.LoopCondition()))
	r.bound = append(r.bound, c.IterVar())
	step := r.expr(c.LoopStep())
	r.bound = r.bound[:depth]
	return r.make.NewComprehension(r.next(), over, c.IterVar(), c.AccuVar(), init, cond, step, result)
}

func (r *rewriter) callExpr(c ast.CallExpr) ast.Expr {
	name, args := c.FunctionName(), c.Args()
	if c.IsMemberFunction() {
		args = append([]ast.Expr{c.Target()}, args...)
	}
	switch name {
	case operators.LogicalAnd, operators.LogicalOr:
		out := make([]ast.Expr, len(args))
		for i, a := range args {
			out[i] = r.call(fnTrue, r.expr(a))
		}
		return r.call(name, out...)
	case operators.Conditional:
		return r.call(name, r.call(fnTrue, r.expr(args[0])), r.expr(args[1]), r.expr(args[2]))
	case operators.Equals, operators.NotEquals:
		return r.call(name, r.exprs(args)...)
	}
	if function, ok := forgiving[name]; ok {
		return r.call(function, r.exprs(args)...)
	}
	return r.function(name, args)
}

func (r *rewriter) function(name string, args []ast.Expr) ast.Expr {
	limits, ok := arity[name]
	if !ok {
		return r.fail("there is no function %s", name)
	}
	if len(args) < limits[0] || len(args) > limits[1] {
		return r.fail("%s takes %d to %d arguments and got %d", name, limits[0], limits[1], len(args))
	}
	switch name {
	case "condition":
		if len(args) == 1 {
			return r.call(name, r.ident("conditions"), r.expr(args[0]))
		}
	case "matches", "capture":
		return r.call(name, r.expr(args[0]), r.pattern(name, args[1]))
	}
	return r.call(name, r.exprs(args)...)
}

// pattern compiles a regular expression together with the rule that holds it: it is never the object's.
func (r *rewriter) pattern(function string, e ast.Expr) ast.Expr {
	if e.Kind() != ast.LiteralKind {
		return r.fail("the pattern of %s must be a literal", function)
	}
	text, ok := e.AsLiteral().(types.String)
	if !ok {
		return r.fail("the pattern of %s must be a string", function)
	}
	re, err := regexp.Compile(string(text))
	if err != nil {
		return r.fail("pattern of %s: %w", function, err)
	}
	return r.literal(regex{types.String(text), re})
}

// regex is a string that carries what it means as a regular expression.
type regex struct {
	types.String
	compiled *regexp.Regexp
}
