package login

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os/exec"
	"runtime"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/client"
	"github.com/slipway-gitops/slipway/internal/cli/connect"
	"github.com/slipway-gitops/slipway/internal/cli/iostream"
	"github.com/slipway-gitops/slipway/internal/inlet"
)

// returnPath is where the browser comes back to.
const returnPath = "/callback"

// singleSignOn has the user sign in with the identity provider in a browser, and gives a token. The browser brings a code
// to an address on loopback, which is worth something only together with the verifier that never leaves this process.
func (o *loginOptions) singleSignOn(ctx context.Context, c *client.Client) (string, error) {
	methods, err := c.SignInMethods(ctx)
	if err != nil {
		return "", connect.ExplainServer(err, c.Server())
	}
	if methods.OIDC == "" {
		return "", iostream.Usagef("server %s has no identity provider: sign in with a password, without --sso", c.Server())
	}
	listener, err := inlet.Listen(ctx, "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("wait for the browser: %w", err)
	}
	verifier, state := rand.Text()+rand.Text(), rand.Text()
	sum := sha256.Sum256([]byte(verifier))
	begin := c.Server() + methods.OIDC + "?" + url.Values{
		"cli_redirect":  {"http://" + listener.Addr().String() + returnPath},
		"cli_challenge": {base64.RawURLEncoding.EncodeToString(sum[:])},
		"cli_state":     {state},
	}.Encode()
	o.Sayf("sign in with the browser at this address:\n\n  %s\n", begin)
	browse(ctx, begin)
	code, err := o.awaitBrowser(ctx, listener, state)
	if err != nil {
		return "", err
	}
	session, err := c.ExchangeCode(ctx, api.CodeExchange{Code: code, Verifier: verifier, Token: tokenName()})
	return session.Token, err
}

// browse opens a browser. Where there is none, the user has the address.
func browse(ctx context.Context, address string) {
	program := "xdg-open"
	if runtime.GOOS == "darwin" {
		program = "open"
	}
	path, err := exec.LookPath(program)
	if err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	_ = exec.CommandContext(ctx, path, address).Run() //nolint:gosec // the address was printed, and is an argument of its own
}

// awaitBrowser serves one request: that of the browser that comes back with our state, and with a code or with why there is
// none.
func (o *loginOptions) awaitBrowser(ctx context.Context, listener net.Listener, state string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, o.timeout)
	defer cancel()
	type answer struct{ code, refusal string }
	answers := make(chan answer, 1)
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+returnPath, func(w http.ResponseWriter, r *http.Request) {
		query := r.URL.Query()
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		said := answer{query.Get("code"), query.Get("error")}
		if query.Get("state") != state || said == (answer{}) {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = w.Write([]byte("This is not the sign-in that the command line waits for.\n")) // the browser may have gone
			return
		}
		text := "You are signed in. Close this page and go back to the terminal.\n"
		if said.refusal != "" {
			text = "You are not signed in: " + iostream.Clean(said.refusal) + "\nClose this page and go back to the terminal.\n"
		}
		_, _ = w.Write([]byte(text)) // the same
		select {
		case answers <- said:
		default:
		}
	})
	server := inlet.New(inlet.Config{
		Handler: mux, Limits: inlet.Limits{Connections: 64, Waiting: 32, Header: 5 * time.Second, Body: time.Second},
	})
	served := make(chan error, 1)
	go func() { served <- server.Serve(context.WithoutCancel(ctx), listener) }()
	defer func() {
		stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
		defer cancel()
		_ = server.Shutdown(stop) // the answer is out or it is not
		<-served                  //nolint:errcheck // it says that the server was closed
	}()
	select {
	case said := <-answers:
		if said.refusal != "" {
			return "", iostream.NotLoggedInf("sign-in failed: %s", said.refusal)
		}
		return said.code, nil
	case <-ctx.Done():
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return "", iostream.NotLoggedInf("no sign-in within %s: the browser shows the reason; try again, or sign in with a password", o.timeout)
		}
		return "", ctx.Err()
	}
}
