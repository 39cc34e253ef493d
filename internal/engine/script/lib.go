package script

import (
	"strings"
	"time"

	lua "github.com/yuin/gopher-lua"

	"github.com/slipway-gitops/slipway/internal/legible"
)

// What the bookkeeping of Lua's values takes, in bytes, as far as the budget goes. A table gets room for 32 entries with
// its first one.
const (
	placeBytes = 16
	tableBytes = 1 << 10
)

// box is the sandbox of one run.
type box struct {
	meter *meter
	now   time.Time
}

// open gives a state its libraries.
func (b box) open(l *lua.LState, libs Libs) {
	openers := map[string]lua.LGFunction{lua.BaseLibName: lua.OpenBase, lua.TabLibName: lua.OpenTable}
	if libs == Open {
		openers[lua.StringLibName] = lua.OpenString
		openers[lua.MathLibName] = lua.OpenMath
	}
	for name, open := range openers {
		l.Push(l.NewFunction(open))
		l.Push(lua.LString(name))
		l.Call(1, 0)
	}
	// What reads code or files, prints, or reaches into the process.
	for _, name := range []string{"dofile", "load", "loadfile", "loadstring", "module", "_printregs", "getfenv", "setfenv"} {
		l.SetGlobal(name, lua.LNil)
	}
	nothing := l.NewFunction(func(*lua.LState) int { return 0 })
	l.SetGlobal("print", nothing)
	l.SetGlobal("collectgarbage", l.NewFunction(func(l *lua.LState) int {
		l.Push(lua.LNumber(0))
		return 1
	}))
	l.SetGlobal("rawset", l.NewFunction(b.rawset))
	l.SetGlobal("unpack", b.unpack(l))
	tables := tableOf(l, lua.TabLibName)
	tables.RawSetString("insert", l.NewFunction(b.insert))
	tables.RawSetString("concat", l.NewFunction(b.concat))
	if inner, ok := tables.RawGetString("sort").(*lua.LFunction); ok {
		tables.RawSetString("sort", l.NewFunction(func(l *lua.LState) int {
			b.meter.spend(l, 4*l.CheckTable(1).MaxN())
			return inner.GFunction(l)
		}))
	}

	clock := l.NewTable()
	clock.RawSetString("time", l.NewFunction(b.time))
	clock.RawSetString("date", l.NewFunction(b.date))
	modules := map[string]lua.LValue{lua.OsLibName: clock, lua.TabLibName: tables}
	if libs == Open {
		l.SetGlobal(lua.OsLibName, clock)
		modules[lua.StringLibName] = b.openText(l)
		math := tableOf(l, lua.MathLibName)
		math.RawSetString("randomseed", nothing) // the seed is the whole process's
		modules[lua.MathLibName] = math
	}
	l.SetGlobal("require", l.NewFunction(func(l *lua.LState) int {
		name := l.CheckString(1)
		module, ok := modules[name]
		if !ok {
			l.RaiseError("module %s not found: a script here can require os", legible.Cut(name, maxErrorText))
		}
		l.Push(module)
		return 1
	}))
}

// tableOf returns the table of a library that was opened just now.
func tableOf(l *lua.LState, name string) *lua.LTable {
	table, ok := l.GetGlobal(name).(*lua.LTable)
	if !ok {
		return l.NewTable()
	}
	return table
}

// hidden are the functions that metered scripts call, in the order of their names there.
func (b box) hidden(l *lua.LState) []lua.LValue {
	return []lua.LValue{
		l.NewFunction(func(l *lua.LState) int {
			l.Push(b.join(l, l.GetTop()))
			return 1
		}),
		l.NewFunction(func(l *lua.LState) int {
			b.meter.take(l, tableBytes)
			l.SetTop(1)
			return 1
		}),
		l.NewFunction(func(l *lua.LState) int {
			key := l.Get(2)
			b.place(l, l.Get(1), key)
			l.Push(key)
			return 1
		}),
	}
}

// join is the operator .. on the first n arguments.
func (b box) join(l *lua.LState, n int) lua.LValue {
	right := l.Get(n)
	for i := n - 1; i >= 1; i-- {
		left := l.Get(i)
		if lua.LVCanConvToString(left) && lua.LVCanConvToString(right) {
			head, tail := lua.LVAsString(left), lua.LVAsString(right)
			b.meter.take(l, len(head)+len(tail)+placeBytes)
			right = lua.LString(head + tail)
			continue
		}
		method := l.GetMetaField(left, "__concat")
		if method.Type() != lua.LTFunction {
			method = l.GetMetaField(right, "__concat")
		}
		if method.Type() != lua.LTFunction {
			l.RaiseError("cannot perform concat operation between %v and %v", left.Type(), right.Type())
		}
		l.Push(method)
		l.Push(left)
		l.Push(right)
		l.Call(2, 1)
		right = l.Get(-1)
		l.Pop(1)
	}
	return right
}

// place takes the memory for a place of a list that is about to be written: Lua fills what is between its end and there.
func (b box) place(l *lua.LState, target, key lua.LValue) {
	index, ok := key.(lua.LNumber)
	if !ok || index < 1 || index >= lua.LNumber(lua.MaxArrayIndex) {
		b.meter.take(l, placeBytes)
		return
	}
	end := 0
	// A table that hands writes on to another one says nothing about how long that is.
	if table, ok := target.(*lua.LTable); ok && l.GetMetaField(table, "__newindex") == lua.LNil {
		end = table.MaxN()
	}
	b.meter.take(l, placeBytes*max(1, int(index)-end))
}

