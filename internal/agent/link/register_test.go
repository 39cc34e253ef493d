package link

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/slipway-gitops/slipway/internal/testenv"
)

func TestATokenIsShownWithTheSameKeysUntilThereIsAnotherAlsoAfterAKill(t *testing.T) {
	t.Parallel()
	registered, err := newIdentity()
	if err != nil {
		t.Fatal(err)
	}
	registered.uid, registered.agent = "uid", "account.prod"
	keys := func(token string, wantNew bool) *identity {
		t.Helper()
		id, isNew, err := candidate(registered, token)
		if err != nil || isNew != wantNew {
			t.Fatalf("new %t, want %t: %v", isNew, wantNew, err)
		}
		return id
	}
	first := keys("one", true)
	// The agent is killed before it has the answer: all that is left is the Secret.
	if registered, err = decodeIdentity(registered.encode()); err != nil {
		t.Fatal(err)
	}
	if registered.agent != "account.prod" || bytes.Equal(registered.seed, first.seed) {
		t.Error("an identity that was not taken yet is in force")
	}
	again := keys("one", false)
	if !bytes.Equal(first.seed, again.seed) || first.seal[0] != again.seal[0] {
		t.Error("the server is shown another key: it takes the token for used by somebody else")
	}
	if other := keys("two", true); bytes.Equal(first.seed, other.seed) {
		t.Error("another token is shown with the same key")
	}
}

func TestKeysThatWereTriedAndCannotBeReadAreMadeAnew(t *testing.T) {
	t.Parallel()
	id, err := newIdentity()
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := candidate(id, "one"); err != nil {
		t.Fatal(err)
	}
	secret := id.encode()
	secret.Data[fieldTriedSeed] = []byte("cut")
	got, err := decodeIdentity(secret)
	if err != nil {
		t.Fatal(err)
	}
	if _, isNew, err := candidate(got, "one"); err != nil || !isNew {
		t.Errorf("new %t, %v", isNew, err)
	}
}

// TestNoWordOfWhatAnswersARegistrationIsShown registers at services that are none of Slipway, and over proxies.
func TestNoWordOfWhatAnswersARegistrationIsShown(t *testing.T) {
	t.Parallel()
	const marker = "Zaubernuss"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/ours") {
			w.Header().Set("Content-Type", "application/problem+json")
			w.WriteHeader(http.StatusConflict)
			_, _ = io.WriteString(w, `{"title":"Conflict","status":409,"detail":"delete the Secret"}`)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusForbidden)
		_, _ = fmt.Fprintf(w, `{"status":403,"detail":%[1]q,"title":%[1]q}`, marker)
	}))
	t.Cleanup(server.Close)
	says := func(answer string) *url.URL { return &url.URL{Scheme: "http", Host: testenv.Says(t, answer)} }
	at := func(text string) *url.URL {
		u, err := url.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		return u
	}
	for _, c := range []struct {
		name, want    string
		server, proxy *url.URL
	}{
		{"a phrase", "status 403 Forbidden", says("HTTP/1.1 403 " + marker + "\r\nContent-Length: 0\r\n\r\n"), nil},
		{"no HTTP", "not what was expected", says(marker + " 1.0\r\n\r\n"), nil},
		{"a status that is none", "not what was expected", says("HTTP/1.1 " + marker + "\r\n\r\n"), nil},
		{"a document", "status 403 Forbidden", at(server.URL), nil},
		{"an answer that is taken for ours", "check --server", says("HTTP/1.1 200 OK\r\nContent-Length: 18\r\n\r\n{\"" + marker + "\": 1 }"), nil},
		{"an answer of a page", "--server", says("HTTP/1.1 200 OK\r\n\r\n<" + marker + ">"), nil},
		{"a document of Slipway", "status 409 Conflict: delete the Secret", at(server.URL + "/ours"), nil},
		{"a proxy with a phrase", "status 403 Forbidden", at(server.URL), says("HTTP/1.1 403 " + marker + "\r\n\r\n")},
		{"a proxy that cannot reach the server", "status 502 Bad Gateway", at(server.URL), says("HTTP/1.1 502 " + marker + "\r\n\r\n")},
		{"a proxy that speaks no HTTP", "not what was expected", at(server.URL), says(marker + " 1.0\r\n\r\n")},
		{"a port without a server", "reach the server", at("http://127.0.0.1:1"), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			l := New(Config{Server: c.server, Transport: Transport{Proxy: to(c.proxy)}, Log: quiet()})
			_, err := l.showKeys(t.Context(), []byte("{}"))
			if err == nil || strings.Contains(err.Error(), marker) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("err = %v, want %q", err, c.want)
			}
		})
	}
}
