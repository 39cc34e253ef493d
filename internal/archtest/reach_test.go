package archtest

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/slipway-gitops/slipway"

// strictly reads JSON that is judged. Every room may stand on it: it stands on the standard library alone.
const strictly = "internal/strict"

// legibly is the door for texts that are stored or shown, for every room as well.
const legibly = "internal/legible"

// rooms says for every room which others of ours its packages may import. A path ends in /... where what is below it
// counts too. Packages of a room may always import each other. Because every package is in a room, a room reaches
// nothing but these and what these reach.
func rooms() map[string][]string {
	const api, object, source = "api/...", "internal/engine/object", "internal/source"
	diff, health, live, plan := "internal/engine/diff", "internal/engine/health", "internal/engine/live/...", "internal/engine/plan"
	const server, chained, redact = "internal/server/", "internal/chain", "internal/redact"
	all := map[string][]string{
		"api": nil,

		"internal/engine":          {api, source, "internal/project", "internal/engine/..."},
		"internal/engine/object":   {api},
		"internal/engine/render":   {api, source, object, redact, "internal/sops", "internal/sandbox"},
		"internal/engine/diff":     {api, object, "internal/engine/jq"},
		"internal/engine/jq":       {object},
		"internal/engine/plan":     {api, object, diff},
		"internal/engine/health":   {api, object, "internal/engine/script"},
		"internal/engine/script":   {api},
		"internal/engine/action":   {api, object, "internal/engine/script"},
		"internal/engine/live":     {api, object, diff, health, "internal/clock"},
		"internal/engine/apply":    {api, object, diff, health, live, plan, "internal/engine/guard"},
		"internal/engine/guard":    {api, object, plan},
		"internal/engine/decide":   {api, object, diff, plan, "internal/engine/guard", "internal/engine/mark", "internal/project"},
		"internal/engine/mark":     {api, object, "internal/strict"},
		"internal/engine/trust":    {api, source, "internal/engine/decide", "internal/engine/render/need", "internal/engine/supply", "internal/project", redact},
		"internal/engine/fit":      {api, object},
		"internal/engine/forecast": {object, diff},
		"internal/engine/supply":   {api, source, "internal/engine/render", "internal/engine/render/need"},
		"internal/engine/prepare":  {api, object, diff, plan, "internal/engine/decide"},

		"internal/source":    {api, "internal/address", "internal/cloud", "internal/git", "internal/outward", "internal/sops"},
		"internal/sops":      {},
		"internal/integrity": nil,
		"internal/git":       {api, "internal/address", "internal/outward", redact},
		"internal/gitserve":  {api},
		"internal/webhook":   {api},
		"internal/project":   {api, object, "internal/address", "internal/integrity/subject", redact, source + "/dockerhub"},
		"internal/seal":      {api},
		"internal/trace":     nil,
		strictly:             nil,
		"internal/inlet":     nil, "internal/clock": nil, "internal/outward": nil, "internal/address": nil,
		legibly:              nil,
		"web":                nil,
		"internal/podlog":    {api, object},
		chained:              {api},
		"internal/statement": {api},
		redact:               {chained},
		"internal/cloud":     {"internal/outward", "internal/source/web"}, "internal/repository": {api, source + "/...", "internal/git", "internal/cloud", "internal/webhook"},
		"internal/operate":  {api, object, "internal/engine/mark", "internal/project"},
		"internal/cause":    {api, object, redact},
		"internal/clue":     {api, object, "internal/cause"},
		"internal/why":      {api, object, "internal/engine/mark", "internal/cause", "internal/project", "internal/operate", redact},
		"internal/inspect":  {api, object, diff, health, redact},
		"internal/deeplink": {api, "internal/engine/action"},

		"internal/cli": {
			api, source + "/...", "internal/git", "internal/cloud", "internal/repository", "internal/gitserve", "dev/demo",
			object, diff, plan, health, "internal/engine/render/...", "internal/engine/supply", "internal/engine/action", "internal/engine/mark", "internal/engine/prepare", "internal/project",
			"internal/outward", "internal/operate", "internal/inspect", "internal/cause", "internal/clue", "internal/why", "internal/seal", "internal/sops", "internal/podlog", "internal/inlet", "internal/clock", chained, redact, "internal/statement",
		},
		"internal/testenv":  {api, "internal/gitserve"},
		"internal/archtest": nil,

		"cmd/slipway":        {"internal/cli/...", "internal/engine/render/worker", "internal/sandbox"},
		"cmd/slipway-agent":  {"internal/agent/...", "internal/engine/render/worker", "internal/sandbox"},
		"cmd/slipway-server": {"internal/server", server + "store"},
		"dev/demo":           nil,
		"test":               nil, // tests import what they like; see the linter
		"test/bench":         {api, "internal/gitserve"},
		"test/bench/fleet":   {api, "test/bench/...", "internal/agent/link", "internal/inspect"},
	}
	maps.Copy(all, serverRooms())
	maps.Copy(all, agentRooms())
	maps.Copy(all, httpRooms())
	return all
}