func (b box) rawset(l *lua.LState) int {
	table, key, value := l.CheckTable(1), l.CheckAny(2), l.CheckAny(3)
	if n, ok := key.(lua.LNumber); key == lua.LNil || ok && n != n {
		l.RaiseError("table index is nil or no number")
	}
	b.meter.take(l, placeBytes)
	if index, ok := key.(lua.LNumber); ok && index >= 1 && index < lua.LNumber(lua.MaxArrayIndex) {
		b.meter.take(l, placeBytes*max(0, int(index)-table.MaxN()))
	}
	table.RawSet(key, value)
	l.SetTop(1)
	return 1
}

// unpack limits what is put on the stack in one call to what the stack holds, and says so.
func (b box) unpack(l *lua.LState) *lua.LFunction {
	inner, ok := l.GetGlobal("unpack").(*lua.LFunction)
	if !ok {
		return l.NewFunction(func(*lua.LState) int { return 0 })
	}
	return l.NewFunction(func(l *lua.LState) int {
		from, to := l.OptInt(2, 1), l.OptInt(3, l.CheckTable(1).Len())
		if from <= to && (to-from < 0 || to-from > 1000) {
			l.RaiseError("too many results to unpack")
		}
		return inner.GFunction(l)
	})
}

func (b box) insert(l *lua.LState) int {
	table := l.CheckTable(1)
	switch l.GetTop() {
	case 1:
		l.RaiseError("wrong number of arguments")
	case 2:
		b.meter.take(l, placeBytes)
		table.Append(l.Get(2))
	default:
		index, value := l.CheckInt(2), l.CheckAny(3)
		end := table.MaxN()
		b.meter.take(l, placeBytes*min(max(1, index-end), lua.MaxArrayIndex))
		b.meter.spend(l, end/16) // they all move
		table.Insert(index, value)
	}
	return 0
}

func (b box) concat(l *lua.LState) int {
	table, separator := l.CheckTable(1), l.OptString(2, "")
	from, to := l.OptInt(3, 1), min(l.OptInt(4, table.Len()), table.Len())
	var joined strings.Builder
	for i := max(from, 1); i <= to; i++ {
		value := table.RawGetInt(i)
		if !lua.LVCanConvToString(value) {
			l.RaiseError("invalid value (%s) at index %d in table for concat", value.Type(), i)
		}
		text := lua.LVAsString(value)
		b.meter.take(l, len(text)+len(separator))
		b.meter.spend(l, 1)
		joined.WriteString(text)
		if i != to {
			joined.WriteString(separator)
		}
	}
	l.Push(lua.LString(joined.String()))
	return 1
}

func (b box) time(l *lua.LState) int {
	if l.GetTop() == 0 {
		l.Push(lua.LNumber(b.now.Unix()))
		return 1
	}
	table := l.CheckTable(1)
	field := func(name string, otherwise int) int {
		if n, ok := table.RawGetString(name).(lua.LNumber); ok {
			return int(n)
		}
		return otherwise
	}
	at := time.Date(field("year", -1), time.Month(field("month", -1)), field("day", -1),
		field("hour", 12), field("min", 0), field("sec", 0), 0, b.now.Location())
	l.Push(lua.LNumber(at.Unix()))
	return 1
}

func (b box) date(l *lua.LState) int {
	at, format := b.now, l.OptString(1, "%c")
	if rest, utc := strings.CutPrefix(format, "!"); utc {
		at, format = at.UTC(), rest
	}
	if l.GetTop() >= 2 {
		at = time.Unix(l.CheckInt64(2), 0).In(at.Location())
	}
	if strings.HasPrefix(format, "*t") {
		fields := l.NewTable()
		for name, n := range map[string]int{
			"year": at.Year(), "month": int(at.Month()), "day": at.Day(), "hour": at.Hour(), "min": at.Minute(),
			"sec": at.Second(), "wday": int(at.Weekday()) + 1, "yday": at.YearDay(),
		} {
			fields.RawSetString(name, lua.LNumber(n))
		}
		fields.RawSetString("isdst", lua.LBool(at.IsDST()))
		l.Push(fields)
		return 1
	}
	b.meter.take(l, 16*len(format))
	b.meter.spend(l, len(format))
	l.Push(lua.LString(Date(at, format)))
	return 1
}

// layouts are what the directives of os.date stand for, in Go's terms.
//
//nolint:gochecknoglobals // a table
var layouts = map[byte]string{
	'a': "Mon", 'A': "Monday", 'b': "Jan", 'B': "January", 'c': "02 Jan 06 15:04 MST", 'd': "02", 'F': "2006-01-02",
	'H': "15", 'I': "03", 'j': "002", 'm': "01", 'M': "04", 'p': "PM", 'P': "pm", 'S': "05", 'x': "15/04/05",
	'X': "15:04:05", 'y': "06", 'Y': "2006", 'z': "-0700", 'Z': "MST",
}

// Date writes a time as os.date does: a format has directives like %Y and %M. It leaves one that there is not as it is.
func Date(at time.Time, format string) string {
	var out strings.Builder
	for i := 0; i < len(format); i++ {
		c := format[i]
		if c != '%' || i+1 == len(format) {
			out.WriteByte(c)
			continue
		}
		i++
		switch layout, known := layouts[format[i]]; {
		case known:
			out.WriteString(at.Format(layout))
		case format[i] == 'w':
			out.WriteByte(byte('0' + at.Weekday()))
		case format[i] == '%':
			out.WriteByte('%')
		default:
			out.WriteByte('%')
			out.WriteByte(format[i])
		}
	}
	return out.String()
}
