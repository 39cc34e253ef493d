package db

import (
	"strings"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/rbac"
)

// Where collects conditions, all of which must hold, and their arguments.
type Where struct {
	conditions []string
	Args       []any
}

// And adds a condition.
func (w *Where) And(condition string, args ...any) {
	w.conditions = append(w.conditions, condition)
	w.Args = append(w.Args, args...)
}

// Is adds that a column has a value, unless that is empty.
func (w *Where) Is(column, value string) {
	if value != "" {
		w.And(column+" = ?", value)
	}
}

// Between adds that a time is not before one and before another, as far as these are given.
func (w *Where) Between(column string, from, to time.Time) {
	if !from.IsZero() {
		w.And(column+" >= ?", from)
	}
	if !to.IsZero() {
		w.And(column+" < ?", to)
	}
}

// Within adds that a row is at a scope or below it.
func (w *Where) Within(column string, scope rbac.Scope) {
	condition, args := CompileScope(column, scope)
	w.And(condition, args...)
}

// Among adds that a column has one of some values, unless there are none.
func (w *Where) Among(column string, values []string) {
	if len(values) > 0 {
		w.And(column+" IN ("+Marks(len(values))+")", Anys(values)...)
	}
}

// Contains adds that each word of a text is in one of some columns, whatever its
// case and the order of the words.
func (w *Where) Contains(text string, columns ...string) {
	for word := range strings.FieldsSeq(lower(text)) {
		pattern := "%" + Literal(word) + "%"
		var or []string
		var args []any
		for _, column := range columns {
			or = append(or, "LOWER("+column+") LIKE ? ESCAPE '!'")
			args = append(args, pattern)
		}
		w.And("("+strings.Join(or, " OR ")+")", args...)
	}
}

// lower is what LOWER makes of a text in both databases: it knows the letters of
// ASCII only.
func lower(text string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}, text)
}

// Like adds that a column matches a pattern around a text that is taken as it is.
func (w *Where) Like(column, before, text, after string) {
	w.And(column+" LIKE ? ESCAPE '!'", before+Literal(text)+after)
}

// Literal is a text in a pattern of LIKE.
func Literal(text string) string {
	return strings.NewReplacer(`!`, `!!`, `%`, `!%`, `_`, `!_`).Replace(text)
}

// String is the clause; empty without conditions.
func (w *Where) String() string {
	if len(w.conditions) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(w.conditions, " AND ")
}

// none is a condition that never holds.
const none = "1 = 0"

// Guarded is a table whose rows rbac knows as objects: it has the columns scope
// and id, and labels.
type Guarded struct {
	Name string
	Of   string // what rights call its rows
	Kind string // what the table label calls them
	// Number says that the id is one, which rights write as text.
	Number bool
}

func (g Guarded) idColumn() string {
	if g.Number {
		return "CAST(" + g.Name + ".id AS TEXT)"
	}
	return g.Name + ".id"
}

// Permitted adds what a filter lets through. One for another type lets nothing
// through.
func (w *Where) Permitted(t Guarded, filter rbac.Filter) {
	if filter.Nothing() || filter.Type != t.Of {
		w.And(none)
		return
	}
	var or []string
	for _, term := range filter.Terms {
		condition, args := compileTerm(t, term)
		or = append(or, condition)
		w.Args = append(w.Args, args...)
	}
	w.conditions = append(w.conditions, "("+strings.Join(or, " OR ")+")")
}

// compileTerm is Term.matches in SQL.
func compileTerm(t Guarded, term rbac.Term) (string, []any) {
	condition, args := CompileScope(t.Name+".scope", term.Scope)
	if term.All {
		return condition, args
	}
	var or []string
	if len(term.IDs) > 0 {
		or = append(or, t.idColumn()+" IN ("+Marks(len(term.IDs))+")")
		args = append(args, Anys(term.IDs)...)
	}
	for _, selector := range term.Selectors {
		matches, more := CompileSelector(t, selector)
		or = append(or, matches)
		args = append(args, more...)
	}
	if len(or) == 0 {
		return none, nil
	}
	return "(" + condition + " AND (" + strings.Join(or, " OR ") + "))", args
}

// CompileScope says that a row is at a scope or below it.
func CompileScope(column string, scope rbac.Scope) (string, []any) {
	switch prefix := rbac.Prefix(scope); {
	case scope == rbac.Account:
		return "1 = 1", nil
	case !scope.Valid():
		return none, nil
	case prefix == "":
		return column + " = ?", []any{string(scope)}
	default:
		// Names have letters, digits and dashes only, so that everything that
		// begins with the prefix sorts before its dot's successor.
		end := strings.TrimSuffix(prefix, ".") + "/"
		return "(" + column + " = ? OR " + column + " >= ? AND " + column + " < ?)", []any{string(scope), prefix, end}
	}
}

// CompileSelector is Selector.Matches in SQL.
func CompileSelector(t Guarded, selector rbac.Selector) (string, []any) {
	if len(selector) == 0 {
		return none, nil
	}
	var and []string
	var args []any
	for _, r := range selector {
		in, labelled := " IN (", "SELECT l.id FROM label l WHERE l.type = ? AND l.name = ?"
		args = append(args, t.Kind, r.Key)
		switch r.Op {
		case rbac.In, rbac.NotIn:
			if len(r.Values) == 0 {
				return none, nil
			}
			labelled += " AND l.value IN (" + Marks(len(r.Values)) + ")"
			args = append(args, Anys(r.Values)...)
		case rbac.Exists, rbac.NotExists:
		default:
			return none, nil
		}
		if r.Op == rbac.NotIn || r.Op == rbac.NotExists {
			in = " NOT IN ("
		}
		and = append(and, t.idColumn()+in+labelled+")")
	}
	return "(" + strings.Join(and, " AND ") + ")", args
}

// ScopeOf is a scope as rbac has it.
func ScopeOf(scope api.Scope) rbac.Scope { return rbac.Scope(scope) }