// httpRooms are the rooms of the REST API, in rooms.
func httpRooms() map[string][]string {
	const api, server, redact = "api/...", "internal/server/", "internal/redact"
	return map[string][]string{
		server + "httpapi":        {api, server + "rbac", server + "httpapi/..."},
		server + "httpapi/core":   {api, "internal/trace", redact, server + "address", server + "rbac", server + "authn"},
		server + "httpapi/item":   {api, server + "rbac", server + "httpapi/core"},
		server + "httpapi/record": {api, server + "rbac", server + "audit", "internal/inspect", server + "httpapi/core", server + "httpapi/item"},
		server + "httpapi/application": {
			api, server + "rbac", "internal/project", "internal/cause", "internal/why", "internal/inspect", "internal/engine/mark",
			server + "httpapi/core", server + "httpapi/item",
		},
		server + "httpapi/fleet":   {api, "internal/statement", "internal/trace", redact, server + "rbac", server + "install", server + "wave", server + "httpapi/core", server + "httpapi/item"},
		server + "httpapi/account": {api, server + "rbac", server + "authn", server + "httpapi/core"},
	}
}

// serverRooms are those of the control plane. They meet in server.go only.
func serverRooms() map[string][]string {
	const api, server, kept, chained, redact = "api/...", "internal/server/", "internal/server/store/", "internal/chain", "internal/redact"
	return map[string][]string{
		"internal/server":  {api, "web", "internal/statement", "internal/trace", "internal/inlet", "internal/outward", "internal/clock", server + "..."},
		server + "address": nil,
		server + "rbac":    {api},
		server + "authn":   {api, "internal/outward", server + "rbac", server + "address"},
		server + "audit":   {api, chained, redact, server + "rbac"},
		server + "event":   {api, "internal/clock"},
		server + "install": {api, "internal/statement"},
		server + "store": {
			kept + "access", kept + "db", kept + "delivery", kept + "fleet", kept + "history", kept + "home", kept + "mirror", kept + "notice",
			kept + "setting", kept + "work",
		},
		kept + "db":        {api, server + "rbac"},
		kept + "entity":    {api, server + "rbac", kept + "db"},
		kept + "access":    {api, server + "authn", server + "rbac", kept + "db", kept + "entity"},
		kept + "fleet":     {api, server + "gateway", server + "hosting", kept + "db", kept + "entity"},
		kept + "delivery":  {api, kept + "db", kept + "entity", kept + "fleet"},
		kept + "mirror":    {api, "internal/project", server + "census", server + "gateway", server + "matrix", server + "rbac", kept + "db", kept + "entity", kept + "fleet", kept + "delivery"},
		kept + "history":   {api, chained, server + "audit", server + "dora", server + "gateway", server + "rbac", kept + "db", kept + "fleet", kept + "delivery"},
		kept + "notice":    {api, server + "rbac", kept + "db", kept + "entity", kept + "fleet", kept + "mirror", kept + "history"},
		kept + "work":      {api, server + "event", server + "gateway", kept + "db", kept + "entity"},
		kept + "setting":   {api, kept + "db"},
		kept + "home":      {api, kept + "db", kept + "entity", kept + "access", kept + "fleet", kept + "delivery", kept + "notice"},
		kept + "storetest": {api, chained, server + "audit", server + "gateway", server + "rbac", server + "store", kept + "db", "internal/testenv"},

		server + "matrix": {api},
		server + "census": {api, server + "rbac"},
		server + "dora":   {api},
		server + "page":   nil,
		server + "job":    {api, server + "claim"}, server + "wave": {api, server + "claim"}, server + "claim": {"internal/clock"},
		server + "hosting": {api, redact, "internal/clock"},
		server + "notify":  {api, redact, "internal/outward", server + "rbac"},
		server + "gateway": {api, "internal/trace", "internal/clock", server + "event", server + "address"},
	}
}

