package script_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-gitops/slipway/internal/engine/script"
)

var noon = time.Date(2026, 3, 4, 12, 30, 45, 0, time.UTC)

func run(t testing.TB, source string, libs script.Libs, obj map[string]any) (any, error) {
	t.Helper()
	p, err := script.Compile(source, "test", libs)
	if err != nil {
		t.Fatal(err)
	}
	return p.Run(script.Input{Object: obj, Params: map[string]string{"n": "3"}, Now: noon})
}

func TestAScriptSeesTheObjectAndReturnsAValue(t *testing.T) {
	t.Parallel()
	obj := map[string]any{
		"spec":   map[string]any{"replicas": int64(3), "ratio": 0.5, "names": []any{"a", nil, "b"}, "on": true, "none": nil, "empty": map[string]any{}},
		"status": map[string]any{"huge": int64(1) << 40},
	}
	for _, c := range []struct {
		name, source string
		want         any
	}{
		{"nothing", `local x = 1`, nil},
		{"nil", `return nil`, nil},
		{"a whole number", `return obj.spec.replicas + 1`, int64(4)},
		{"a large whole number", `return obj.status.huge`, int64(1) << 40},
		{"a fraction", `return obj.spec.ratio`, 0.5},
		{"a missing field", `return obj.spec.other == nil`, true},
		{"null is a missing field", `return obj.spec.none == nil`, true},
		{"null leaves no place in a list", `return #obj.spec.names`, int64(2)},
		{"an empty table is an empty list", `return obj.spec.empty`, []any{}},
		{"a list", `return {1, "x", {y = false}}`, []any{int64(1), "x", map[string]any{"y": false}}},
		{"the last of several results", `return 1, 2`, int64(2)},
		{"parameters are strings", `return actionParams.n .. "!"`, "3!"},
		{"no parameter", `return actionParams["m"] == nil`, true},
		{"a global nil", `obj.spec.replicas = null; return obj.spec.replicas == nil`, true},
		{"writing by index", `local t = {}; for i = 1, 3 do t[i] = i * i end; t[#t + 1] = "end"; return t`, []any{int64(1), int64(4), int64(9), "end"}},
		{"exchanging", `local a = {1, 2}; a[1], a[2] = a[2], a[1]; return a`, []any{int64(2), int64(1)}},
		{"joining leans to the right", `return 1 .. 2 .. "x" .. "y"`, "12xy"},
		{"a long join", `return ` + strings.Repeat(`"a" .. `, 100) + `"b"`, strings.Repeat("a", 100) + "b"},
		{"metamethods of joins", `local m = setmetatable({}, {__concat = function(a, b) return "joined" end}); return m .. "x"`, "joined"},
		{"pairs come in the order of names", `local s = ""; for k in pairs({}) do end; for k, _ in pairs(obj.spec) do s = s .. k .. "," end; return s`, "empty,names,on,ratio,replicas,"},
		{"the time", `local os = require("os"); return os.date("!%Y-%m-%dT%XZ")`, "2026-03-04T12:30:45Z"},
		{"more of the time", `return require("os").date("!%y%m%d %H:%M %% %q")`, "260304 12:30 % %q"},
		{"seconds", `return require("os").time()`, noon.Unix()},
		{"seconds of a date", `return require("os").time({year = 2026, month = 3, day = 4})`, noon.Unix() - 30*60 - 45},
		{"errors can be caught", `local ok, e = pcall(function() error({code = 7}) end); return e.code`, int64(7)},
		{"recursion", `local function f(n) if n == 0 then return 0 end return 1 + f(n - 1) end return f(100)`, int64(100)},
		{"table functions", `local t = {3, 1, 2}; table.sort(t); table.insert(t, 9); table.insert(t, 1, 0); table.remove(t, 2); return table.concat(t, "-")`, "0-2-3-9"},
		{"the number of entries", `return table.getn({1, 2, 3})`, int64(3)},
		{"no strings unless open", `return string == nil and math == nil and os == nil`, true},
		{"nothing that reaches outside", `return io == nil and debug == nil and package == nil and dofile == nil and loadfile == nil and load == nil and loadstring == nil and coroutine == nil`, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := run(t, c.source, script.Basic, obj)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestOpenLibrariesAreThereIfAsked(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, source string
		want         any
	}{
		{"methods of strings", `return ("abc"):upper() .. string.len("xy")`, "ABC2"},
		{"find", `return table.concat({string.find("hello world", "o w")}, ",")`, "5,7"},
		{"find plain", `return table.concat({string.find("a.b", ".", 1, true)}, ",")`, "2,2"},
		{"find with captures", `local a, b, c = string.find("key = value", "(%w+)%s*=%s*(%w+)"); return a .. b .. c`, "111key"},
		{"match", `return string.match("v1.23.4", "^v(%d+)%.(%d+)")`, "23"},
		{"match anchored at the end", `return string.match("image:tag", ":(%w+)$")`, "tag"},
		{"no match", `return string.match("abc", "%d") == nil`, true},
		{"lazy", `return string.match("<a><b>", "<(.-)>")`, "a"},
		{"optional", `return string.match("colour", "colou?r")`, "colour"},
		{"sets", `return string.match("x-y_z]", "[%a_%-]+")`, "x-y_z"},
		{"a set without", `return string.match("abc,def", "[^,]+")`, "abc"},
		{"a range", `return string.match("QWE9f", "[0-9a-f]+")`, "9f"},
		{"balanced", `return string.match("f(a(b)c)d", "%b()")`, "(a(b)c)"},
		{"frontier", `return string.gsub("THE (quick) fox", "%f[%a]%a+", "X"), 1`, int64(1)},
		{"position", `return string.match("hello", "l()")`, int64(4)},
		{"back reference", `return string.match([[say "hi" now]], [[(["'])(.-)%1]])`, "hi"},
		{"gsub text", `local s = string.gsub("a-b-c", "%-", "+"); return s`, "a+b+c"},
		{"gsub limit", `local s, n = string.gsub("aaa", "a", "b", 2); return s .. n`, "bba2"},
		{"gsub captures", `local s = string.gsub("ab cd", "(%w)(%w)", "%2%1%0"); return s`, "baab dccd"},
		{"gsub table", `local s = string.gsub("$a $b", "%$(%w)", {a = "1"}); return s`, "1 $b"},
		{"gsub function", `local s = string.gsub("1 2", "%d", function(d) return d + 1 end); return s`, "2 3"},
		{"gsub empty", `local s = string.gsub("abc", "", "-"); return s`, "-a-b-c-"},
		{"gmatch", `local n = {}; for w in string.gmatch("one two", "%a+") do n[#n + 1] = w end; return n`, []any{"one", "two"}},
		{"format", `return string.format("%s has %d of %.1f, %5s|%%", "x", 3, 1.25, "ab")`, "x has 3 of 1.2,    ab|%"},
		{"rep", `return string.rep("ab", 3)`, "ababab"},
		{"math", `return math.floor(7.5) + math.max(1, 2)`, int64(9)},
		{"os", `return os.date("!%H:%M")`, "12:30"},
		{"os by name", `return require("os").date("!%d")`, "04"},
		{"only time and date", `return os.getenv == nil and os.execute == nil and os.exit == nil and io == nil and debug == nil`, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := run(t, c.source, script.Open, nil)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAScriptThatTakesTooMuchIsStopped(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, source string
	}{
		{"a loop without end", `while true do end`},
		{"a loop that catches", `while true do pcall(function() while true do end end) end`},
		{"goto", `::again:: goto again`},
		{"doubling a string", `local s = "x"; while true do s = s .. s end`},
		{"doubling a string and catching", `local s = "x"; while true do pcall(function() s = s .. s end) end`},
		{"doubling by concat", `local s = "x"; while true do s = table.concat({s, s}) end`},
		{"a far place", `local t = {}; t[60000000] = 1`},
		{"a far place by rawset", `rawset({}, 60000000, 1)`},
		{"a far place by insert", `table.insert({}, 60000000, 1)`},
		{"a far place in a constructor", `return {[60000000] = 1}`},
		{"a far place behind another table", `local t = {}; for i = 1, 100000 do t[i] = i end; while true do setmetatable(t, {__newindex = {}}); t[100001] = 1 end`},
		{"tables", `local t = {}; while true do t[#t + 1] = {} end`},
		{"repeating", `return string.rep("x", 1e12)`},
		{"repeating a little often", `local t = {}; while true do t[#t + 1] = string.rep("x", 1e6) end`},
		{"replacing", `local s = string.rep("x", 1e5); return string.gsub(s, ".", s)`},
		{"a pattern that goes back for ever", `return string.find(string.rep("a", 40), string.rep("a*", 30) .. "b")`},
		{"sorting", `local t = {}; t[1000000] = 1; table.sort(t)`},
		{"upper", `local s = string.rep("x", 1e6); while true do s:upper() end`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if _, err := run(t, c.source, script.Open, nil); !errors.Is(err, script.ErrBudget) {
				t.Errorf("the error is %v, want one about the budget", err)
			}
		})
	}
}

func TestWhatAScriptDoesWrongIsAnErrorThatSaysWhere(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, source, want string
	}{
		{"a field of nothing", "local a = 1\nreturn obj.spec.x", "test:2: attempt to index"},
		{"its own error", `error("invalid number: x", 0)`, "invalid number: x"},
		{"endless recursion", `local function f() return 1 + f() end return f()`, "stack overflow"},
		{"a function as result", `return {f = function() end}`, "cannot encode function"},
		{"one table twice", `local t = {1}; return {t, t}`, "recursively nested"},
		{"a table in itself", `local t = {}; t.t = t; return t`, "recursively nested"},
		{"a list with holes", `return {[1] = 1, [3] = 3}`, "sparse"},
		{"mixed keys", `return {1, x = 2}`, "mixed"},
		{"no number", `return {0 / 0}`, "NaN"},
		{"joining nothing", `return "a" .. nil`, "cannot perform concat operation between string and nil"},
		{"strings without the library", `return ("a"):upper()`, "attempt to index"},
		{"an unknown module", `require("socket")`, "module socket not found"},
		{"unpacking all too much", `return unpack({}, 1, 1e9)`, "too many results"},
		{"an error as long as a book", `local s = "x"; for i = 1, 20 do s = s .. s end; error(s)`, "…"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := run(t, c.source, script.Basic, map[string]any{})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("the error is %v, want one with %q", err, c.want)
			}
			if len(err.Error()) > 2000 || strings.Contains(err.Error(), "stack traceback") {
				t.Errorf("the error is too long: %d bytes", len(err.Error()))
			}
		})
	}
}

