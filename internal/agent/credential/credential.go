// Package credential makes the tokens that agents sign in to clusters with where a cluster Secret holds none: by an identity that a
// cloud gives the agent, or by a program that the operator allows.
package credential

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/slipway-gitops/slipway/internal/legible"
)

// EKS is awsAuthConfig of a cluster Secret: a cluster of Amazon, and the role to take on for it.
type EKS struct {
	ClusterName string `json:"clusterName"`
	RoleARN     string `json:"roleARN"`
	Profile     string `json:"profile"`
}

// Exec is execProviderConfig of a cluster Secret: a program that prints a credential.
type Exec struct {
	Command     string            `json:"command"`
	Args        []string          `json:"args"`
	Env         map[string]string `json:"env"`
	APIVersion  string            `json:"apiVersion"`
	InstallHint string            `json:"installHint"`
}

// Maker makes tokens. Its fields are not changed once it is in use.
type Maker struct {
	Commands []string                 // programs that may be run: absolute paths
	Environ  func(name string) string // variables of the agent, by which clouds give it an identity
	Client   *http.Client             // for what variables of the agent or clouds name, never for what users choose
	Now      func() time.Time
	Pass     []string // variables that programs are run with, NAME=VALUE
}

// Error says why no token could be made. There is no secret in it.
type Error struct {
	doing string
	err   error
}

// Error says what was done, and what went wrong.
func (e *Error) Error() string { return "sign in to the cluster: " + e.doing + ": " + e.err.Error() }

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.err }

// token is what a request carries. It hides itself.
type token struct {
	value   string
	expires time.Time // zero where that is not known
}

// String implements fmt.Stringer.
func (token) String() string { return "(a token)" }

// maker makes one kind of token.
type maker func(ctx context.Context) (token, error)

// errOwn is why Secrets that others send do not use what is the agent's.
var errOwn = errors.New("execProviderConfig and awsAuthConfig sign in with what is the agent's own: apply such a " +
	"Secret in the agent's cluster, " +
	"or give a bearer token or a client certificate")

// Source returns what makes the tokens for a server; nil where neither eks nor exec is given. A nil Maker makes none.
func (m *Maker) Source(server string, eks *EKS, exec *Exec) (*Source, error) {
	switch {
	case eks == nil && exec == nil:
		return nil, nil //nolint:nilnil // there is none
	case m == nil:
		return nil, errOwn
	case eks != nil && exec != nil:
		return nil, errors.New("config has both execProviderConfig and awsAuthConfig: keep one of them")
	case !strings.HasPrefix(server, "https://"):
		return nil, errors.New("a token is made for a server with https:// only: correct the field server")
	}
	var do maker
	var err error
	if eks != nil {
		do, err = m.eks(server, *eks, nil)
	} else {
		do, err = m.program(server, exec)
	}
	if err != nil {
		return nil, err
	}
	return &Source{do: do, now: m.Now, turn: make(chan struct{}, 1)}, nil
}

// helper is the program of Argo CD that signs in to clouds. What it does is done in this process.
const helper = "argocd-k8s-auth"

// Bounds of what a Secret may say.
const (
	maxArgs = 64
	maxEnv  = 64
	maxText = 8 << 10
)

func (m *Maker) program(server string, in *Exec) (maker, error) {
	size := len(in.Command)
	for _, arg := range in.Args {
		size += len(arg)
	}
	for name, value := range in.Env {
		size += len(name) + len(value)
	}
	if len(in.Args) > maxArgs || len(in.Env) > maxEnv || size > maxText {
		return nil, fmt.Errorf("execProviderConfig is too large: at most %d arguments, %d variables and %d bytes are "+
			"allowed", maxArgs, maxEnv, maxText)
	}
	if path.Base(in.Command) == helper && len(in.Args) > 0 {
		switch cloud := in.Args[0]; cloud {
		case "aws":
			flags, err := readFlags(in.Args[1:], "cluster-name", "role-arn", "profile")
			if err != nil {
				return nil, err
			}
			return m.eks(server, EKS{ClusterName: flags["cluster-name"], RoleARN: flags["role-arn"], Profile: flags["profile"]}, in.Env)
		case "gcp":
			if _, err := readFlags(in.Args[1:]); err != nil {
				return nil, err
			}
			return m.google()
		case "azure":
			if _, err := readFlags(in.Args[1:]); err != nil {
				return nil, err
			}
			return m.azure(in.Env)
		}
		return nil, fmt.Errorf("execProviderConfig: %s %.40q is unknown: it is aws, gcp or azure", helper, in.Args[0])
	}
	return m.exec(in)
}