// agentRooms are the rooms of the agent, in rooms.
func agentRooms() map[string][]string {
	const api, object, source, redact = "api/...", "internal/engine/object", "internal/source", "internal/redact"
	const diff, health, live = "internal/engine/diff", "internal/engine/health", "internal/engine/live/..."
	return map[string][]string{
		"internal/agent/registry": {api, source, object, live, "internal/engine/render", "internal/agent/status"},
		"internal/agent/report": {
			api, source, source + "/git", source + "/artifact", "internal/git", object, diff, live, health, "internal/engine", "internal/engine/guard", "internal/operate", redact,
			"internal/agent/place", "internal/agent/registry", "internal/agent/shard", "internal/agent/status", "internal/agent/verb", "internal/agent/link",
			"internal/agent/instance", "internal/agent/damp", "internal/agent/record", "internal/agent/veil",
		},
		"internal/sandbox":         nil,
		"internal/agent/keyhelper": {"internal/sops", "internal/sandbox"},
		"internal/agent/veil":      {redact},
		"internal/agent/shard":     {api, "internal/clock", "internal/agent/registry"},
		"internal/agent/beside": {
			api, object, live, "internal/engine", "internal/engine/forecast", "internal/engine/render", "internal/agent/command", "internal/agent/place", "internal/agent/registry", "internal/agent/report",
			"internal/agent/status", "internal/agent/link", "internal/agent/instance",
		},
		"internal/agent/command": {api, live, "internal/engine", "internal/operate", "internal/agent/link"},
		"internal/agent/setting": {
			api, live, source + "/artifact", source + "/helmrepo", source + "/registrylogin", source + "/web", "internal/engine", "internal/engine/render/...", "internal/project", "internal/git", "internal/webhook", "internal/outward", "internal/seal", redact,
			"internal/agent/command", "internal/agent/place", "internal/agent/link", "internal/integrity", "internal/engine/trust",
		},
		"internal/agent/verb": {
			api, source + "/git", source + "/artifact", source + "/web", "internal/git", "internal/project", "internal/engine/...", "internal/operate", "internal/inspect", "internal/cause", "internal/clue",
			"internal/podlog", "internal/outward", redact, "internal/agent/command", "internal/agent/setting", "internal/agent/place", "internal/agent/registry", "internal/agent/shard",
			"internal/agent/status", "internal/agent/link", "internal/agent/kin", "internal/deeplink",
		},
		"internal/agent/status": {api, source, object, live, "internal/engine", "internal/engine/decide", "internal/engine/mark"},
		"internal/agent/place": {
			api, source, source + "/...", object, diff, live, health, "internal/engine", "internal/engine/apply", "internal/project", "internal/git", "internal/webhook",
			"internal/outward", "internal/agent/registry", "internal/agent/link", "internal/repository", "internal/cloud", "internal/sops", "internal/agent/credential", "internal/engine/supply",
			"internal/clock", "internal/engine/render", "internal/engine/render/need", "internal/integrity/...", redact, "internal/engine/trust",
		},
		"internal/agent/credential": {"internal/cloud", "internal/sandbox"},
		"internal/agent": {
			api, source, source + "/...", "internal/git", "internal/repository", "internal/cloud", "internal/webhook", "internal/project", "internal/engine/...", "internal/integrity/...",
			"internal/sops", "internal/operate", "internal/inspect", "internal/cause", "internal/clue", "internal/seal", "internal/podlog", "internal/trace", "internal/inlet", "internal/outward", "internal/clock", redact,
			"internal/statement",
		},
	}
}

