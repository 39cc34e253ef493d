package health

import (
	"slices"
	"strings"

	"github.com/google/cel-go/common/functions"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
)

// What operators and accesses become; see rewriter. No expression can spell these names.
const (
	fnGet, fnHas, fnItems, fnTrue, fnNot, fnNotFalse, fnIn = "@get", "@has", "@items", "@true", "@not", "@notFalse", "@in"
	fnLess, fnLessEquals, fnGreater, fnGreaterEquals       = "@lt", "@le", "@gt", "@ge"
	fnAdd, fnSubtract, fnMultiply, fnDivide, fnModulo      = "@add", "@sub", "@mul", "@div", "@mod"
	fnNegate                                               = "@neg"
)

// arity is the least and the greatest number of arguments of each function that a rule may call.
//
//nolint:gochecknoglobals // a table
var arity = map[string][2]int{
	"condition": {1, 2}, "default": {2, 2}, "size": {1, 1}, "string": {1, 1}, "number": {1, 1}, "typeOf": {1, 1},
	"contains": {2, 2}, "startsWith": {2, 2}, "endsWith": {2, 2}, "matches": {2, 2}, "capture": {2, 2},
	"lower": {1, 1}, "upper": {1, 1}, "trim": {1, 1}, "replace": {3, 3}, "substring": {2, 3},
	"split": {2, 2}, "join": {1, 2}, "first": {1, 1}, "last": {1, 1}, "reverse": {1, 1}, "sort": {1, 1},
	"list": {1, 1}, "keys": {1, 1}, "values": {1, 1}, "sum": {1, 1}, "indexes": {1, 1}, "min": {2, 2}, "max": {2, 2},
}

// maxText bounds a text that a rule builds, in bytes; messages are for people.
const maxText = 64 << 10

// overloads are the functions of the language. None fails but for a division by zero: what has no sensible answer for
// its arguments gives null, false, zero or nothing.
func overloads() []*functions.Overload {
	unary := func(name string, f functions.UnaryOp) *functions.Overload {
		return &functions.Overload{Operator: name, Unary: f}
	}
	binary := func(name string, f functions.BinaryOp) *functions.Overload {
		return &functions.Overload{Operator: name, Binary: f}
	}
	many := func(name string, f functions.FunctionOp) *functions.Overload {
		return &functions.Overload{Operator: name, Function: f}
	}
	return []*functions.Overload{
		binary(fnGet, get), binary(fnHas, func(v, key ref.Val) ref.Val { return types.Bool(get(v, key) != types.NullValue) }),
		unary(fnItems, items), unary(fnTrue, func(v ref.Val) ref.Val { return types.Bool(truth(v)) }),
		unary(fnNot, func(v ref.Val) ref.Val { return types.Bool(!truth(v)) }),
		{Operator: fnNotFalse, Unary: func(v ref.Val) ref.Val { return types.Bool(v != types.False) }, NonStrict: true},
		binary(fnIn, in),
		binary(fnLess, func(a, b ref.Val) ref.Val { c, ok := order(a, b); return types.Bool(ok && c < 0) }),
		binary(fnLessEquals, func(a, b ref.Val) ref.Val { c, ok := order(a, b); return types.Bool(ok && c <= 0) }),
		binary(fnGreater, func(a, b ref.Val) ref.Val { c, ok := order(a, b); return types.Bool(ok && c > 0) }),
		binary(fnGreaterEquals, func(a, b ref.Val) ref.Val { c, ok := order(a, b); return types.Bool(ok && c >= 0) }),
		binary(fnAdd, add), binary(fnSubtract, calculate(fnSubtract)), binary(fnMultiply, calculate(fnMultiply)),
		binary(fnDivide, calculate(fnDivide)), binary(fnModulo, calculate(fnModulo)),
		unary(fnNegate, func(v ref.Val) ref.Val { return calculate(fnSubtract)(types.IntZero, v) }),

		binary("condition", find), binary("default", orElse), unary("size", size),
		unary("string", func(v ref.Val) ref.Val { return types.String(show(v)) }),
		unary("number", parseNumber), unary("typeOf", func(v ref.Val) ref.Val { return types.String(typeName(v)) }),
		binary("contains", contains), binary("startsWith", onTexts(strings.HasPrefix)), binary("endsWith", onTexts(strings.HasSuffix)),
		binary("matches", matches), binary("capture", capture),
		unary("lower", onText(strings.ToLower)), unary("upper", onText(strings.ToUpper)), unary("trim", onText(strings.TrimSpace)),
		many("replace", replace), many("substring", substring), binary("split", split),
		many("join", join), unary("first", func(v ref.Val) ref.Val { return get(v, types.IntZero) }),
		unary("last", func(v ref.Val) ref.Val { return get(v, types.IntNegOne) }),
		unary("reverse", func(v ref.Val) ref.Val { all := elements(v); slices.Reverse(all); return newList(all) }),
		unary("sort", sorted), unary("list", func(v ref.Val) ref.Val { return newList(elements(v)) }),
		unary("keys", func(v ref.Val) ref.Val { return newList(keys(v)) }), unary("values", values),
		unary("indexes", indexes), unary("sum", sum), many("min", extreme(-1)), many("max", extreme(1)),
	}
}

