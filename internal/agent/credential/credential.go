// Package credential makes the tokens that agents sign in to clusters with where a cluster Secret holds none: by an identity that a
// cloud gives the agent, or by a program that the operator allows.
package credential

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/slipway-gitops/slipway/internal/cloud"
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
	Commands []string      // programs that may be run: absolute paths
	Pass     []string      // variables that programs are run with, NAME=VALUE
	Keeper   *cloud.Keeper // has the identity that a cloud gives the agent
}

// Error says why no token could be made. There is no secret in it.
type Error struct{ err error }

// Error says what went wrong.
func (e *Error) Error() string { return "sign in to the cluster: " + e.err.Error() }

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.err }

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
	var holder *cloud.Holder
	var err error
	if eks != nil {
		holder, err = m.eks(server, *eks, nil)
	} else {
		holder, err = m.program(server, exec)
	}
	if err != nil {
		return nil, err
	}
	return &Source{holder: holder}, nil
}

// helper is the program of Argo CD that signs in to clouds. What it does is done in this process.
const helper = "argocd-k8s-auth"

// Bounds of what a Secret may say.
const (
	maxArgs = 64
	maxEnv  = 64
	maxText = 8 << 10
)

func (m *Maker) program(server string, in *Exec) (*cloud.Holder, error) {
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
		switch in.Args[0] {
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
			account, err := m.Keeper.Google(cloud.GKEScope)
			if err != nil {
				return nil, err
			}
			return m.Keeper.Own(account)
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
	holder  *cloud.Holder
	refused atomic.Pointer[string] // the last token that the cluster did not take
}

// get returns a token that is good now.
func (s *Source) get(ctx context.Context) (string, error) {
	refused := ""
	if last := s.refused.Load(); last != nil {
		refused = *last
	}
	got, err := s.holder.Token(ctx, refused)
	if err != nil && ctx.Err() == nil {
		return "", &Error{err}
	}
	return got.Secret, err
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
		r.source.refused.Store(&value)
	}
	return resp, err
}

// WrappedRoundTripper gives the transport below.
func (r *signer) WrappedRoundTripper() http.RoundTripper { return r.next }