// ban is a package that a room must not reach, on any way.
type ban struct {
	room, pkg, why string
	// except are foreign packages that import it and are known to be harmless.
	except []string
}

func bans() []ban {
	const server = "internal/server/"
	// It has libraries that run programs and open files. A script's sandbox opens none of them.
	interpreter := []string{"github.com/yuin/gopher-lua"}
	return []ban{
		{room: "internal/agent", pkg: "database/sql", why: "is a store, and the agent keeps its state in the cluster", except: []string{
			// It can count the connections of a pool that it is given.
			"github.com/prometheus/client_golang/prometheus/collectors",
		}},
		{room: "internal/agent", pkg: module + "/internal/cli", why: "is another program"},
		{room: "internal/agent", pkg: module + "/internal/gitserve", why: "serves repositories, which no agent does"},
		{room: "internal/cli", pkg: module + "/internal/agent", why: "is another program"},
		{room: "internal/cli", pkg: module + "/internal/engine", why: "writes to clusters, which an agent does"},
		{room: "internal/cli", pkg: module + "/internal/engine/apply", why: "writes to clusters, which an agent does"},
		{room: "internal/cli", pkg: module + "/internal/engine/live", why: "watches clusters, which an agent does"},
		{room: "internal/engine", pkg: "go.opentelemetry.io/otel/trace", why: "is of traces: the agent makes spans of the times that the engine reports"},
		{room: "internal/cli", pkg: "go.opentelemetry.io/otel/trace", why: "is of traces, which agents and servers make"},
		{room: "internal/cli", pkg: "database/sql", why: "is a store, and the command line keeps nothing"},
		{room: "internal/agent", pkg: module + "/internal/server", why: "is another program"},
		{room: "internal/cli", pkg: module + "/internal/server", why: "is another program; api/client speaks to it"},
		{room: "internal/server", pkg: "k8s.io/client-go/rest", why: "is a client of clusters, whose credentials no server has"},
		{room: "internal/server", pkg: module + "/internal/engine/apply", why: "writes to clusters, which an agent does"},
		{room: "internal/server", pkg: module + "/internal/engine/live", why: "watches clusters, which an agent does"},
		{room: "internal/server", pkg: module + "/internal/agent", why: "is another program"},
		{room: "internal/server", pkg: "net/http/httptest", why: "is for tests"},
		{room: "internal/operate", pkg: "k8s.io/client-go/rest", why: "is a client"},
		{room: "internal/inspect", pkg: "k8s.io/client-go/rest", why: "is a client"},
		{room: "internal/cause", pkg: "k8s.io/client-go/rest", why: "is a client"},
		{room: server + "rbac", pkg: "database/sql", why: "is a store"},
		{room: "internal/agent", pkg: "net/http/httptest", why: "is for tests"},
		{room: "internal/cli", pkg: "net/http/httptest", why: "is for tests"},
		{room: "internal/agent", pkg: "github.com/google/go-cmp/cmp", why: "is for tests"},
		{room: "internal/cli", pkg: "github.com/google/go-cmp/cmp", why: "is for tests"},
		{room: "api", pkg: "k8s.io/client-go/rest", why: "is a client"},
		{room: "internal/engine/object", pkg: "k8s.io/client-go/rest", why: "is a client"},
		{room: "internal/engine/diff", pkg: "k8s.io/client-go/rest", why: "is a client"},
		{room: "internal/engine/plan", pkg: "k8s.io/client-go/rest", why: "is a client"},
		{room: "internal/engine/guard", pkg: "k8s.io/client-go/rest", why: "is a client"},
		{room: "internal/engine/health", pkg: "k8s.io/client-go/rest", why: "is a client"},
		{room: "internal/engine/action", pkg: "k8s.io/client-go/rest", why: "is a client"},
		{room: "internal/engine/script", pkg: "k8s.io/client-go/rest", why: "is a client"},
		{room: "internal/engine/object", pkg: "os/exec", why: "runs programs"},
		{room: "internal/engine/diff", pkg: "os/exec", why: "runs programs"},
		{room: "internal/engine/plan", pkg: "os/exec", why: "runs programs"},
		{room: "internal/engine/health", pkg: "os/exec", why: "runs programs", except: interpreter},
		{room: "internal/engine/action", pkg: "os/exec", why: "runs programs", except: interpreter},
		{room: "internal/engine/script", pkg: "os/exec", why: "runs programs", except: interpreter},
	}
}

