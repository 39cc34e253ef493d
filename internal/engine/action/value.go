package action

import (
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"

	"github.com/slipway-gitops/slipway/internal/engine/script"
)

// An expression must not fail because a field is missing: objects leave out what is not set. So a missing field is null,
// and so are the fields of null. Tree is a map of an object that answers like this, and absent is null.

type tree struct{ fields map[string]any }

// ConvertToNative implements ref.Val: a tree stays what it is.
func (t tree) ConvertToNative(want reflect.Type) (any, error) {
	if reflect.TypeOf(t.fields).AssignableTo(want) {
		return t.fields, nil
	}
	return nil, fmt.Errorf("a map is no %v", want)
}

// ConvertToType implements ref.Val.
func (t tree) ConvertToType(want ref.Type) ref.Val {
	if want == types.MapType {
		return t
	}
	return types.NewErr("a map is no %s", want.TypeName())
}

// Equal implements ref.Val.
func (t tree) Equal(other ref.Val) ref.Val {
	o, ok := other.(tree)
	return types.Bool(ok && reflect.DeepEqual(t.fields, o.fields))
}

// Type implements ref.Val.
func (tree) Type() ref.Type { return types.MapType }

// Value implements ref.Val.
func (t tree) Value() any { return t.fields }

// Contains implements traits.Container.
func (t tree) Contains(key ref.Val) ref.Val {
	name, ok := key.(types.String)
	_, found := t.fields[string(name)]
	return types.Bool(ok && found)
}

// Get implements traits.Indexer.
func (t tree) Get(key ref.Val) ref.Val {
	v, _ := t.Find(key)
	return v
}

// Find implements traits.Mapper: everything is found, and may be absent.
func (t tree) Find(key ref.Val) (ref.Val, bool) {
	name, ok := key.(types.String)
	if !ok {
		return types.NewErr("the key of a field is a string"), false
	}
	return adapter{}.NativeToValue(t.fields[string(name)]), true
}

// Size implements traits.Sizer.
func (t tree) Size() ref.Val { return types.Int(len(t.fields)) }

// Iterator implements traits.Iterable, in the order of names.
func (t tree) Iterator() traits.Iterator {
	return types.NewStringList(adapter{}, slices.Sorted(maps.Keys(t.fields))).Iterator()
}

// absent stands for null everywhere: it has fields and items like an empty map, all of them absent.
type absent struct{ tree }

// nothing is the variable that the compiler puts in the place of null: CEL's own null has no fields.
const nothing = "(null)"

// Equal implements ref.Val: it equals itself, and not an empty map.
func (absent) Equal(other ref.Val) ref.Val {
	_, ok := other.(absent)
	return types.Bool(ok)
}

// Value implements ref.Val.
func (absent) Value() any { return nil }

// Find implements traits.Mapper.
func (absent) Find(ref.Val) (ref.Val, bool) { return absent{}, true }

// Get implements traits.Indexer.
func (absent) Get(ref.Val) ref.Val { return absent{} }

// adapter makes values of what an object is made of.
type adapter struct{}

// NativeToValue implements types.Adapter.
func (a adapter) NativeToValue(value any) ref.Val {
	switch v := value.(type) {
	case nil:
		return absent{}
	case ref.Val:
		return v
	case map[string]any:
		return tree{v}
	case []any:
		return types.NewDynamicList(a, v)
	}
	return types.DefaultTypeAdapter.NativeToValue(value)
}

// native is the way back. What it returns shares no map and no list with the object.
func native(value ref.Val) (any, error) {
	switch v := value.(type) {
	case absent:
		return nil, nil
	case types.Bool:
		return bool(v), nil
	case types.String:
		return string(v), nil
	case types.Int:
		return int64(v), nil
	case types.Double:
		return float64(v), nil
	case tree:
		return copied(v.fields), nil
	case traits.Mapper:
		fields := map[string]any{}
		for it := v.Iterator(); it.HasNext() == types.True; {
			key := it.Next()
			name, ok := key.(types.String)
			if !ok {
				return nil, fmt.Errorf("a map has the key %v, which is no string", key)
			}
			field, err := native(v.Get(key))
			if err != nil {
				return nil, err
			}
			fields[string(name)] = field
		}
		return fields, nil
	case traits.Lister:
		list := []any{}
		for it := v.Iterator(); it.HasNext() == types.True; {
			item, err := native(it.Next())
			if err != nil {
				return nil, err
			}
			list = append(list, item)
		}
		return list, nil
	}
	return nil, fmt.Errorf("an object cannot hold a value of type %s", value.Type().TypeName())
}

