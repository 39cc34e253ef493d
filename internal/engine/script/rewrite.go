package script

import (
	"errors"

	"github.com/yuin/gopher-lua/ast"
)

// The interpreter's own instructions for joining strings, making tables and writing to an index use as much memory as
// they like. So the tree of a script is changed before it is compiled: these three become calls of functions of ours,
// which are handed to the script as its arguments and kept in locals that no script can name.
const (
	joinName  = "(join)"  // join(a, b, ...) is a .. b .. ...
	tableName = "(table)" // table(t) is t, a new table
	indexName = "(index)" // index(t, k) is k, an index of t that is about to be written
)

const (
	maxNesting = 400 // levels of a script's tree
	maxJoined  = 40  // arguments of one join: each takes a register
)

var errNesting = errors.New("it is nested too deeply")

// metered returns the changed tree. It changes the one that it gets.
func metered(chunk []ast.Stmt) ([]ast.Stmt, error) {
	r := rewriter{}
	r.block(chunk)
	if r.deep {
		return nil, errNesting
	}
	line := 1
	if len(chunk) > 0 {
		line = chunk[0].Line()
	}
	hidden := &ast.LocalAssignStmt{Names: []string{joinName, tableName, indexName}, Exprs: []ast.Expr{at(&ast.Comma3Expr{}, line)}}
	return append([]ast.Stmt{at(hidden, line)}, chunk...), nil
}

type rewriter struct {
	depth int
	deep  bool
}

// enter reports whether there may be another level; leave goes back.
func (r *rewriter) enter() bool {
	r.depth++
	if r.depth > maxNesting {
		r.deep = true
	}
	return !r.deep
}

func (r *rewriter) leave() { r.depth-- }

func (r *rewriter) block(stmts []ast.Stmt) {
	for i := range stmts {
		stmts[i] = r.stmt(stmts[i])
	}
}

func (r *rewriter) stmt(stmt ast.Stmt) ast.Stmt {
	defer r.leave()
	if !r.enter() {
		return stmt
	}
	switch s := stmt.(type) {
	case *ast.AssignStmt:
		return r.assign(s)
	case *ast.LocalAssignStmt:
		r.exprs(s.Exprs)
	case *ast.FuncCallStmt:
		s.Expr = r.expr(s.Expr)
	case *ast.DoBlockStmt:
		r.block(s.Stmts)
	case *ast.WhileStmt:
		s.Condition = r.expr(s.Condition)
		r.block(s.Stmts)
	case *ast.RepeatStmt:
		s.Condition = r.expr(s.Condition)
		r.block(s.Stmts)
	case *ast.IfStmt:
		s.Condition = r.expr(s.Condition)
		r.block(s.Then)
		r.block(s.Else)
	case *ast.NumberForStmt:
		s.Init, s.Limit = r.expr(s.Init), r.expr(s.Limit)
		if s.Step != nil {
			s.Step = r.expr(s.Step)
		}
		r.block(s.Stmts)
	case *ast.GenericForStmt:
		r.exprs(s.Exprs)
		r.block(s.Stmts)
	case *ast.FuncDefStmt:
		r.block(s.Func.Stmts)
	case *ast.ReturnStmt:
		r.exprs(s.Exprs)
	}
	return stmt
}

// assign makes `do local o = O; local k = index(o, K); o[k] = V end` of `O[K] = V`, unless K is a name.
func (r *rewriter) assign(s *ast.AssignStmt) ast.Stmt {
	r.exprs(s.Rhs)
	var before []ast.Stmt
	line := s.Line()
	local := func(name string, value ast.Expr) *ast.IdentExpr {
		before = append(before, at(&ast.LocalAssignStmt{Names: []string{name}, Exprs: []ast.Expr{value}}, line))
		return at(&ast.IdentExpr{Value: name}, line)
	}
	for i, target := range s.Lhs {
		get, ok := target.(*ast.AttrGetExpr)
		if !ok {
			continue
		}
		get.Object = r.expr(get.Object)
		if _, ok := get.Key.(*ast.StringExpr); ok {
			continue
		}
		suffix := string(rune('0'+i%10)) + string(rune('0'+i/10))
		get.Object = local("(o"+suffix+")", get.Object)
		get.Key = local("(k"+suffix+")", call(indexName, line, get.Object, r.expr(get.Key)))
	}
	if len(before) == 0 {
		return s
	}
	return at(&ast.DoBlockStmt{Stmts: append(before, s)}, line)
}

