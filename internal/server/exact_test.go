package server

import (
	"bytes"
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/slipway-gitops/slipway/internal/server/httpapi/core"
)

// longS finds a first name with an s in it.
var longS = regexp.MustCompile(`^\{"([a-zA-Z]*)s([a-zA-Z]*)":`)

// doubtful are the variants of a document that two readers may understand in different ways, by what is wrong with them.
func doubtful(raw string) map[string]string {
	out := map[string]string{
		"something follows": raw + ` {}`,
		"case":              `{` + strings.ToUpper(firstName(raw)) + `:null,` + raw[1:],
		"the long s":        longS.ReplaceAllString(raw, `{"${1}ſ$2":`),
		"no UTF-8":          `{"` + "\xff" + `":1,` + raw[1:],
		"too deep":          `{"x":` + strings.Repeat("[", 1000) + strings.Repeat("]", 1000) + `,` + raw[1:],
	}
	for at, one := range raw {
		rest := raw[at+1:]
		switch {
		case one == '{' && strings.HasPrefix(rest, `"`):
			name := firstName(raw[at:])
			out["twice in "+name] = raw[:at+1] + name + `:null,` + rest
			out["NUL beside "+name] = raw[:at+1] + `"a\u0000":null,` + rest
		case one == '"' && strings.HasSuffix(raw[:at], ":"):
			out["half a character at "+rest] = raw[:at+1] + `\ud800` + rest
			out["NUL at "+rest] = raw[:at+1] + `\u0000` + rest
		}
	}
	return out
}

// firstName is the first name of an object, in its quotes.
func firstName(raw string) string {
	name, _, _ := strings.Cut(raw[1:], ":")
	return name
}

func TestABodyThatTwoReadersMayUnderstandDifferentlyIsRefusedByEveryRoute(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.walk(func(r core.Route) {
		if r.Example == "" {
			return
		}
		var compact bytes.Buffer
		if err := json.Compact(&compact, []byte(bodyOf(t, r))); err != nil {
			t.Fatal(err)
		}
		target := strings.NewReplacer(ledgerEntry, w.entry, "SOMEDELIVERY", w.delivery).Replace(targetOf(r))
		for what, body := range doubtful(compact.String()) {
			if what == "the long s" && !strings.Contains(body, "ſ") {
				continue
			}
			code, answer := w.do(w.admin, r.Method, target, body)
			if code != http.StatusBadRequest && code != http.StatusUnprocessableEntity {
				t.Errorf("%s %s: %s: %s: %d %.500s", r.Method, target, what, body, code, answer)
			}
		}
	})
}

func TestAParameterOrAHeaderThatComesTwiceIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, target := range []string{
		"/api/v1/agents/account.prod/applications/argocd/thing?dryRun=true&dryRun=false",
		"/api/v1/agents/account.prod/applications/argocd/thing?dryRun=true&dryRun=true",
		"/api/v1/agents/account.prod/applications/argocd/thing?version=1&wait=0&version=2",
	} {
		if code, answer := w.do(w.admin, http.MethodDelete, target, ""); code != http.StatusUnprocessableEntity || !strings.Contains(answer, "comes 2 times") {
			t.Errorf("DELETE %s: %d %s", target, code, answer)
		}
	}
	if code, answer := w.do(w.admin, http.MethodGet, "/api/v1/applications?sync=Synced&sync=OutOfSync&label=a&label=b", ""); code != http.StatusOK {
		t.Errorf("several values of a list: %d %s", code, answer)
	}
	for _, name := range []string{"Authorization", "Content-Type", "Idempotency-Key", "If-Match", "X-Slipway-Reason"} {
		r := w.request(w.admin, http.MethodPost, "/api/v1/users", `{"name":"twice"}`)
		r.Header.Set(name, firstOf(r.Header.Get(name), "a"))
		r.Header.Add(name, r.Header.Get(name))
		if out := w.send(r); out.Code < 400 || out.Code >= 500 {
			t.Errorf("%s twice: %d %s", name, out.Code, out.Body)
		}
	}
}

func TestATextThatNoDatabaseKeepsIsNoParameterAndNoPath(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, text := range []string{"a%00b", "%00", "a%ffb", "%ed%a0%80"} {
		for method, target := range map[string]string{
			http.MethodDelete: "/api/v1/agents/account.prod/applications/argocd/thing?wait=0&dryRun=true&reason=" + text,
			http.MethodGet:    "/api/v1/applications?search=" + text,
			http.MethodPut:    "/api/v1/users/" + text,
			http.MethodPost:   "/api/v1/users/" + text + "/password",
		} {
			if code, answer := w.do(w.admin, method, target, "{}"); code != http.StatusUnprocessableEntity || !strings.Contains(answer, "NUL") {
				t.Errorf("%s %s: %d %s", method, target, code, answer)
			}
		}
	}
	if code, answer := w.do(w.admin, http.MethodGet, "/api/v1/applications?search=%C3%A4%20%F0%9F%9A%80", ""); code != http.StatusOK {
		t.Errorf("letters of other languages: %d %s", code, answer)
	}
}

func firstOf(a, b string) string {
	if a == "" {
		return b
	}
	return a
}