func TestAWidthThatGoWouldTakeButLuaNotIsRefused(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"%999999999d", "%.999999d", "%[1]s", "%*d", "%"} {
		if _, err := run(t, `return string.format("`+format+`", 1)`, script.Open, nil); err == nil {
			t.Errorf("%q is taken", format)
		}
	}
}

func TestASourceThatIsNoLuaIsAnErrorWithItsLine(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, source, want string }{
		{"broken", "local x =\n\nend", "health.lua"},
		{"too long", strings.Repeat("-- x\n", 100_000), "bytes"},
		{"too deep", "return " + strings.Repeat("(", 5000) + "1" + strings.Repeat(")", 5000) + strings.Repeat(" + 1", 5000), "nested"},
		{"too deep blocks", strings.Repeat("do ", 5000) + strings.Repeat("end ", 5000), "nested"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if _, err := script.Compile(c.source, "health.lua", script.Basic); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("the error is %v, want one with %q", err, c.want)
			}
		})
	}
}

func TestHealthIsWhatArgoCDReadsOutOfTheResult(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, source, status, message, err string }{
		{"a judgement", `return {status = "Healthy", message = "fine"}`, "Healthy", "fine", ""},
		{"no message", `hs = {}; hs.status = "Suspended"; return hs`, "Suspended", "", ""},
		{"nothing", ``, "", "", ""},
		{"an empty table", `return {}`, "", "", ""},
		{"an unknown status", `return {status = "Great"}`, "Unknown", "Lua returned an invalid health status", ""},
		{"no status", `return {message = "x"}`, "Unknown", "Lua returned an invalid health status", ""},
		{"a message that is none", `return {status = "Healthy", message = {1}}`, "", "", ""},
		{"a string", `return "Healthy"`, "", "", "expect table output from Lua script, not string"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p, err := script.Compile(c.source, "health.lua", script.Basic)
			if err != nil {
				t.Fatal(err)
			}
			status, message, err := p.Health(script.Input{Now: noon})
			if status != c.status || message != c.message || (err == nil) != (c.err == "") || err != nil && err.Error() != c.err {
				t.Errorf("got %q, %q, %v", status, message, err)
			}
		})
	}
}