func (r *rewriter) exprs(list []ast.Expr) {
	for i := range list {
		list[i] = r.expr(list[i])
	}
}

func (r *rewriter) expr(expr ast.Expr) ast.Expr {
	defer r.leave()
	if !r.enter() {
		return expr
	}
	switch e := expr.(type) {
	case *ast.AttrGetExpr:
		e.Object, e.Key = r.expr(e.Object), r.expr(e.Key)
	case *ast.TableExpr:
		r.fields(e)
		return call(tableName, e.Line(), e)
	case *ast.FuncCallExpr:
		if e.Func != nil {
			e.Func = r.expr(e.Func)
		}
		if e.Receiver != nil {
			e.Receiver = r.expr(e.Receiver)
		}
		r.exprs(e.Args)
	case *ast.LogicalOpExpr:
		e.Lhs, e.Rhs = r.expr(e.Lhs), r.expr(e.Rhs)
	case *ast.RelationalOpExpr:
		e.Lhs, e.Rhs = r.expr(e.Lhs), r.expr(e.Rhs)
	case *ast.ArithmeticOpExpr:
		e.Lhs, e.Rhs = r.expr(e.Lhs), r.expr(e.Rhs)
	case *ast.UnaryMinusOpExpr:
		e.Expr = r.expr(e.Expr)
	case *ast.UnaryNotOpExpr:
		e.Expr = r.expr(e.Expr)
	case *ast.UnaryLenOpExpr:
		e.Expr = r.expr(e.Expr)
	case *ast.FunctionExpr:
		r.block(e.Stmts)
	case *ast.StringConcatOpExpr:
		return r.join(e)
	}
	return expr
}

// fields checks the indices of a table's constructor too: {[1000000] = true} is a list with a million places.
func (r *rewriter) fields(e *ast.TableExpr) {
	for _, field := range e.Fields {
		field.Value = r.expr(field.Value)
		if field.Key == nil {
			continue
		}
		if _, ok := field.Key.(*ast.StringExpr); ok {
			continue
		}
		field.Key = call(indexName, e.Line(), at(&ast.NilExpr{}, e.Line()), r.expr(field.Key))
	}
}

// join takes a chain of joins apart, which leans to the right: a .. (b .. (c .. d)).
func (r *rewriter) join(e *ast.StringConcatOpExpr) ast.Expr {
	var parts []ast.Expr
	var rest ast.Expr = e
	for {
		next, ok := rest.(*ast.StringConcatOpExpr)
		if !ok {
			parts = append(parts, r.expr(rest))
			break
		}
		parts = append(parts, r.expr(next.Lhs))
		rest = next.Rhs
	}
	line := e.Line()
	for len(parts) > maxJoined {
		from := len(parts) - maxJoined
		parts = append(parts[:from:from], call(joinName, line, parts[from:]...))
	}
	return call(joinName, line, parts...)
}

// call is a call of one of the hidden functions, for its one result.
func call(name string, line int, args ...ast.Expr) *ast.FuncCallExpr {
	return at(&ast.FuncCallExpr{Func: at(&ast.IdentExpr{Value: name}, line), Args: args, AdjustRet: true}, line)
}

// at says the line of a node that is in no source, for the errors that name it.
func at[N ast.PositionHolder](node N, line int) N {
	node.SetLine(line)
	node.SetLastLine(line)
	return node
}
