package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/slipway-gitops/slipway/api"
)

// serve starts a server and makes a client for it that does not wait between attempts.
func serve(t *testing.T, handler http.HandlerFunc) *Client {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	c, err := New(Config{Server: server.URL, Token: "slp_secret", UserAgent: "test"})
	if err != nil {
		t.Fatal(err)
	}
	c.wait = time.Millisecond
	t.Cleanup(c.Close)
	return c
}

func problem(w http.ResponseWriter, p api.Problem) {
	w.Header().Set("Content-Type", "application/problem+json")
	w.Header().Set("X-Request-Id", "r1")
	w.WriteHeader(p.Code.Status())
	_ = json.NewEncoder(w).Encode(p)
}

func TestAProblemIsAnErrorThatSaysWhatToDo(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		problem api.Problem
		want    string
	}{
		{"detail", api.Problem{Code: api.CodeConflict, Detail: "it has changed: read it again"}, "it has changed: read it again"},
		{
			"fields",
			api.Problem{Code: api.CodeInvalid, Detail: "the input is wrong", Errors: []api.FieldProblem{{Field: "body.labels", Message: "too many"}}},
			"the input is wrong; labels: too many",
		},
		{
			"references",
			api.Problem{Code: api.CodeConflict, Detail: "it is in use", References: []api.Ref{{Type: "binding", ID: "org.acme.dev"}}},
			"it is in use; it is used by binding org.acme.dev",
		},
		{"internal", api.Problem{Code: api.CodeInternal, Detail: "internal error: try again"}, "internal error: try again (request r1)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			client := serve(t, func(w http.ResponseWriter, _ *http.Request) { problem(w, c.problem) })
			_, err := client.Whoami(t.Context())
			if err == nil || err.Error() != c.want {
				t.Errorf("got %v, want %s", err, c.want)
			}
			if got := api.CodeOf(err); got != c.problem.Code {
				t.Errorf("the code is %s, want %s", got, c.problem.Code)
			}
		})
	}
}

func TestAChangeIsRepeatedWithItsKeyUntilItIsAnswered(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var keys []string
	client := serve(t, func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if keys = append(keys, r.Header.Get("Idempotency-Key")); len(keys) < 3 {
			w.WriteHeader(http.StatusBadGateway) // a proxy whose server starts anew
			return
		}
		_, _ = io.WriteString(w, `{"id":"acme","name":"acme"}`)
	})
	made, err := client.Organizations().Create(t.Context(), api.Organization{Meta: api.Meta{Name: "acme"}}, false)
	if err != nil || made.ID != "acme" {
		t.Fatalf("got %v, %v", made, err)
	}
	if len(keys) != 3 || keys[0] == "" || keys[0] != keys[1] || keys[1] != keys[2] {
		t.Errorf("the keys are %v, want the same three times", keys)
	}
}

func TestWhatIsSaidOnceIsAskedForOnce(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	asked := 0
	client := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		asked++
		w.WriteHeader(http.StatusBadGateway)
	})
	if _, err := client.CreateToken(t.Context(), api.Token{Name: "ci"}, false); err == nil {
		t.Error("a token was made of a bad gateway")
	}
	if asked != 1 {
		t.Errorf("it was asked for %d times, want once: the first may have been made", asked)
	}
}

func TestAServerThatIsBusyIsAskedAgainWhenItSays(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	asked := 0
	client := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if asked++; asked == 1 {
			w.Header().Set("Retry-After", "0")
			problem(w, api.Problem{Code: api.CodeTooMany, Detail: "too many requests"})
			return
		}
		if asked == 2 {
			problem(w, api.Problem{Code: api.CodeUnavailable, Detail: "the agent is not connected"})
			return
		}
		t.Error("it was asked again although the server did not say when")
	})
	_, err := client.Whoami(t.Context())
	if api.CodeOf(err) != api.CodeUnavailable {
		t.Errorf("got %v, want that the agent is not connected", err)
	}
}

func TestWhatIsNoServerIsSaid(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		handler http.HandlerFunc
		want    string
	}{
		{"another program", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) }, "is no slipway-server"},
		{"redirect", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://elsewhere.example.org/", http.StatusFound)
		}, "use that address"},
		{"a page", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>") }, "use a slipway of the server's version"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := serve(t, c.handler).Whoami(t.Context())
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want something with %q", err, c.want)
			}
		})
	}
	c, err := New(Config{Server: "http://127.0.0.1:1"})
	if err != nil {
		t.Fatal(err)
	}
	c.wait = time.Millisecond
	if _, err := c.Whoami(t.Context()); err == nil || !strings.Contains(err.Error(), "start the server") {
		t.Errorf("got %v, want what to do where nobody listens", err)
	}
}

