package script

import (
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// openText replaces what of the string library can take any time or memory for one call, and meters the rest.
func (b box) openText(l *lua.LState) *lua.LTable {
	lib := tableOf(l, lua.StringLibName)
	for _, name := range []string{"lower", "upper", "reverse", "byte", "char"} {
		if inner, ok := lib.RawGetString(name).(*lua.LFunction); ok {
			lib.RawSetString(name, l.NewFunction(func(l *lua.LState) int {
				for i := 1; i <= l.GetTop(); i++ {
					if text, ok := l.Get(i).(lua.LString); ok {
						b.meter.take(l, len(text))
					}
				}
				return inner.GFunction(l)
			}))
		}
	}
	if inner, ok := lib.RawGetString("format").(*lua.LFunction); ok {
		lib.RawSetString("format", l.NewFunction(func(l *lua.LState) int {
			size := 0
			for i := 2; i <= l.GetTop(); i++ {
				size += len(lua.LVAsString(l.Get(i)))
			}
			b.meter.take(l, b.formatted(l, l.CheckString(1))+4*size)
			return inner.GFunction(l)
		}))
	}
	lib.RawSetString("rep", l.NewFunction(func(l *lua.LState) int {
		text, n := l.CheckString(1), max(l.CheckInt(2), 0)
		if len(text) > 0 && n > maxMemory/len(text) {
			b.meter.take(l, -1)
		}
		b.meter.take(l, n*len(text))
		l.Push(lua.LString(strings.Repeat(text, n)))
		return 1
	}))
	lib.RawSetString("find", l.NewFunction(b.find))
	lib.RawSetString("match", l.NewFunction(b.match))
	lib.RawSetString("gsub", l.NewFunction(b.gsub))
	gmatch := l.NewFunction(b.gmatch)
	lib.RawSetString("gmatch", gmatch)
	lib.RawSetString("gfind", gmatch)
	lib.RawSetString("dump", lua.LNil)
	return lib
}

// formatted returns how many bytes a format takes beside its arguments. A format of Lua has a width of two digits at
// most; Go's, which does the work, has more, and references to arguments by number.
func (b box) formatted(l *lua.LState, format string) int {
	size := len(format)
	for i := 0; i < len(format); i++ {
		if format[i] != '%' {
			continue
		}
		i++
		end := i
		for end < len(format) && strings.IndexByte("-+ #0123456789.", format[end]) >= 0 {
			end++
		}
		if end-i > 8 {
			l.RaiseError("invalid format (width or precision too long)")
		}
		digits := 0
		for _, c := range format[i:end] {
			if digits++; c < '0' || c > '9' {
				digits = 0
			}
			if digits > 3 {
				l.RaiseError("invalid format (width or precision too long)")
			}
		}
		if end == len(format) || strings.IndexByte("%cdEefgGioqsuXx", format[end]) < 0 {
			l.RaiseError("invalid option to 'format'")
		}
		size += 2000
		i = end
	}
	return size
}

// start is where a search begins, counted from 0, for Lua's index, which counts from 1 and backwards below 0.
func start(l *lua.LState, text string, arg int) int {
	at := l.OptInt(arg, 1)
	switch {
	case at > 0:
		at--
	case at < 0:
		at = max(0, len(text)+at)
	}
	return at
}

func (b box) find(l *lua.LState) int {
	text, pattern := l.CheckString(1), l.CheckString(2)
	from := start(l, text, 3)
	if from > len(text) {
		l.Push(lua.LNil)
		return 1
	}
	if l.ToBool(4) || !strings.ContainsAny(pattern, "^$*+?.([%-") {
		b.meter.spend(l, (len(text)-from)/64)
		at := strings.Index(text[from:], pattern)
		if at < 0 {
			l.Push(lua.LNil)
			return 1
		}
		l.Push(lua.LNumber(from + at + 1))
		l.Push(lua.LNumber(from + at + len(pattern)))
		return 2
	}
	m := b.matcher(l, text, pattern)
	at, end, found := m.search(from)
	if !found {
		l.Push(lua.LNil)
		return 1
	}
	l.Push(lua.LNumber(at + 1))
	l.Push(lua.LNumber(end))
	return 2 + m.push(len(m.captures), at, end)
}

func (b box) match(l *lua.LState) int {
	text, pattern := l.CheckString(1), l.CheckString(2)
	from := start(l, text, 3)
	if from <= len(text) {
		m := b.matcher(l, text, pattern)
		if at, end, found := m.search(from); found {
			return m.push(max(1, len(m.captures)), at, end)
		}
	}
	l.Push(lua.LNil)
	return 1
}

func (b box) gmatch(l *lua.LState) int {
	text, pattern := l.CheckString(1), l.CheckString(2)
	next := 0
	l.Push(l.NewFunction(func(l *lua.LState) int {
		m := b.matcher(l, text, pattern)
		m.anchored = false
		if next > len(text) {
			return 0
		}
		at, end, found := m.search(next)
		if !found {
			next = len(text) + 1
			return 0
		}
		next = end
		if end == at {
			next++
		}
		return m.push(max(1, len(m.captures)), at, end)
	}))
	return 1
}

func (b box) gsub(l *lua.LState) int {
	text, pattern, limit := l.CheckString(1), l.CheckString(2), l.OptInt(4, -1)
	l.CheckTypes(3, lua.LTString, lua.LTNumber, lua.LTTable, lua.LTFunction)
	with := l.Get(3)
	m := b.matcher(l, text, pattern)
	var out strings.Builder
	write := func(part string) {
		b.meter.take(l, len(part))
		out.WriteString(part)
	}
	at, count := 0, 0
	for limit < 0 || count < limit {
		end, found := m.here(at)
		if found {
			count++
			write(m.replacement(with, at, end))
		}
		switch {
		case found && end > at:
			at = end
		case at < len(text):
			write(text[at : at+1])
			at++
		default:
			at++
		}
		if at > len(text) || m.anchored {
			break
		}
	}
	if at < len(text) {
		write(text[at:])
	}
	l.Push(lua.LString(out.String()))
	l.Push(lua.LNumber(count))
	return 2
}
