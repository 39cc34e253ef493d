package diff

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/itchyny/gojq"
)

// What expressions do with values. Whatever looks at every byte of a value pays for every eighth.

func jqType(v any) string {
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

func jqNumber(text string) (any, bool) {
	if i, err := strconv.ParseInt(text, 10, 64); err == nil {
		return i, true
	}
	f, err := strconv.ParseFloat(text, 64)
	return f, err == nil && !math.IsInf(f, 0) && !math.IsNaN(f)
}

// jqPay pays for looking at a whole value.
func jqPay(m *jqMachine, v any) error {
	switch v := v.(type) {
	case string:
		return m.spend(1 + len(v)/8)
	case []any:
		for _, item := range v {
			if err := jqPay(m, item); err != nil {
				return err
			}
		}
	case map[string]any:
		for k, item := range v {
			if err := m.spend(1 + len(k)/8); err != nil {
				return err
			}
			if err := jqPay(m, item); err != nil {
				return err
			}
		}
	}
	return m.spend(1)
}

func jqToJSON(m *jqMachine, v any) (any, error) {
	if err := jqPay(m, v); err != nil {
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

func jqToString(m *jqMachine, v any) (any, error) {
	if text, ok := v.(string); ok {
		return text, nil
	}
	return jqToJSON(m, v)
}

func jqRaised(m *jqMachine, v any) error {
	text, err := jqToString(m, v)
	if err != nil {
		return err
	}
	return fmt.Errorf("raises the error %v", text)
}

// jqOperate is a binary operator on two values.
func jqOperate(m *jqMachine, op gojq.Operator, a, b any) (any, error) {
	switch op {
	case gojq.OpAdd:
		return jqSum(m, a, b)
	case gojq.OpSub:
		return jqMinus(m, a, b)
	}
	order, err := jqCompare(m, a, b)
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

func jqSum(m *jqMachine, a, b any) (any, error) {
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
			out := shallow(x)
			for k, v := range y {
				out[k] = v
			}
			return out, m.spend(len(x) + len(y))
		}
	}
	return jqArithmetic(a, b, func(x, y int64) int64 { return x + y }, func(x, y float64) float64 { return x + y })
}

func jqMinus(m *jqMachine, a, b any) (any, error) {
	x, isList := a.([]any)
	y, ok := b.([]any)
	if !isList || !ok {
		return jqArithmetic(a, b, func(x, y int64) int64 { return x - y }, func(x, y float64) float64 { return x - y })
	}
	out := []any{}
	for _, item := range x {
		found := false
		for _, other := range y {
			order, err := jqCompare(m, item, other)
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

func jqArithmetic(a, b any, whole func(x, y int64) int64, broken func(x, y float64) float64) (any, error) {
	i, okI := a.(int64)
	j, okJ := b.(int64)
	const most = 1 << 53
	if okI && okJ && max(i, j) < most && min(i, j) > -most {
		return whole(i, j), nil
	}
	x, okX := number(a)
	y, okY := number(b)
	if !okX || !okY {
		return nil, errors.New("cannot calculate with " + jqType(a) + " and " + jqType(b))
	}
	f := broken(x, y)
	if math.IsInf(f, 0) || math.IsNaN(f) {
		return nil, errors.New("calculates what is no number")
	}
	return f, nil
}

// jqCompare orders any two values, as jq does: null, false, true, numbers, strings, arrays, objects.
func jqCompare(m *jqMachine, a, b any) (int, error) {
	if err := m.spend(1); err != nil {
		return 0, err
	}
	if x, y := jqRank(a), jqRank(b); x != y {
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
		return jqCompareLists(m, x, y)
	case map[string]any:
		y, _ := b.(map[string]any)
		keysX, keysY := jqList(sortedKeys(x)), jqList(sortedKeys(y))
		if order, err := jqCompareLists(m, keysX, keysY); order != 0 || err != nil {
			return order, err
		}
		for _, k := range keysX {
			name, _ := k.(string)
			if order, err := jqCompare(m, x[name], y[name]); order != 0 || err != nil {
				return order, err
			}
		}
		return 0, nil
	}
	x, _ := number(a)
	y, _ := number(b)
	return cmp.Compare(x, y), nil
}

func jqRank(v any) int {
	switch v {
	case nil:
		return 0
	case false:
		return 1
	case true:
		return 2
	}
	return map[string]int{"number": 3, "string": 4, "array": 5, "object": 6}[jqType(v)]
}

func jqList(texts []string) []any {
	out := make([]any, len(texts))
	for i, t := range texts {
		out[i] = t
	}
	return out
}

func jqCompareLists(m *jqMachine, x, y []any) (int, error) {
	for i := range min(len(x), len(y)) {
		if order, err := jqCompare(m, x[i], y[i]); order != 0 || err != nil {
			return order, err
		}
	}
	return cmp.Compare(len(x), len(y)), nil
}

func jqLength(m *jqMachine, in any, _ ...any) (any, error) {
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
	return nil, errors.New("has no length: " + jqType(in))
}

func jqKeys(m *jqMachine, in any, _ ...any) (any, error) {
	switch v := in.(type) {
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = int64(i)
		}
		return out, m.spend(len(v))
	case map[string]any:
		return jqList(sortedKeys(v)), m.spend(len(v))
	}
	return nil, errors.New("has no keys: " + jqType(in))
}

func jqToNumber(_ *jqMachine, in any, _ ...any) (any, error) {
	if text, ok := in.(string); ok && len(text) < 64 {
		if v, ok := jqNumber(text); ok {
			return v, nil
		}
	} else if jqType(in) == "number" {
		return in, nil
	}
	return nil, errors.New("is no number")
}

// jqOnText makes a function of the input and at most one argument, both strings.
func jqOnText(f func(s, arg string) any) func(m *jqMachine, in any, args ...any) (any, error) {
	return func(m *jqMachine, in any, args ...any) (any, error) {
		s, ok := in.(string)
		arg := ""
		if ok && len(args) > 0 {
			arg, ok = args[0].(string)
		}
		if !ok {
			return nil, errors.New("wants a string and got " + jqType(in))
		}
		if err := m.spend((len(s) + len(arg)) / 2); err != nil {
			return nil, err
		}
		return f(s, arg), nil
	}
}

// jqTrim leaves alone what is no string.
func jqTrim(trim func(s, arg string) string) func(m *jqMachine, in any, args ...any) (any, error) {
	return func(_ *jqMachine, in any, args ...any) (any, error) {
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
	return jqList(strings.Split(s, by))
}

func indexText(s, part string) any {
	i := strings.Index(s, part)
	if i < 0 || part == "" {
		return nil
	}
	return int64(len([]rune(s[:i])))
}

func jqDecode64(m *jqMachine, in any, _ ...any) (any, error) {
	s, ok := in.(string)
	if !ok {
		return nil, errors.New("wants a string and got " + jqType(in))
	}
	raw, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(s, "="))
	if err != nil {
		return nil, errors.New("is not base64")
	}
	return strings.ToValidUTF8(string(raw), "\ufffd"), m.spend(len(s) / 2)
}

func jqJoin(m *jqMachine, in any, args ...any) (any, error) {
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
		if t := jqType(item); t == "array" || t == "object" {
			return nil, errors.New("cannot join " + t)
		}
		text, err := jqToString(m, item)
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

func jqAdd(m *jqMachine, in any, _ ...any) (any, error) {
	var sum any
	err := jqIterate(m, jqNode{v: in}, nil, func(n jqNode) (err error) {
		sum, err = jqSum(m, sum, n.v)
		return err
	})
	return sum, err
}

func jqAnyOf(stop bool) func(m *jqMachine, in any, args ...any) (any, error) {
	return func(m *jqMachine, in any, _ ...any) (any, error) {
		found := false
		err := jqIterate(m, jqNode{v: in}, nil, func(n jqNode) error {
			found = found || truthy(n.v) == stop
			return nil
		})
		return found == stop, err
	}
}
