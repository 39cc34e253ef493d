package script

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// toLua copies a value into Lua. What Lua has no value for is nil, and nil leaves no place in a list.
func toLua(l *lua.LState, value any, depth int) (lua.LValue, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("the object is nested more than %d levels deep", maxDepth)
	}
	switch v := value.(type) {
	case bool:
		return lua.LBool(v), nil
	case string:
		return lua.LString(v), nil
	case float64:
		return lua.LNumber(v), nil
	case int:
		return lua.LNumber(v), nil
	case int32:
		return lua.LNumber(v), nil
	case int64:
		return lua.LNumber(v), nil
	case json.Number:
		return lua.LString(v), nil
	case []any:
		list := l.CreateTable(len(v), 0)
		for _, item := range v {
			member, err := toLua(l, item, depth+1)
			if err != nil {
				return nil, err
			}
			list.Append(member)
		}
		return list, nil
	case map[string]any:
		table := l.CreateTable(0, len(v))
		// In order, so that a script which goes through them gives the same result each time.
		for _, key := range slices.Sorted(maps.Keys(v)) {
			member, err := toLua(l, v[key], depth+1)
			if err != nil {
				return nil, err
			}
			table.RawSetString(key, member)
		}
		return table, nil
	}
	return lua.LNil, nil
}

var (
	errTwice  = errors.New("cannot encode recursively nested tables to JSON")
	errSparse = errors.New("cannot encode sparse array")
	errKeys   = errors.New("cannot encode mixed or invalid key types")
)

// reader copies a value out of Lua. A table may occur once: a script that returns one in two places could otherwise
// return a tree of any size.
type reader struct {
	seen map[*lua.LTable]bool
}

func (r *reader) value(value lua.LValue, depth int) (any, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("the script's result is nested more than %d levels deep", maxDepth)
	}
	switch v := value.(type) {
	case *lua.LNilType:
		return nil, nil
	case lua.LBool:
		return bool(v), nil
	case lua.LString:
		return strings.ToValidUTF8(string(v), "\uFFFD"), nil
	case lua.LNumber:
		return number(float64(v))
	case *lua.LTable:
		if r.seen[v] {
			return nil, errTwice
		}
		r.seen[v] = true
		return r.table(v, depth)
	}
	return nil, fmt.Errorf("cannot encode %s to JSON", value.Type())
}

// table is a list or a map by its first key; Lua knows no difference between an empty list and an empty map.
func (r *reader) table(t *lua.LTable, depth int) (any, error) {
	first, _ := t.Next(lua.LNil)
	switch first.Type() {
	case lua.LTNil:
		return []any{}, nil
	case lua.LTNumber:
		return r.list(t, depth)
	case lua.LTString:
		return r.fields(t, depth)
	}
	return nil, errKeys
}

func (r *reader) list(t *lua.LTable, depth int) (any, error) {
	list := []any{}
	for key, value := t.Next(lua.LNil); key != lua.LNil; key, value = t.Next(key) {
		index, ok := key.(lua.LNumber)
		if !ok {
			return nil, errKeys
		}
		if index != lua.LNumber(len(list)+1) {
			return nil, errSparse
		}
		member, err := r.value(value, depth+1)
		if err != nil {
			return nil, err
		}
		list = append(list, member)
	}
	return list, nil
}

func (r *reader) fields(t *lua.LTable, depth int) (any, error) {
	fields := map[string]any{}
	for key, value := t.Next(lua.LNil); key != lua.LNil; key, value = t.Next(key) {
		name, ok := key.(lua.LString)
		if !ok {
			return nil, errKeys
		}
		member, err := r.value(value, depth+1)
		if err != nil {
			return nil, err
		}
		fields[strings.ToValidUTF8(string(name), "\uFFFD")] = member
	}
	return fields, nil
}

// number makes a whole number whole again: Lua has floating point only.
func number(f float64) (any, error) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil, fmt.Errorf("json: unsupported value: %v", f)
	}
	if f == math.Trunc(f) && math.Abs(f) < 1<<63 {
		return int64(f), nil
	}
	return f, nil
}
