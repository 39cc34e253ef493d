package link

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/legible"
	"github.com/slipway-gitops/slipway/internal/outward"
	"github.com/slipway-gitops/slipway/internal/strict"
)

const (
	registerLimit = 30 * time.Second
	maxAnswer     = 64 << 10
)

// errUnregistered means that the agent has no identity yet and no token to register with.
var errUnregistered = errors.New("this agent is not registered: create it on the server (slipway agent create NAME) and start it with " +
	"the token that this prints (--registration-token-file)")

// errToken says that the server does not take the token.
var errToken = errors.New("the server does not take the registration token: it was used, has expired or is wrong; " +
	"make a new one (slipway agent register ID)")

// registrar knows who the agent is: it makes, registers and keeps the identity.
type registrar struct {
	cfg     Config
	log     *slog.Logger
	secrets *identityStore
	status  *board

	mu       sync.Mutex
	identity *identity
	stale    bool   // the identity is to be read again
	where    string // uid of the cluster, once it is known
	narrow   bool   // the agent may not look outside of its namespace
}

// identify returns the agent's identity, and registers it if it has none yet, or if it was given another token than the
// one that it registered with.
func (r *registrar) identify(ctx context.Context) (*identity, error) {
	token, err := r.cfg.Token()
	if err != nil {
		return nil, err
	}
	if id := r.known(); id != nil && (token == "" || id.token == tokenHash(token)) {
		return id, nil // an attempt to connect asks nothing of the API server
	}
	id, err := r.secrets.load(ctx)
	if err != nil {
		return nil, err
	}
	known := id != nil && id.registered()
	if known && (token == "" || id.token == tokenHash(token)) {
		r.keepIdentity(id)
		return id, nil
	}
	if token == "" {
		return nil, errUnregistered
	}
	if r.cfg.ReadOnly {
		if known {
			r.keepIdentity(id)
			return id, nil
		}
		return nil, fmt.Errorf("%w; shadow mode writes nothing, so it cannot keep an identity: start the agent once without --shadow",
			errUnregistered)
	}
	fresh, err := r.registerAnew(ctx, id, token)
	if known && errors.Is(err, errToken) {
		// A manifest that was applied once holds its token for ever.
		r.log.Warn("the registration token is not taken; going on as the agent that is registered already", "agent", id.agent)
		id.token, id.tried = tokenHash(token), nil
		if err := r.secrets.save(ctx, id); err != nil {
			return nil, err
		}
		fresh, err = id, nil
	}
	if err != nil {
		return nil, err
	}
	r.keepIdentity(fresh)
	return fresh, nil
}

func (r *registrar) keepIdentity(id *identity) {
	r.mu.Lock()
	r.identity, r.stale = id, false
	r.mu.Unlock()
	r.status.named(id.agent)
}

// known returns the identity, if it was read and not forgotten.
func (r *registrar) known() *identity {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stale || r.identity == nil || !r.identity.registered() {
		return nil
	}
	return r.identity
}

// last returns the identity that was read last, whether it is to be read again or not; nil for none.
func (r *registrar) last() *identity {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.identity
}

// forget lets the identity be read again. What is sealed to it is still opened.
func (r *registrar) forget() {
	r.mu.Lock()
	r.stale = true
	r.mu.Unlock()
}

// SealKeys returns the keys that secrets for this agent are sealed to, newest first; none before the identity is known.
func (r *registrar) SealKeys() []SealKey {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.identity == nil {
		return nil
	}
	return append([]SealKey(nil), r.identity.seal...)
}

// registerAnew makes keys, registers them and keeps what came of it. Keys are kept before they are shown, so that a
// registration of which the answer got lost, or after which the agent was killed, is tried again with the same ones: the
// server answers again who has the key that the token was used with.
func (r *registrar) registerAnew(ctx context.Context, old *identity, token string) (*identity, error) {
	id := old
	if id == nil || id.registered() {
		fresh, isNew, err := candidate(old, token)
		if err != nil {
			return nil, err
		}
		keep := fresh
		if old != nil {
			keep = old
		}
		if isNew {
			if err := r.secrets.save(ctx, keep); err != nil {
				return nil, err
			}
		}
		if id = fresh; old != nil {
			id = fresh.copy()
			id.version, id.records, id.token = old.version, old.records, ""
			id.seal = append(id.seal, old.seal[0])
		}
	}
	answer, err := r.register(ctx, id, token)
	if err != nil {
		return nil, err
	}
	id.agent, id.uid, id.serverKey, id.server = answer.Agent, answer.UID, answer.ServerKey, r.cfg.Server.String()
	id.token, id.engine = tokenHash(token), answer.Engine
	if err := r.secrets.save(ctx, id); err != nil {
		return nil, err
	}
	r.log.Info("registered", "agent", id.agent, "server", id.server)
	return id, nil
}

