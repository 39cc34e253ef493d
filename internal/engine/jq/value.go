package jq

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"strconv"
	"strings"

	"github.com/itchyny/gojq"

	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// What expressions do with values. Whatever looks at every byte of a value pays for every eighth.

func typeOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case []any:
		return "array"
	case map[string]any:
		return "object"
	}
	return "number"
}

func parseNumber(text string) (any, bool) {
	if i, err := strconv.ParseInt(text, 10, 64); err == nil {
		return i, true
	}
	f, err := strconv.ParseFloat(text, 64)
	return f, err == nil && !math.IsInf(f, 0) && !math.IsNaN(f)
}

// pay pays for looking at a whole value.
func pay(m *machine, v any) error {
	switch v := v.(type) {
	case string:
		return m.spend(1 + len(v)/8)
	case []any:
		for _, item := range v {
			if err := pay(m, item); err != nil {
				return err
			}
		}
	case map[string]any:
		for k, item := range v {
			if err := m.spend(1 + len(k)/8); err != nil {
				return err
			}
			if err := pay(m, item); err != nil {
				return err
			}
		}
	}
	return m.spend(1)
}

func toJSON(m *machine, v any, _ ...any) (any, error) {
	if err := pay(m, v); err != nil {
		return nil, err
	}
	var out strings.Builder
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return nil, errors.New("cannot be written as JSON")
	}
	text := strings.TrimSuffix(out.String(), "\n")
	return text, m.spend(len(text) / 8)
}

func toString(m *machine, v any, _ ...any) (any, error) {
	if text, ok := v.(string); ok {
		return text, nil
	}
	return toJSON(m, v)
}

func raised(m *machine, v any) error {
	text, err := toString(m, v)
	if err != nil {
		return err
	}
	return fmt.Errorf("raises the error %v", text)
}

// operate is a binary operator on two values.
func operate(m *machine, op gojq.Operator, a, b any) (any, error) {
	switch op {
	case gojq.OpAdd:
		return plus(m, a, b)
	case gojq.OpSub:
		return minus(m, a, b)
	}
	order, err := compare(m, a, b)
	switch op {
	case gojq.OpEq:
		return order == 0, err
	case gojq.OpNe:
		return order != 0, err
	case gojq.OpLt:
		return order < 0, err
	case gojq.OpLe:
		return order <= 0, err
	case gojq.OpGt:
		return order > 0, err
	}
	return order >= 0, err
}

func plus(m *machine, a, b any) (any, error) {
	if a == nil {
		return b, nil
	}
	if b == nil {
		return a, nil
	}
	switch x := a.(type) {
	case string:
		if y, ok := b.(string); ok {
			return x + y, m.spend((len(x) + len(y)) / 8)
		}
	case []any:
		if y, ok := b.([]any); ok {
			return append(x[:len(x):len(x)], y...), m.spend(len(x) + len(y))
		}
	case map[string]any:
		if y, ok := b.(map[string]any); ok {
			out := make(map[string]any, len(x)+len(y))
			maps.Copy(out, x)
			maps.Copy(out, y)
			return out, m.spend(len(x) + len(y))
		}
	}
	return arithmetic(a, b, func(x, y int64) int64 { return x + y }, func(x, y float64) float64 { return x + y })
}

func minus(m *machine, a, b any) (any, error) {
	x, isList := a.([]any)
	y, ok := b.([]any)
	if !isList || !ok {
		return arithmetic(a, b, func(x, y int64) int64 { return x - y }, func(x, y float64) float64 { return x - y })
	}
	out := []any{}
	for _, item := range x {
		found := false
		for _, other := range y {
			order, err := compare(m, item, other)
			if err != nil {
				return nil, err
			}
			found = found || order == 0
		}
		if !found {
			out = append(out, item)
		}
	}
	return out, nil
}

func arithmetic(a, b any, whole func(x, y int64) int64, broken func(x, y float64) float64) (any, error) {
	i, okI := a.(int64)
	j, okJ := b.(int64)
	const most = 1 << 53
	if okI && okJ && max(i, j) < most && min(i, j) > -most {
		return whole(i, j), nil
	}
	x, okX := object.Float(a)
	y, okY := object.Float(b)
	if !okX || !okY {
		return nil, errors.New("cannot calculate with " + typeOf(a) + " and " + typeOf(b))
	}
	f := broken(x, y)
	if math.IsInf(f, 0) || math.IsNaN(f) {
		return nil, errors.New("calculates what is no number")
	}
	return f, nil
}

// compare orders any two values, as jq does: null, false, true, numbers, strings, arrays, objects.
func compare(m *machine, a, b any) (int, error) {
	if err := m.spend(1); err != nil {
		return 0, err
	}
	if x, y := rank(a), rank(b); x != y {
		return cmp.Compare(x, y), nil
	}
	switch x := a.(type) {
	case nil, bool:
		return 0, nil
	case string:
		y, _ := b.(string)
		return strings.Compare(x, y), m.spend(min(len(x), len(y)) / 8)
	case []any:
		y, _ := b.([]any)
		return compareLists(m, x, y)
	case map[string]any:
		y, _ := b.(map[string]any)
		keysX, keysY := listOf(sorted(x)), listOf(sorted(y))
		if order, err := compareLists(m, keysX, keysY); order != 0 || err != nil {
			return order, err
		}
		for _, k := range keysX {
			name, _ := k.(string)
			if order, err := compare(m, x[name], y[name]); order != 0 || err != nil {
				return order, err
			}
		}
		return 0, nil
	}
	x, _ := object.Float(a)
	y, _ := object.Float(b)
	return cmp.Compare(x, y), nil
}