func TestARunChangesNeitherTheObjectNorTheNextRun(t *testing.T) {
	t.Parallel()
	p, err := script.Compile(`count = (count or 0) + 1; obj.spec.n = count; table.insert = nil; return obj`, "test", script.Basic)
	if err != nil {
		t.Fatal(err)
	}
	obj := map[string]any{"spec": map[string]any{"n": int64(0)}}
	for range 2 {
		got, err := p.Run(script.Input{Object: obj})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(map[string]any{"spec": map[string]any{"n": int64(1)}}, got); diff != "" {
			t.Error(diff)
		}
	}
	if obj["spec"].(map[string]any)["n"] != int64(0) {
		t.Error("the object was changed")
	}
}

func FuzzRun(f *testing.F) {
	for _, seed := range []string{
		`return obj`, `hs = {status = "Healthy"}; if obj.status ~= nil then hs.message = obj.status.phase end; return hs`,
		`for i, c in ipairs(obj.list) do if c.type == "Ready" then return c end end`,
		`return string.gsub("abc", "(%w)", "%1%1")`, `return string.format("%5.2f %s", 1, "x")`,
		`local t = setmetatable({}, {__index = function(t, k) return k end}); return t[1] .. t.x`,
		`t = {}; t[#t + 1] = unpack({1, 2, 3}); table.sort(t, function(a, b) return a < b end); return t`,
		`return select("#", pcall(error, {})), tostring(obj), os.date("*t").year`,
		`local a <const> = 1`, `return string.find("a]b", "[]]", -1)`, `goto x; ::x::`, `return ... `, `return #"x" ^ -2 % 3`,
		`function a.b:c(...) return ... end`, `return ("x"):rep(3, ",")`, `return string.match("x", "%f[")`,
	} {
		f.Add(seed)
	}
	obj := map[string]any{"status": map[string]any{"phase": "x"}, "list": []any{map[string]any{"type": "Ready"}, int64(1), 0.5, nil, true}}
	f.Fuzz(func(t *testing.T, source string) {
		for _, libs := range []script.Libs{script.Basic, script.Open} {
			p, err := script.Compile(source, "fuzz", libs)
			if err != nil {
				return
			}
			in := script.Input{Object: obj, Params: map[string]string{"a": "b"}, Now: noon}
			if _, err := p.Run(in); err != nil && (err.Error() == "" || strings.Contains(err.Error(), "broke down")) {
				t.Errorf("the error is %q", err)
			}
			if status, _, err := p.Health(in); err != nil && status != "" {
				t.Errorf("an error and the status %q", status)
			}
		}
	})
}
