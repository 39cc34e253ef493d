package store

import (
	"strings"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/rbac"
)

// where collects conditions, all of which must hold, and their arguments.
type where struct {
	conditions []string
	args       []any
}

// and adds a condition.
func (w *where) and(condition string, args ...any) {
	w.conditions = append(w.conditions, condition)
	w.args = append(w.args, args...)
}

// among adds that a column has one of some values, unless there are none.
func (w *where) among(column string, values []string) {
	if len(values) > 0 {
		w.and(column+" IN ("+marks(len(values))+")", anys(values)...)
	}
}

// contains adds that each word of a text is in one of some columns, whatever its
// case and the order of the words.
func (w *where) contains(text string, columns ...string) {
	for word := range strings.FieldsSeq(lower(text)) {
		pattern := "%" + literal(word) + "%"
		var or []string
		var args []any
		for _, column := range columns {
			or = append(or, "LOWER("+column+") LIKE ? ESCAPE '!'")
			args = append(args, pattern)
		}
		w.and("("+strings.Join(or, " OR ")+")", args...)
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

// like adds that a column matches a pattern around a text that is taken as it is.
func (w *where) like(column, before, text, after string) {
	w.and(column+" LIKE ? ESCAPE '!'", before+literal(text)+after)
}

// literal is a text in a pattern of LIKE.
func literal(text string) string {
	return strings.NewReplacer(`!`, `!!`, `%`, `!%`, `_`, `!_`).Replace(text)
}

// String is the clause; empty without conditions.
func (w *where) String() string {
	if len(w.conditions) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(w.conditions, " AND ")
}

// none is a condition that never holds.
const none = "1 = 0"

// guarded is a table whose rows rbac knows as objects: it has the columns scope
// and id, and labels.
type guarded struct {
	name string
	of   string // what rights call its rows
	kind string // what the table label calls them
	// number says that the id is one, which rights write as text.
	number bool
}

func (g guarded) id() string {
	if g.number {
		return "CAST(" + g.name + ".id AS TEXT)"
	}
	return g.name + ".id"
}

// permitted adds what a filter lets through. One for another type lets nothing
// through.
func (w *where) permitted(t guarded, filter rbac.Filter) {
	if filter.Nothing() || filter.Type != t.of {
		w.and(none)
		return
	}
	var or []string
	for _, term := range filter.Terms {
		condition, args := compileTerm(t, term)
		or = append(or, condition)
		w.args = append(w.args, args...)
	}
	w.conditions = append(w.conditions, "("+strings.Join(or, " OR ")+")")
}

// compileTerm is Term.matches, said in SQL.
func compileTerm(t guarded, term rbac.Term) (string, []any) {
	condition, args := compileScope(t.name+".scope", term.Scope)
	if term.All {
		return condition, args
	}
	var or []string
	if len(term.IDs) > 0 {
		or = append(or, t.id()+" IN ("+marks(len(term.IDs))+")")
		args = append(args, anys(term.IDs)...)
	}
	for _, selector := range term.Selectors {
		matches, more := compileSelector(t, selector)
		or = append(or, matches)
		args = append(args, more...)
	}
	if len(or) == 0 {
		return none, nil
	}
	return "(" + condition + " AND (" + strings.Join(or, " OR ") + "))", args
}

// compileScope says that a row is at a scope or below it.
func compileScope(column string, scope rbac.Scope) (string, []any) {
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

// compileSelector is Selector.Matches, said in SQL.
func compileSelector(t guarded, selector rbac.Selector) (string, []any) {
	if len(selector) == 0 {
		return none, nil
	}
	var and []string
	var args []any
	for _, r := range selector {
		in, labelled := " IN (", "SELECT l.id FROM label l WHERE l.type = ? AND l.name = ?"
		args = append(args, t.kind, r.Key)
		switch r.Op {
		case rbac.In, rbac.NotIn:
			if len(r.Values) == 0 {
				return none, nil
			}
			labelled += " AND l.value IN (" + marks(len(r.Values)) + ")"
			args = append(args, anys(r.Values)...)
		case rbac.Exists, rbac.NotExists:
		default:
			return none, nil
		}
		if r.Op == rbac.NotIn || r.Op == rbac.NotExists {
			in = " NOT IN ("
		}
		and = append(and, t.id()+in+labelled+")")
	}
	return "(" + strings.Join(and, " AND ") + ")", args
}

func scopeOf(scope api.Scope) rbac.Scope { return rbac.Scope(scope) }