// candidate is the identity to show with a token: one that is new, or the one that the registered identity holds for this
// token. The latter holds it from then on.
func candidate(old *identity, token string) (fresh *identity, isNew bool, err error) {
	if old != nil && old.tried != nil && old.tried.token == tokenHash(token) {
		return old.tried, false, nil
	}
	if fresh, err = newIdentity(); err != nil {
		return nil, false, err
	}
	if old != nil {
		fresh.token = tokenHash(token)
		old.tried = fresh
	}
	return fresh, true, nil
}

// register shows the token and the keys to the server.
func (r *registrar) register(ctx context.Context, id *identity, token string) (*agentapi.Registered, error) {
	cluster, err := r.cluster(ctx)
	if err != nil {
		return nil, err
	}
	public, err := publicKey(id.seed)
	if err != nil {
		return nil, err
	}
	in := agentapi.Registration{
		Token: token, PublicKey: public, SealKey: id.seal[0].Public[:], ClusterUID: cluster, Namespace: r.cfg.Namespace,
		Version: r.cfg.Versions().Agent,
	}
	if in.Signature, err = sign(id.seed, agentapi.RegistrationText(in)); err != nil {
		return nil, err
	}
	body, err := json.Marshal(in)
	if err != nil {
		return nil, fmt.Errorf("write the registration: %w", err)
	}
	return r.showKeys(ctx, body)
}

// showKeys sends a registration, and reads the answer.
func (r *registrar) showKeys(ctx context.Context, body []byte) (*agentapi.Registered, error) {
	ctx, cancel := context.WithTimeout(ctx, registerLimit)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.cfg.Server.JoinPath(agentapi.PathRegister).String(), bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("write the registration: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "slipway-agent")
	client := r.client()
	defer client.CloseIdleConnections()
	resp, err := client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("register: %w", &wordless{err})
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return nil, fmt.Errorf("register: read the answer: %w", err)
	}
	return readRegistered(resp, raw)
}

// client is an HTTP client that reaches the server as the link does.
func (r *registrar) client() *http.Client {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		conn, err := r.cfg.Transport.dial(ctx, r.cfg.Server)
		if err != nil {
			err = &undialled{err}
		}
		return conn, err
	}
	return &http.Client{
		Transport: &http.Transport{DialContext: dial, DialTLSContext: dial, DisableKeepAlives: true, ResponseHeaderTimeout: registerLimit},
		// A token is for whom it was given for.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// undialled is the error of an attempt to connect, in words of ours.
type undialled struct{ cause error }

// Error says why there is no connection.
func (u *undialled) Error() string { return u.cause.Error() }

// Unwrap returns the cause.
func (u *undialled) Unwrap() error { return u.cause }

// wordless is the error of a request without the words of what answered it.
type wordless struct{ cause error }

// Error says what happened in words of ours.
func (w *wordless) Error() string {
	var ours *undialled
	if errors.As(w.cause, &ours) {
		return ours.Error()
	}
	return outward.Reason(w.cause)
}

// Unwrap returns the cause.
func (w *wordless) Unwrap() error { return w.cause }

// maxDetail is how much is shown of why a server refuses a registration.
const maxDetail = 300

// refusalOf is why a server does not register an agent. What is no problem document of that status is no answer of a Slipway
// server, and its words are not shown.
func refusalOf(resp *http.Response, raw []byte) string {
	var problem struct {
		Status int    `json:"status"`
		Detail string `json:"detail"`
	}
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	err := strict.Decode(raw, &problem, strict.Foreign)
	if err != nil || kind != "application/problem+json" || problem.Status != resp.StatusCode || problem.Detail == "" {
		return "this is no answer of a Slipway server: check --server, and what is in front of the server"
	}
	return legible.Cut(problem.Detail, maxDetail)
}

func readRegistered(resp *http.Response, raw []byte) (*agentapi.Registered, error) {
	switch {
	case resp.StatusCode == http.StatusUnauthorized:
		return nil, errToken
	case resp.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("register: the server answers with %s: %s", outward.Status(resp.StatusCode), refusalOf(resp, raw))
	}
	var out agentapi.Registered
	if err := strict.Decode(raw, &out, strict.Unknown); err != nil {
		return nil, fmt.Errorf("register: read the answer: %w: is --server the address of a Slipway server?", err)
	}
	if !agentapi.ValidUID(out.UID) || len(out.ServerKey) != keySize || out.Agent == "" {
		return nil, errors.New("register: the answer is not that of a Slipway server: check --server")
	}
	return &out, nil
}
