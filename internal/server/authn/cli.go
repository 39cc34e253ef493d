package authn

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/legible"
	"github.com/slipway-gitops/slipway/internal/strict"
)

// cliLogin is what a command line says when it begins a sign-in by an identity provider. It listens on loopback, makes a
// verifier that it keeps to itself, and sends the browser to /api/v1/session/oidc with
//
//	cli_redirect   http://127.0.0.1:<port>/…, where the browser comes back to
//	cli_challenge  the SHA-256 of the verifier, in base64 for URLs
//	cli_state      what it knows its own browser by
//
// The browser brings code and state, and code and verifier together are worth a token. After a failed sign-in it has
// error, a text for people, and state.
type cliLogin struct {
	Redirect, Challenge, State string
}

// Bounds of what a command line says.
const (
	codeLasts     = 2 * time.Minute
	minVerifier   = 43
	maxVerifier   = 128
	maxCLIState   = 128
	challengeSize = 43
)

// readCLILogin reads what a command line says; nil where none does.
func readCLILogin(query url.Values) (*cliLogin, error) {
	in := cliLogin{query.Get("cli_redirect"), query.Get("cli_challenge"), query.Get("cli_state")}
	if in == (cliLogin{}) {
		return nil, nil //nolint:nilnil // it is a browser's sign-in
	}
	if err := checkLoopback(in.Redirect); err != nil {
		return nil, err
	}
	if sum, err := base64.RawURLEncoding.Strict().DecodeString(in.Challenge); err != nil || len(in.Challenge) != challengeSize ||
		len(sum) != sha256.Size {
		return nil, &api.Error{
			Code: api.CodeInvalid, Field: "cli_challenge",
			Message: "cli_challenge is no SHA-256 in base64: use the slipway command line of this server's version",
		}
	}
	if in.State == "" || len(in.State) > maxCLIState {
		return nil, &api.Error{
			Code: api.CodeInvalid, Field: "cli_state", Message: fmt.Sprintf("cli_state is missing or longer than %d bytes", maxCLIState),
		}
	}
	return &in, nil
}

// checkLoopback keeps a code from being sent to another machine.
func checkLoopback(redirect string) error {
	wrong := &api.Error{
		Code: api.CodeInvalid, Field: "cli_redirect",
		Message: "cli_redirect must be http://127.0.0.1:<port>/<path> or http://[::1]:<port>/<path>",
	}
	u, err := url.Parse(redirect)
	if err != nil || len(redirect) > 200 || u.Scheme != "http" || u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" ||
		u.Opaque != "" {
		return wrong
	}
	port, err := strconv.ParseUint(u.Port(), 10, 16)
	if err != nil || port == 0 || u.Hostname() != "127.0.0.1" && u.Hostname() != "::1" {
		return wrong
	}
	return nil
}

// handedOver is a code that waits for its command line.
type handedOver struct {
	User, Challenge string
}

// handOver makes a code, and gives the address on loopback that brings it to the command line.
func (a *Authn) handOver(ctx context.Context, user User, in cliLogin) (string, error) {
	body, err := json.Marshal(handedOver{user.ID, in.Challenge})
	if err != nil {
		return "", err
	}
	code := secret()
	pending := Pending{Hash: digest(code), Kind: pendingCode, Body: body, ExpiresAt: a.cfg.Now().Add(codeLasts)}
	if err := a.cfg.Pendings.CreatePending(ctx, pending); err != nil {
		return "", err
	}
	return in.Redirect + "?" + url.Values{"code": {code}, "state": {in.State}}.Encode(), nil
}

// maxRefusal is how much of a reason, in bytes, a browser brings to a command line.
const maxRefusal = 600

// refused is the address on loopback that reports to the command line why there is no code.
func (in cliLogin) refused(cause error) string {
	why := "the server could not finish the sign-in: its log has the cause for its operator"
	var known *api.Error
	if errors.As(cause, &known) {
		why = legible.Prefix(known.Message, maxRefusal)
	}
	return in.Redirect + "?" + url.Values{"error": {why}, "state": {in.State}}.Encode()
}

// ExchangeCode gives a command line the token for the code that its browser brought. It is a token of the user, of that
// name, and lasts as long as a browser's session by a provider can. A code can be used once, by any client.
func (a *Authn) ExchangeCode(ctx context.Context, code, verifier, tokenName string) (api.Session, error) {
	again := api.Errorf(api.CodeUnauthenticated, "this code was used or is too old: run slipway login again")
	if len(code) != len(secret()) || len(verifier) < minVerifier || len(verifier) > maxVerifier {
		return api.Session{}, again
	}
	pending, err := a.cfg.Pendings.TakePending(ctx, pendingCode, digest(code))
	if err != nil {
		return api.Session{}, instead(err, again)
	}
	var in handedOver
	if err := strict.Decode(pending.Body, &in, strict.Unknown); err != nil {
		return api.Session{}, fmt.Errorf("read a code of the command line: %w", err)
	}
	sum := sha256.Sum256([]byte(verifier))
	left := pending.ExpiresAt.Sub(a.cfg.Now())
	if left <= 0 || left > codeLasts+clockAhead || !same(base64.RawURLEncoding.EncodeToString(sum[:]), in.Challenge) {
		return api.Session{}, again
	}
	user, err := a.cfg.Users.AuthUser(ctx, in.User)
	if err != nil {
		return api.Session{}, instead(err, again)
	}
	if user.Disabled {
		return api.Session{}, disabled(user.ID)
	}
	return a.tokenSession(ctx, user, tokenName, a.cfg.Now().Add(a.cfg.GroupsLast))
}
