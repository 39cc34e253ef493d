package security

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// hostile is what is done to a request.
type hostile struct {
	name string
	// member makes the member of an object out of its name and its value as JSON; there is no value where the field is missing.
	member func(name, value string) string
	// refused is true for what no reader may take, whoever sends it.
	refused bool
}

// other is a value of the other tenant for a field.
func other(name, value string) string {
	if changed := theirs(value); changed != value {
		return changed
	}
	switch strings.ToLower(name) {
	case "scope":
		return `"org.` + theirOrg + `"`
	case "organization":
		return `"` + theirOrg + `"`
	case "agent":
		return `"account.prod"`
	case "id":
		return `"org.` + theirOrg + `.developers"`
	case "role":
		return `"account.admin"`
	case "resource", "target", "object", "filter", "fields", "labels":
		return `{"project":"` + theirProject + `","name":"` + theirProject + `"}`
	}
	return `"` + theirProject + `"`
}

func pair(name, value, second, with string) string {
	if value == "" {
		value = `"` + ourProject + `"`
	}
	return quoted(name) + ":" + value + "," + second + ":" + with
}

func quoted(text string) string {
	raw, err := json.Marshal(text)
	if err != nil {
		return `""`
	}
	return string(raw)
}

// folded is a name that is read as another where case does not count: K and s have letters that are folded to them.
func folded(name string) string {
	return strings.NewReplacer("k", "\u212a", "s", "\u017f").Replace(name)
}

// titled is a name in another case.
func titled(name string) string {
	if name == "" {
		return "X"
	}
	if up := strings.ToUpper(name[:1]) + name[1:]; up != name {
		return up
	}
	return strings.ToLower(name)
}

// ofFields are the variants of a field of a body.
func ofFields() []hostile {
	is := func(value string) func(string, string) string {
		return func(name, _ string) string { return quoted(name) + ":" + value }
	}
	return []hostile{
		{"of the other tenant", func(n, v string) string { return quoted(n) + ":" + other(n, v) }, false},
		{"in another case, for the other tenant", func(n, v string) string { return pair(n, v, quoted(titled(n)), other(n, v)) }, true},
		{"for the other tenant, in another case ours", func(n, v string) string { return pair(n, other(n, v), quoted(titled(n)), orOurs(v)) }, true},
		{"in another case in front", func(n, v string) string { return pair(titled(n), other(n, v), quoted(n), orOurs(v)) }, true},
		{"in upper case", func(n, v string) string { return pair(n, v, quoted(strings.ToUpper(n)), other(n, v)) }, true},
		{"folded", func(n, v string) string { return pair(n, v, quoted(folded(n)), other(n, v)) }, true},
		{"twice, the last good", func(n, v string) string { return pair(n, other(n, v), quoted(n), orOurs(v)) }, true},
		{"twice, the first good", func(n, v string) string { return pair(n, v, quoted(n), other(n, v)) }, true},
		{"twice, once escaped", func(n, v string) string { return pair(n, v, escaped(n), other(n, v)) }, true},
		{"with an unknown one beside it", func(n, v string) string { return pair(n, v, `"x-`+ourProject+`"`, other(n, v)) }, false},
		{"all", is(`"*"`), false},
		{"the account", is(`"account"`), false},
		{"a number", is(`7`), false},
		{"a huge number", is(`1e999`), false},
		{"a negative number", is(`-9223372036854775809`), false},
		{"true", is(`true`), false},
		{"null", is(`null`), false},
		{"a list", is(`[null,"` + theirProject + `",{"project":"` + theirProject + `"}]`), false},
		{"an object", is(`{"project":"` + theirProject + `","scope":"org.` + theirOrg + `"}`), false},
		{"a NUL", is(`"a\u0000b"`), false},
		{"half a surrogate", is(`"\ud800"`), false},
		{"no UTF-8", is("\"\xff\xfe\""), true},
		{"directions and controls", is(`"a\u202eb\u0007\u2066"`), false},
		{"a path upwards", is(`"../` + theirProject + `/%2e%2e/x"`), false},
		{"a template", is(`"{{.}}${x}$(id)<script>"`), false},
		{"long", is(`"` + strings.Repeat("x", 70_000) + `"`), false},
		{"deep", is(strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000)), true},
	}
}

func orOurs(value string) string {
	if value == "" {
		return `"` + ourProject + `"`
	}
	return value
}

// escaped is a name as JSON that has another spelling and is the same name.
func escaped(name string) string {
	if name == "" {
		return `""`
	}
	const digits = "0123456789abcdef"
	return `"\u00` + string(digits[name[0]>>4]) + string(digits[name[0]&15]) + quoted(name[1:])[1:]
}