func rank(v any) int {
	switch v {
	case nil:
		return 0
	case false:
		return 1
	case true:
		return 2
	}
	return map[string]int{"number": 3, "string": 4, "array": 5, "object": 6}[typeOf(v)]
}

func listOf(texts []string) []any {
	out := make([]any, len(texts))
	for i, t := range texts {
		out[i] = t
	}
	return out
}

func compareLists(m *machine, x, y []any) (int, error) {
	for i := range min(len(x), len(y)) {
		if order, err := compare(m, x[i], y[i]); order != 0 || err != nil {
			return order, err
		}
	}
	return cmp.Compare(len(x), len(y)), nil
}

func length(m *machine, in any, _ ...any) (any, error) {
	switch v := in.(type) {
	case nil:
		return int64(0), nil
	case string:
		return int64(len([]rune(v))), m.spend(len(v) / 8)
	case []any:
		return int64(len(v)), nil
	case map[string]any:
		return int64(len(v)), nil
	case int64:
		return max(v, -v), nil
	case float64:
		return math.Abs(v), nil
	}
	return nil, errors.New("has no length: " + typeOf(in))
}

func keys(m *machine, in any, _ ...any) (any, error) {
	switch v := in.(type) {
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = int64(i)
		}
		return out, m.spend(len(v))
	case map[string]any:
		return listOf(sorted(v)), m.spend(len(v))
	}
	return nil, errors.New("has no keys: " + typeOf(in))
}

func toNumber(_ *machine, in any, _ ...any) (any, error) {
	if text, ok := in.(string); ok && len(text) < 64 {
		if v, ok := parseNumber(text); ok {
			return v, nil
		}
	} else if typeOf(in) == "number" {
		return in, nil
	}
	return nil, errors.New("is no number")
}

// onText makes a function of the input and at most one argument, both strings.
func onText(f func(s, arg string) any) function {
	return func(m *machine, in any, args ...any) (any, error) {
		s, ok := in.(string)
		arg := ""
		if ok && len(args) > 0 {
			arg, ok = args[0].(string)
		}
		if !ok {
			return nil, errors.New("wants a string and got " + typeOf(in))
		}
		if err := m.spend((len(s) + len(arg)) / 2); err != nil {
			return nil, err
		}
		return f(s, arg), nil
	}
}

// trimmed leaves alone what is no string.
func trimmed(trim func(s, arg string) string) function {
	return func(_ *machine, in any, args ...any) (any, error) {
		s, ok := in.(string)
		arg, ok2 := args[0].(string)
		if !ok || !ok2 {
			return in, nil
		}
		return trim(s, arg), nil
	}
}

func asciiMap(s string, from, to, by rune) string {
	return strings.Map(func(r rune) rune {
		if r >= from && r <= to {
			return r + by
		}
		return r
	}, s)
}

func splitText(s, by string) any {
	if s == "" {
		return []any{}
	}
	return listOf(strings.Split(s, by))
}

func indexText(s, part string) any {
	i := strings.Index(s, part)
	if i < 0 || part == "" {
		return nil
	}
	return int64(len([]rune(s[:i])))
}

func decode64(m *machine, in any, _ ...any) (any, error) {
	s, ok := in.(string)
	if !ok {
		return nil, errors.New("wants a string and got " + typeOf(in))
	}
	raw, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(s, "="))
	if err != nil {
		return nil, errors.New("is not base64")
	}
	return strings.ToValidUTF8(string(raw), "\ufffd"), m.spend(len(s) / 2)
}

func join(m *machine, in any, args ...any) (any, error) {
	list, ok := in.([]any)
	by, ok2 := args[0].(string)
	if !ok || !ok2 {
		return nil, errors.New("join wants an array and a string")
	}
	parts := make([]string, len(list))
	for i, item := range list {
		if item == nil {
			continue
		}
		if t := typeOf(item); t == "array" || t == "object" {
			return nil, errors.New("cannot join " + t)
		}
		text, err := toString(m, item)
		if err != nil {
			return nil, err
		}
		parts[i], _ = text.(string)
		if err := m.spend((len(parts[i]) + len(by)) / 8); err != nil {
			return nil, err
		}
	}
	return strings.Join(parts, by), nil
}

func add(m *machine, in any, _ ...any) (any, error) {
	var sum any
	err := iterate(m, node{v: in}, nil, func(n node) (err error) {
		sum, err = plus(m, sum, n.v)
		return err
	})
	return sum, err
}

func anyItem(stop bool) function {
	return func(m *machine, in any, _ ...any) (any, error) {
		found := false
		err := iterate(m, node{v: in}, nil, func(n node) error {
			found = found || truthy(n.v) == stop
			return nil
		})
		return found == stop, err
	}
}