// truth is what a condition counts as: all but null and false is true.
func truth(v ref.Val) bool { return v != types.NullValue && v != types.False }

func newList(all []ref.Val) ref.Val { return types.NewRefValList(types.DefaultTypeAdapter, all) }

// get reads a field of a map or an item of a list, counted from the end if negative; null stands for what is not there.
func get(v, key ref.Val) ref.Val {
	switch c := v.(type) {
	case traits.Mapper:
		if found, ok := c.Find(key); ok && !types.IsError(found) {
			return found
		}
	case traits.Lister:
		i, ok := key.(types.Int)
		n, _ := c.Size().(types.Int)
		if ok && i < 0 {
			i += n
		}
		if ok && i >= 0 && i < n {
			return c.Get(i)
		}
	}
	return types.NullValue
}

// elements lists the first maxItems items of a list; whatever is no list has none.
func elements(v ref.Val) []ref.Val {
	l, ok := v.(traits.Lister)
	if !ok {
		return nil
	}
	n, _ := l.Size().(types.Int)
	n = min(n, maxItems)
	all := make([]ref.Val, 0, n)
	for i := range n {
		all = append(all, l.Get(i))
	}
	return all
}

// keys lists the keys of a map that are strings, sorted: results must not depend on the order in memory.
func keys(v ref.Val) []ref.Val {
	m, ok := v.(traits.Mapper)
	if !ok {
		return nil
	}
	var all []ref.Val
	for it := m.Iterator(); it.HasNext() == types.True; {
		if key, ok := it.Next().(types.String); ok {
			all = append(all, key)
		}
	}
	slices.SortFunc(all, func(a, b ref.Val) int { return strings.Compare(string(a.(types.String)), string(b.(types.String))) })
	return all
}

// indexes lists the positions in a list, from 0.
func indexes(v ref.Val) ref.Val {
	all := elements(v)
	for i := range all {
		all[i] = types.Int(i)
	}
	return newList(all)
}

// values lists the values of a map, or the items of a list.
func values(v ref.Val) ref.Val {
	if _, ok := v.(traits.Lister); ok {
		return newList(elements(v))
	}
	all := keys(v)
	for i, key := range all {
		all[i] = get(v, key)
	}
	return newList(all)
}

// items is what a macro walks: the items of a list, the keys of a map, nothing for the rest.
func items(v ref.Val) ref.Val {
	switch v.(type) {
	case traits.Mapper:
		return newList(keys(v))
	case traits.Lister:
		if n := size(v); n.(types.Int) > maxItems {
			return types.NewErr("a list has %d items, more than %d are too many", n, maxItems)
		}
		return v
	}
	return newList(nil)
}

func in(v, container ref.Val) ref.Val {
	switch c := container.(type) {
	case traits.Mapper:
		_, ok := c.Find(v)
		return types.Bool(ok)
	case traits.Lister:
		return types.Bool(slices.ContainsFunc(elements(c), func(item ref.Val) bool { return types.Equal(item, v) == types.True }))
	}
	return types.False
}

// find is the first item of a list whose field "type" has a value.
func find(v, name ref.Val) ref.Val {
	for _, item := range elements(v) {
		if types.Equal(get(item, types.String("type")), name) == types.True {
			return item
		}
	}
	return types.NullValue
}

func orElse(v, fallback ref.Val) ref.Val {
	if v == types.NullValue {
		return fallback
	}
	return v
}

func size(v ref.Val) ref.Val {
	if s, ok := v.(traits.Sizer); ok {
		return s.Size()
	}
	return types.IntZero
}

func typeName(v ref.Val) string {
	switch v.(type) {
	case types.Null:
		return "null"
	case types.Bool:
		return "bool"
	case types.String:
		return "string"
	case types.Int, types.Uint, types.Double:
		return "number"
	case traits.Mapper:
		return "map"
	case traits.Lister:
		return "list"
	}
	return "other"
}

func sorted(v ref.Val) ref.Val {
	all := elements(v)
	slices.SortStableFunc(all, func(a, b ref.Val) int {
		if c, ok := order(a, b); ok {
			return c
		}
		return strings.Compare(typeName(a), typeName(b))
	})
	return newList(all)
}
