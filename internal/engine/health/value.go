package health

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/google/cel-go/common/functions"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"

	"github.com/slipway-gitops/slipway/internal/legible"
)

// quantity reads a number; null counts as zero.
func quantity(v ref.Val) (float64, bool) {
	switch n := v.(type) {
	case types.Int:
		return float64(n), true
	case types.Uint:
		return float64(n), true
	case types.Double:
		return float64(n), true
	case types.Null:
		return 0, true
	}
	return 0, false
}

// order compares two numbers or two strings; it is false for what cannot be compared.
func order(a, b ref.Val) (int, bool) {
	if x, ok := a.(types.String); ok {
		y, ok := b.(types.String)
		return cmp.Compare(x, y), ok
	}
	x, isNumber := a.(types.Int)
	if y, ok := b.(types.Int); ok && isNumber {
		return cmp.Compare(x, y), true
	}
	p, ok := quantity(a)
	q, also := quantity(b)
	return cmp.Compare(p, q), ok && also && !math.IsNaN(p) && !math.IsNaN(q)
}

// add joins lists, sums numbers, and makes one text of all else.
func add(a, b ref.Val) ref.Val {
	if l, ok := a.(traits.Lister); ok {
		if _, ok := b.(traits.Lister); ok {
			return l.Add(b)
		}
	}
	_, text := a.(types.String)
	_, also := b.(types.String)
	if !text && !also {
		return calculate(fnAdd)(a, b)
	}
	return cut(show(a) + show(b))
}

func cut(s string) ref.Val {
	return types.String(legible.Prefix(s, maxText))
}

// calculate gives null where an operand is no number.
func calculate(operation string) functions.BinaryOp {
	return func(a, b ref.Val) ref.Val {
		p, ok := quantity(a)
		q, also := quantity(b)
		if !ok || !also {
			return types.NullValue
		}
		var result float64
		switch operation {
		case fnAdd:
			result = p + q
		case fnSubtract:
			result = p - q
		case fnMultiply:
			result = p * q
		default:
			if q == 0 {
				return types.NewErr("division by zero")
			}
			result = p / q
			if operation == fnModulo {
				result = math.Mod(p, q)
			}
		}
		return numeric(result)
	}
}

// numeric makes an integer of a whole number, so that 3.0 is written as 3.
func numeric(f float64) ref.Val {
	if f == math.Trunc(f) && math.Abs(f) < 1<<53 {
		return types.Int(f)
	}
	return types.Double(f)
}

func parseNumber(v ref.Val) ref.Val {
	switch t := v.(type) {
	case types.Int, types.Uint, types.Double:
		return v
	case types.String:
		if f, err := strconv.ParseFloat(strings.TrimSpace(string(t)), 64); err == nil {
			return numeric(f)
		}
	}
	return types.NullValue
}

// show writes a value for people. Null is nothing, and so are maps and lists: no message prints a whole object.
func show(v ref.Val) string {
	switch t := v.(type) {
	case types.String:
		return string(t)
	case regex:
		return string(t.String)
	case types.Bool:
		return strconv.FormatBool(bool(t))
	case types.Int:
		return strconv.FormatInt(int64(t), 10)
	case types.Uint:
		return strconv.FormatUint(uint64(t), 10)
	case types.Double:
		if whole, ok := numeric(float64(t)).(types.Int); ok {
			return strconv.FormatInt(int64(whole), 10)
		}
		return strconv.FormatFloat(float64(t), 'g', 14, 64)
	}
	return ""
}

func onText(f func(string) string) functions.UnaryOp {
	return func(v ref.Val) ref.Val { return types.String(f(show(v))) }
}

func onTexts(f func(s, part string) bool) functions.BinaryOp {
	return func(v, part ref.Val) ref.Val {
		s, ok := v.(types.String)
		p, also := part.(types.String)
		return types.Bool(ok && also && f(string(s), string(p)))
	}
}

// contains looks for a part of a text or for an item of a list.
func contains(v, part ref.Val) ref.Val {
	if _, ok := v.(traits.Lister); ok {
		return in(part, v)
	}
	return onTexts(strings.Contains)(v, part)
}

func matches(v, pattern ref.Val) ref.Val {
	s, ok := v.(types.String)
	re, also := pattern.(regex)
	return types.Bool(ok && also && re.compiled.MatchString(string(s)))
}

// capture lists what the groups of a pattern caught, or nothing where the pattern does not match.
func capture(v, pattern ref.Val) ref.Val {
	s, ok := v.(types.String)
	re, also := pattern.(regex)
	if !ok || !also {
		return newList(nil)
	}
	var all []ref.Val
	for i, group := range re.compiled.FindStringSubmatch(string(s)) {
		if i > 0 {
			all = append(all, types.String(group))
		}
	}
	return newList(all)
}

func replace(args ...ref.Val) ref.Val {
	s, from, to := show(args[0]), show(args[1]), show(args[2])
	if from == "" || len(s)+strings.Count(s, from)*len(to) > maxText {
		return types.String(s)
	}
	return types.String(strings.ReplaceAll(s, from, to))
}

// substring cuts by bytes; bounds outside of the text are moved to its ends.
func substring(args ...ref.Val) ref.Val {
	s := show(args[0])
	bound := func(i int, otherwise int) int {
		if i >= len(args) {
			return otherwise
		}
		n, _ := quantity(args[i])
		return int(max(0, min(n, float64(len(s)))))
	}
	from, to := bound(1, 0), bound(2, len(s))
	if from >= to {
		return types.String("")
	}
	return types.String(strings.ToValidUTF8(s[from:to], ""))
}

func split(v, separator ref.Val) ref.Val {
	s, ok := v.(types.String)
	if !ok {
		return newList(nil)
	}
	var all []ref.Val
	for part := range strings.SplitSeq(string(s), show(separator)) {
		all = append(all, types.String(part))
	}
	return newList(all)
}

func join(args ...ref.Val) ref.Val {
	separator := ""
	if len(args) > 1 {
		separator = show(args[1])
	}
	var out strings.Builder
	for i, item := range elements(args[0]) {
		if i > 0 {
			out.WriteString(separator)
		}
		out.WriteString(show(item))
		if out.Len() > maxText {
			break
		}
	}
	return cut(out.String())
}

func sum(v ref.Val) ref.Val {
	var total float64
	for _, item := range elements(v) {
		n, _ := quantity(item)
		total += n
	}
	return numeric(total)
}

// extreme is the greatest of its arguments, or with a negative sign the least.
func extreme(sign int) functions.FunctionOp {
	return func(args ...ref.Val) ref.Val {
		return slices.MaxFunc(args, func(a, b ref.Val) int { c, _ := order(a, b); return sign * c })
	}
}