// written writes a body, with the member at a path made by a hostile; a list is entered by its first element.
func written(v any, at []string, make func(name, value string) string) string {
	switch v := v.(type) {
	case map[string]any:
		var out []string
		found := false
		for _, name := range slices.Sorted(maps.Keys(v)) {
			switch {
			case len(at) == 1 && at[0] == name:
				found = true
				out = append(out, make(name, plain(v[name])))
			case len(at) > 1 && at[0] == name:
				found = true
				out = append(out, quoted(name)+":"+written(v[name], at[1:], make))
			default:
				out = append(out, quoted(name)+":"+plain(v[name]))
			}
		}
		if !found && len(at) == 1 {
			out = append(out, make(at[0], ""))
		} else if !found && len(at) > 1 {
			out = append(out, quoted(at[0])+":"+written(map[string]any{}, at[1:], make))
		}
		return "{" + strings.Join(out, ",") + "}"
	case []any:
		if len(v) == 0 || len(at) == 0 {
			return plain(v)
		}
		out := []string{written(v[0], at, make)}
		for _, rest := range v[1:] {
			out = append(out, plain(rest))
		}
		return "[" + strings.Join(out, ",") + "]"
	}
	return plain(v)
}

func plain(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		return "null"
	}
	return string(raw)
}

// leaves lists the paths of what a body has.
func leaves(v any, above []string) (out [][]string) {
	switch v := v.(type) {
	case map[string]any:
		for name, inner := range v {
			path := append(slices.Clone(above), name)
			out = append(append(out, path), leaves(inner, path)...)
		}
	case []any:
		if len(v) > 0 {
			return leaves(v[0], above)
		}
	}
	slices.SortFunc(out, slices.Compare)
	return out
}

// envelope is what is done to a request as a whole.
type envelope struct {
	name    string
	change  func(r *http.Request, body string) string
	refused bool
}

func header(name, value string) func(*http.Request, string) string {
	return func(r *http.Request, body string) string { r.Header.Set(name, value); return body }
}

// ofRequests are the variants of a whole request. Those of bodies are for requests that have one.
func ofRequests() (bodies, all []envelope) {
	changed := func(f func(string) string) func(*http.Request, string) string {
		return func(_ *http.Request, body string) string { return f(body) }
	}
	bodies = []envelope{
		{"something follows the body", changed(func(b string) string { return b + "x" }), true},
		{"a second document", changed(func(b string) string { return b + theirs(b) }), true},
		{"a mark of the order of bytes", changed(func(b string) string { return "\ufeff" + b }), true},
		{"in a list", changed(func(b string) string { return "[" + b + "]" }), true},
		{"a text", changed(func(string) string { return `"` + theirProject + `"` }), true},
		{"half of it", changed(func(b string) string { return b[:len(b)/2] }), true},
		{"as UTF-16", header("Content-Type", "application/json; charset=utf-16"), true},
		{"as a form", func(r *http.Request, _ string) string {
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			return "name=" + theirProject + "&scope=org." + theirOrg
		}, true},
		{"as YAML", func(r *http.Request, _ string) string {
			r.Header.Set("Content-Type", "application/yaml")
			return "name: " + theirProject + "\n"
		}, true},
		{"said to be packed", header("Content-Encoding", "gzip"), true},
	}
	all = []envelope{
		{"another method in a header", header("X-Http-Method-Override", "DELETE"), false},
		{"another path in a header", header("X-Original-Url", "/api/v1/organizations/"+theirOrg), false},
		{"another user in a header", header("X-Forwarded-User", "admin"), false},
		{"a condition that is none", header("If-Match", `"x`), false},
		{"a key of another", header("Idempotency-Key", "walk"), false},
		{"a reason with control characters", header("X-Slipway-Reason", "a\u202eb\x7f"), false},
		{"an event that there is not", header("Last-Event-Id", "x-1\x00"), false},
	}
	return bodies, all
}

// ofPaths are the paths that mean the other tenant, or could for one of two readers.
func ofPaths(path string) []string {
	there := theirs(path)
	out := []string{path + "/", path + "//", "/" + path, strings.Replace(path, "/api/v1/", "/api/v1/../v1/", 1), strings.Replace(path, "/api/v1/", "/api//v1/", 1)}
	if there == path {
		return out
	}
	last, other := path[strings.LastIndexByte(path, '/')+1:], there[strings.LastIndexByte(there, '/')+1:]
	up := strings.TrimSuffix(path, last)
	return append(out, there, up+"%2e%2e/"+other, up+last+"%2f..%2f"+other, up+last+"%252f"+other, up+last+"/../"+other, up+last+"..;/"+other, up+last+"%00"+other,
		up+other+"%20", up+strings.ToUpper(other), up+other+";x=1", up+"."+"/"+other)
}

// ofQueries are the queries that a route does not take, or takes with a value of the other tenant.
func ofQueries(r *route, query string) []string {
	join := func(more string) string { return strings.TrimPrefix(query+"&"+more, "&") }
	out := []string{join("nosuch=x"), join("%zz"), join("project=" + theirProject)}
	for _, p := range r.query {
		for _, value := range []string{theirProject, "org." + theirOrg, "account.prod", "%00", "%ff", "-1", "999999999999999999999", "*", "../x", strings.Repeat("x", 5000)} {
			out = append(out, join(p.name+"="+value))
		}
		out = append(out, join(titled(p.name)+"=true"), join(p.name+"=true&"+p.name+"=false"), join(p.name+"[]=x"))
	}
	return out
}