func TestATokenDoesNotGoOverPlainHTTPUnasked(t *testing.T) {
	t.Parallel()
	if _, err := New(Config{Server: "http://slipway.example.org", Token: "slp_secret"}); err == nil || !strings.Contains(err.Error(), "https://") {
		t.Errorf("got %v, want a refusal", err)
	}
	for _, ok := range []Config{{Server: "http://127.0.0.1:8080"}, {Server: "http://localhost:8080"}, {Server: "http://slipway.example.org", Insecure: true}, {Server: "slipway.example.org"}} {
		if _, err := New(ok); err != nil {
			t.Errorf("%s is refused: %v", ok.Server, err)
		}
	}
	for _, wrong := range []string{"", "ftp://x", "https://user:pass@host", "https://host/path", "https://host?x", "https://"} {
		if _, err := ParseServer(wrong); err == nil {
			t.Errorf("%q is taken for a server", wrong)
		}
	}
}

func TestACommandIsFollowedToItsEnd(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status, want string
	}{
		{api.CommandDone, ""},
		{api.CommandRefused, "slipway-agent-policy"},
		{api.CommandExpired, "try again"},
		{api.CommandUnknown, "look at what came of it"},
		{api.CommandFailed, "could not do it"},
	} {
		t.Run(c.status, func(t *testing.T) {
			t.Parallel()
			client := serve(t, func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodPost {
					w.WriteHeader(http.StatusAccepted)
					_, _ = io.WriteString(w, `{"id":"c1","agent":"account.prod","status":"sent"}`)
					return
				}
				fmt.Fprintf(w, `{"id":"c1","agent":"account.prod","status":%q,"result":{"message":"going back","changed":true}}`, c.status)
			})
			app := client.Application(api.Target{Agent: "account.prod", Namespace: "argocd", Name: "shop"})
			answer, err := app.Operate(t.Context(), api.RollbackRequest{})
			if c.want == "" {
				if err != nil || answer.Message != "going back" {
					t.Errorf("got %v, %v", answer, err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want something with %q", err, c.want)
			}
		})
	}
}

func TestACommandThatNobodyTellsOfIsNotWaitedForWithoutEnd(t *testing.T) {
	t.Parallel()
	asked := 0
	client := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		deadline := time.Now().Add(time.Hour) // at first
		if asked++; asked > 1 {
			deadline = time.Now().Add(-time.Hour)
		}
		fmt.Fprintf(w, `{"id":"c1","agent":"account.prod","status":"sent","deadline":%q}`, deadline.Format(time.RFC3339))
	})
	var told []string
	client = client.OnWait(func(cmd api.Command) { told = append(told, cmd.ID) })
	app := client.Application(api.Target{Agent: "account.prod", Namespace: "argocd", Name: "shop"})
	_, err := app.Operate(t.Context(), api.SyncRequest{})
	if err == nil || !strings.Contains(err.Error(), "check whether it was done") || !slices.Equal(told, []string{"c1"}) {
		t.Errorf("got %v, and was told of %v", err, told)
	}
}

func TestEventsAreReadOnAfterTheLastOne(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var after []string
	client := serve(t, func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		after = append(after, r.Header.Get("Last-Event-ID"))
		n := len(after)
		mu.Unlock()
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, ": welcome\n\nid: %d\nevent: application.changed\ndata: {\"id\":\"%d\",\ndata: \"type\":\"application.changed\"}\n\n", n, n)
	})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var seen []string
	enough := errors.New("enough")
	err := client.Events(ctx, EventOptions{After: "0"}, func(e api.Event) error {
		if seen = append(seen, e.ID); len(seen) == 3 {
			return enough
		}
		return nil
	})
	if !errors.Is(err, enough) || !slices.Equal(seen, []string{"1", "2", "3"}) || !slices.Equal(after[:3], []string{"0", "1", "2"}) {
		t.Errorf("got %v, events %v, asked after %v", err, seen, after)
	}
	refused := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		problem(w, api.Problem{Code: api.CodeUnauthenticated, Detail: "sign in"})
	})
	if err := refused.Events(ctx, EventOptions{}, func(api.Event) error { return nil }); api.CodeOf(err) != api.CodeUnauthenticated {
		t.Errorf("got %v, want the refusal at once", err)
	}
}

func TestTheLastWordOfTheServerIsNoOutput(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, body, out, err string }{
		{"output alone", "one\ntwo\n", "one\ntwo\n", ""},
		{"no line break at the end", "one\ntwo", "one\ntwo", ""},
		{"an error alone", "slipway: the pod is gone\n", "", "the pod is gone"},
		{"output and an error", "one\nslipway: the pod is gone\n", "one\n", "the pod is gone"},
		{"somebody else says so", "slipway: I am a pod\none\n", "slipway: I am a pod\none\n", ""},
		{"a beginning", "one\nslip", "one\nslip", ""},
		{"nothing", "", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for _, in := range []io.Reader{strings.NewReader(c.body), iotest.OneByteReader(strings.NewReader(c.body)), iotest.DataErrReader(strings.NewReader(c.body))} {
				got, err := io.ReadAll(&logReader{body: io.NopCloser(in)})
				if string(got) != c.out {
					t.Errorf("got %q, want %q", got, c.out)
				}
				if (err == nil) != (c.err == "") || err != nil && err.Error() != c.err {
					t.Errorf("got %v, want %q", err, c.err)
				}
			}
		})
	}
}
