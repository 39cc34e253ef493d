package credential

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/slipway-gitops/slipway/internal/cloud"
	"github.com/slipway-gitops/slipway/internal/sandbox"
	"github.com/slipway-gitops/slipway/internal/strict"
)

// execInfo has a program ask no questions.
const execInfo = `{"apiVersion":"%s","kind":"ExecCredential","spec":{"interactive":false}}`

// exec runs a program of the operator's list. It gets its arguments and variables of the Secret, and no others of the agent than
// those that are passed to all.
func (m *Maker) exec(in *Exec) (*cloud.Holder, error) {
	program := ""
	for _, allowed := range m.Commands {
		if in.Command == allowed || in.Command == filepath.Base(allowed) {
			program = allowed
		}
	}
	if program == "" {
		return nil, fmt.Errorf("execProviderConfig runs %.80q, which this agent does not allow: have its operator allow it "+
			"with --cluster-commands, "+
			"or use %s, a bearer token or a client certificate", in.Command, helper)
	}
	version := in.APIVersion
	if version == "" {
		version = "client.authentication.k8s.io/v1beta1"
	}
	if version != "client.authentication.k8s.io/v1beta1" && version != "client.authentication.k8s.io/v1" {
		return nil, fmt.Errorf("execProviderConfig.apiVersion %.80q is not supported: it is client.authentication.k8s.io/v1 or v1beta1", version)
	}
	env := append(slices.Clone(m.Pass), "KUBERNETES_EXEC_INFO="+fmt.Sprintf(execInfo, version))
	name := regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	for _, key := range slices.Sorted(maps.Keys(in.Env)) {
		upper := strings.ToUpper(key)
		if !name.MatchString(key) || upper == "PATH" || strings.HasPrefix(upper, "LD_") || strings.ContainsRune(in.Env[key], 0) {
			return nil, fmt.Errorf("execProviderConfig.env has %.80q, which decides about programs: leave it out", key)
		}
		env = append(env, key+"="+in.Env[key])
	}
	now := m.Keeper.Now
	return cloud.NewHolder(now, func(ctx context.Context) (cloud.Token, error) {
		out, err := run(ctx, program, in.Args, env)
		token := cloud.Token{}
		if err == nil {
			token, err = credentialOf(out)
		}
		if err != nil {
			return cloud.Token{}, fmt.Errorf("run %s: %w", filepath.Base(program), err)
		}
		if token.Ends.IsZero() {
			token.Ends = now().Add(unknownLife)
		}
		return token, nil
	}), nil
}

const (
	// unknownLife is how long a token is used of which no end is known.
	unknownLife = 5 * time.Minute
	// maxAnswer bounds what programs print, in bytes.
	maxAnswer = 256 << 10
)

// run returns what a program prints. What it says of failures is not passed on: it may be anything.
func run(ctx context.Context, program string, args, env []string) ([]byte, error) {
	out, err := sandbox.Program{Path: program, Args: args, Env: env, Output: maxAnswer}.Run(ctx)
	var exit *sandbox.ExitError
	switch {
	case ctx.Err() != nil:
		return nil, errors.New("it did not end within 30 s: run it on the agent's machine to see why")
	case errors.Is(err, sandbox.ErrOutput):
		return nil, fmt.Errorf("it prints more than %d bytes: it has to print an ExecCredential", maxAnswer)
	case errors.As(err, &exit):
		return nil, fmt.Errorf("it ended with code %d: run it on the agent's machine to see why", exit.Code)
	case err != nil:
		return nil, errors.New("it cannot be started: check --cluster-commands")
	}
	return out, nil
}

// credentialOf reads an ExecCredential.
func credentialOf(raw []byte) (cloud.Token, error) {
	var got struct {
		Kind   string `json:"kind"`
		Status struct {
			Token   string    `json:"token"`
			Expires time.Time `json:"expirationTimestamp"`
			Cert    string    `json:"clientCertificateData"`
		} `json:"status"`
	}
	switch err := strict.Decode(raw, &got, strict.Foreign); {
	case err != nil || got.Kind != "ExecCredential":
		return cloud.Token{}, errors.New("it prints no ExecCredential")
	case got.Status.Token == "" && got.Status.Cert != "":
		return cloud.Token{}, errors.New("it gives a client certificate, which is not supported: have it give a token")
	case got.Status.Token == "" || strings.ContainsAny(got.Status.Token, "\r\n"):
		return cloud.Token{}, errors.New("its ExecCredential has no token")
	}
	return cloud.Token{Secret: got.Status.Token, Ends: got.Status.Expires}, nil
}