// copied copies a value; there is nothing deeper than tooDeep lets through.
func copied(value any) any {
	switch v := value.(type) {
	case map[string]any:
		fields := make(map[string]any, len(v))
		for name, field := range v {
			fields[name] = copied(field)
		}
		return fields
	case []any:
		list := make([]any, len(v))
		for i, item := range v {
			list[i] = copied(item)
		}
		return list
	}
	return value
}

func tooDeep(value any, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("the object is nested more than %d levels deep", maxDepth)
	}
	switch v := value.(type) {
	case map[string]any:
		for _, field := range v {
			if err := tooDeep(field, depth+1); err != nil {
				return err
			}
		}
	case []any:
		for _, item := range v {
			if err := tooDeep(item, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

// functions are those of an expression beside CEL's own.
func functions() []cel.EnvOption {
	unary := func(name string, f func(ref.Val) ref.Val) cel.EnvOption {
		return cel.Function(name, cel.Overload(name+"_dyn", []*cel.Type{cel.DynType}, cel.DynType, cel.UnaryBinding(f)))
	}
	binary := func(name string, f func(a, b ref.Val) ref.Val) cel.EnvOption {
		return cel.Function(name, cel.Overload(name+"_dyn", []*cel.Type{cel.DynType, cel.DynType}, cel.DynType, cel.BinaryBinding(f)))
	}
	return []cel.EnvOption{
		unary("number", number), unary("count", count), unary("first", first), binary("after", after), binary("utc", utc),
	}
}

// number(x) is the number that a text says, or null. It reads what Lua's tonumber reads.
func number(v ref.Val) ref.Val {
	switch t := v.(type) {
	case types.Int, types.Uint, types.Double:
		return v
	case types.String:
		text := strings.Trim(string(t), " \n\t")
		if strings.Contains(text, ".") {
			if f, err := strconv.ParseFloat(text, 64); err == nil && !math.IsInf(f, 0) {
				if f == math.Trunc(f) && math.Abs(f) < 1<<63 {
					return types.Int(f)
				}
				return types.Double(f)
			}
			return absent{}
		}
		base := 10
		if hex, ok := strings.CutPrefix(strings.ToLower(text), "0x"); ok {
			text, base = hex, 16
		}
		if n, err := strconv.ParseInt(text, base, 64); err == nil {
			return types.Int(n)
		}
	}
	return absent{}
}

// count(x) is how many a list or a map holds; nothing holds none.
func count(v ref.Val) ref.Val {
	if s, ok := v.(traits.Sizer); ok && v.Type() != types.StringType {
		return s.Size()
	}
	return types.Int(0)
}

// first(list) is its first item, or null in an empty one.
func first(v ref.Val) ref.Val { return after(v, absent{}) }

// after(list, x) is what follows x in a list, round and round, or the first where x is not in it, or null in an empty one.
func after(v, item ref.Val) ref.Val {
	list, ok := v.(traits.Lister)
	size, _ := count(v).(types.Int)
	if !ok || size == 0 {
		return absent{}
	}
	for i := types.Int(0); i < size; i++ {
		if list.Get(i).Equal(item) == types.True {
			return list.Get((i + 1) % size)
		}
	}
	return list.Get(types.Int(0))
}

// utc(now, format) writes a time as os.date("!"..format) of Lua does.
func utc(v, format ref.Val) ref.Val {
	at, ok := v.(types.Timestamp)
	layout, also := format.(types.String)
	if !ok || !also {
		return types.NewErr("utc takes a time and a format")
	}
	return types.String(script.Date(at.Time.In(time.UTC), string(layout)))
}