// readFlags reads --name value and --name=value.
func readFlags(args []string, names ...string) (map[string]string, error) {
	out := map[string]string{}
	for i := 0; i < len(args); i++ {
		name, value, given := strings.Cut(strings.TrimLeft(args[i], "-"), "=")
		if !strings.HasPrefix(args[i], "-") || !slices.Contains(names, name) {
			return nil, fmt.Errorf("execProviderConfig: %s has no argument %.80q here: leave it out", helper, args[i])
		}
		if !given {
			if i++; i == len(args) {
				return nil, fmt.Errorf("execProviderConfig: --%s has no value: give one", name)
			}
			value = args[i]
		}
		out[name] = value
	}
	return out, nil
}

// Source makes tokens for one cluster, and keeps one as long as it is good. It is safe for concurrent use.
type Source struct {
	do  maker
	now func() time.Time

	turn   chan struct{} // held by the request that makes a token, and to read what follows
	have   token
	since  time.Time
	failed error
}

const (
	// makeLimit bounds the making of a token.
	makeLimit = 30 * time.Second
	// failurePause is how long a failure stands before a token is asked for again.
	failurePause = 5 * time.Second
	// early is how long before its end a token is replaced.
	early = time.Minute
	// shortest is how long a token of unknown length is used, and how old one is at least that a cluster makes us replace.
	shortest = 10 * time.Second
	// unknownLife is how long a token is used of which no end is known.
	unknownLife = 5 * time.Minute
)

// get returns a token that is good now.
func (s *Source) get(ctx context.Context) (string, error) {
	select {
	case s.turn <- struct{}{}:
	case <-ctx.Done():
		return "", ctx.Err()
	}
	defer func() { <-s.turn }()
	now := s.now()
	if s.failed != nil && now.Sub(s.since) < failurePause {
		return "", s.failed
	}
	if s.have.value != "" && now.Before(s.until()) {
		return s.have.value, nil
	}
	ctx, cancel := context.WithTimeout(ctx, makeLimit)
	defer cancel()
	fresh, err := s.do(ctx)
	switch {
	case err == nil:
		s.have, s.since, s.failed = fresh, s.now(), nil
		return fresh.value, nil
	case ctx.Err() != nil && context.Cause(ctx) == context.Canceled: //nolint:errorlint // the sentinel itself
		return "", err // of this request alone
	case s.have.value != "" && now.Before(s.have.expires):
		return s.have.value, nil // it is still good
	}
	s.failed, s.since = err, s.now()
	return "", err
}

// until is when the token is replaced.
func (s *Source) until() time.Time {
	if s.have.expires.IsZero() {
		return s.since.Add(unknownLife)
	}
	if at := s.have.expires.Add(-early); at.After(s.since.Add(shortest)) {
		return at
	}
	return s.have.expires
}

// refused hears that a cluster does not take a token.
func (s *Source) refused(ctx context.Context, value string) {
	select {
	case s.turn <- struct{}{}:
	case <-ctx.Done():
		return
	}
	defer func() { <-s.turn }()
	if s.have.value == value && s.now().Sub(s.since) >= shortest {
		s.have = token{}
	}
}

// Around adds the token to the requests of a transport.
func (s *Source) Around(next http.RoundTripper) http.RoundTripper { return &signer{s, next} }

type signer struct {
	source *Source
	next   http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (r *signer) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx := req.Context()
	value, err := r.source.get(ctx)
	if err != nil {
		if req.Body != nil {
			req.Body.Close()
		}
		return nil, err
	}
	req = req.Clone(ctx)
	req.Header.Set("Authorization", "Bearer "+value)
	resp, err := r.next.RoundTrip(req)
	if err == nil && resp.StatusCode == http.StatusUnauthorized {
		r.source.refused(ctx, value)
	}
	return resp, err
}

// WrappedRoundTripper gives the transport below.
func (r *signer) WrappedRoundTripper() http.RoundTripper { return r.next }

// maxAnswer bounds what clouds answer, in bytes.
const maxAnswer = 256 << 10

// ask sends a request to a cloud, and returns the body of its answer. The error names no secret.
func (m *Maker) ask(req *http.Request, doing string) ([]byte, error) {
	resp, err := m.Client.Do(req)
	if err != nil {
		return nil, &Error{doing, fmt.Errorf("%s does not answer: check the network of the agent", req.URL.Host)}
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return nil, &Error{doing, fmt.Errorf("the answer of %s is cut off", req.URL.Host)}
	}
	if resp.StatusCode != http.StatusOK {
		return nil, &Error{doing, fmt.Errorf("%s answers with status %d%s", req.URL.Host, resp.StatusCode, codeOf(raw))}
	}
	return raw, nil
}

// codeOf is the code of an error in the answer of a cloud; "" for none.
func codeOf(raw []byte) string {
	for _, mark := range [][2]string{{"<Code>", "</Code>"}, {`"error":"`, `"`}, {`"error": "`, `"`}} {
		if _, rest, ok := strings.Cut(string(raw), mark[0]); ok {
			if code, _, ok := strings.Cut(rest, mark[1]); ok {
				const most = 60
				return " (" + legible.Cut(code, most) + ")"
			}
		}
	}
	return ""
}