func TestARoomImportsOnlyTheRoomsItStandsOn(t *testing.T) {
	t.Parallel()
	for pkg, imports := range readImports(t) {
		path, ours := strings.CutPrefix(pkg, module+"/")
		if !ours {
			continue
		}
		room := roomOf(pkg)
		if room == "" {
			t.Errorf("%s is in no room: say in rooms() what it may import", path)
			continue
		}
		allowed := append(slices.Clone(rooms()[room]), room+"/...", strictly, legibly)
		for _, next := range imports {
			path, ours := strings.CutPrefix(next, module+"/")
			if ours && !slices.ContainsFunc(allowed, func(pattern string) bool { return covers(pattern, path) }) {
				t.Errorf("%s must not import %s: %s may import %v only; pass a value or a small interface instead "+
					"(ARCHITECTURE.md, Allowed imports)", short(pkg), path, room, rooms()[room])
			}
		}
	}
}

func TestARoomReachesNoPackageThatIsBanned(t *testing.T) {
	t.Parallel()
	imports := readImports(t)
	for _, b := range bans() {
		for pkg := range imports {
			if roomOf(pkg) != b.room {
				continue
			}
			if way, found := reach(imports, pkg, b.except)[b.pkg]; found {
				t.Errorf("%s must not reach %s (it %s) but does so through %s: remove one import of that path", short(pkg), b.pkg, b.why, way)
			}
		}
	}
}

func TestEveryRoomHasARule(t *testing.T) {
	t.Parallel()
	known := rooms()
	for _, room := range directories(t, "internal", "internal/engine", "internal/server", "cmd") {
		if _, ok := known[room]; !ok {
			t.Errorf("%s has no rule: say in rooms() what it may stand on", room)
		}
	}
}

// covers reports whether a path of a package is what a pattern of rooms names.
func covers(pattern, pkg string) bool {
	below, deep := strings.CutSuffix(pattern, "/...")
	return pkg == below || deep && strings.HasPrefix(pkg, below+"/")
}

// roomOf returns the innermost room that a package of ours is in, or nothing.
func roomOf(pkg string) string {
	rest, ours := strings.CutPrefix(pkg, module+"/")
	if !ours {
		return ""
	}
	known := rooms()
	for dir := rest; dir != "."; dir = path.Dir(dir) {
		// The engine itself is its one package: what is below has rules of its own.
		if _, ok := known[dir]; ok && (dir != "internal/engine" || rest == dir) {
			return dir
		}
	}
	return ""
}

// readImports asks go list what every package that our programs are made of imports, tests left out.
func readImports(t *testing.T) map[string][]string {
	t.Helper()
	command := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", `{{.ImportPath}} {{join .Imports " "}}`, "./...")
	command.Dir = root
	command.Stderr = os.Stderr
	out, err := command.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	imports := map[string][]string{}
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		imports[fields[0]] = fields[1:]
	}
	if len(imports[module+"/cmd/slipway-agent"]) == 0 {
		t.Fatal("go list does not know the agent")
	}
	return imports
}

// reach returns every package that pkg imports, itself or through others, with a shortest way to it. It does not look
// into the packages of except.
func reach(imports map[string][]string, pkg string, except []string) map[string]string {
	ways := map[string]string{}
	todo := []string{pkg}
	for len(todo) > 0 {
		at := todo[0]
		todo = todo[1:]
		if slices.Contains(except, at) {
			continue
		}
		for _, next := range imports[at] {
			if _, seen := ways[next]; seen || next == pkg {
				continue
			}
			ways[next] = fmt.Sprintf("%s > %s", short(at), short(next))
			if before, known := ways[at]; known {
				ways[next] = fmt.Sprintf("%s > %s", before, short(next))
			}
			todo = append(todo, next)
		}
	}
	return ways
}

func short(pkg string) string { return strings.TrimPrefix(pkg, module+"/") }
