package setting

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"k8s.io/client-go/discovery"

	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/agent/command"
	"github.com/slipway-gitops/slipway/internal/agent/place"
	"github.com/slipway-gitops/slipway/internal/git"
	"github.com/slipway-gitops/slipway/internal/outward"
	"github.com/slipway-gitops/slipway/internal/source/helmrepo"
	"github.com/slipway-gitops/slipway/internal/source/web"
	"github.com/slipway-gitops/slipway/internal/strict"
)

// tryLimit bounds the try of a connection.
const tryLimit = 30 * time.Second

// try connects with what a Secret of a type would hold, and says what it found.
func (v *keeper) try(ctx context.Context, t agentapi.SettingType, data map[string][]byte) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, tryLimit)
	defer cancel()
	var message string
	var err error
	switch {
	case t == agentapi.SettingCluster:
		message, err = v.tryCluster(ctx, data)
	case t == agentapi.SettingRepoCreds:
		return "", nil // there is no repository to try it on
	case v.ofRegistry(data):
		message, err = v.tryRegistry(ctx, data)
	case string(data["type"]) == "helm":
		message, err = v.tryArtifacts(ctx, data)
	default:
		message, err = v.tryGit(ctx, data)
	}
	if err != nil {
		text := hide(err.Error(), data)
		switch {
		case string(data["project"]) != "" && (ctx.Err() != nil || tells(err)):
			text = hide(string(data["url"])+string(data["server"]), data) +
				": nothing that can be used answers there: check address, port, path, certificate, known hosts, network and proxy; " +
				"a user who may edit the agent's settings gets the exact reason without a project"
		case ctx.Err() != nil:
			text += fmt.Sprintf("; there was no answer within %s: check address, proxy and firewall", tryLimit)
		}
		return "", command.Refuse(agentapi.CodeInvalid, "the connection does not work: %s", text)
	}
	return hide(message, data), nil
}

// distant is an error that reveals what is at an address. A user who may edit the settings of one project only does not get it:
// the agent reaches more than they do.
type distant struct{ error }

// Unwrap gives the error itself.
func (d distant) Unwrap() error { return d.error }

// tells reports whether an error reveals what is at an address. That a credential is missing or wrong is reported to every user.
func tells(err error) bool {
	var found *git.Error
	if errors.As(err, &found) {
		return !errors.Is(found, git.ErrAuth) && !errors.Is(found, git.ErrDenied)
	}
	if errors.Is(err, web.ErrAuth) || errors.Is(err, web.ErrDenied) || errors.Is(err, web.ErrRefused) {
		return false
	}
	return errors.As(err, new(distant)) || errors.As(err, new(*web.Error)) || errors.Is(err, helmrepo.ErrIndex)
}

// tryGit lists the references of a repository. Where it has no credential of its own, the template that fits is used, as for
// an Application.
func (v *keeper) tryGit(ctx context.Context, data map[string][]byte) (string, error) {
	address := strings.TrimSpace(string(data["url"]))
	cred, err := v.credential(address, data)
	if err != nil {
		return "", err
	}
	mirror, err := v.Git.Mirror(address, cred)
	if err != nil {
		return "", err
	}
	refs, err := mirror.LsRemote(ctx)
	if err != nil {
		return "", err
	}
	if len(refs.IDs) == 0 { // a page of something else counts for git as a repository without references
		return "", distant{fmt.Errorf("%s has no branch and no tag: check the address, or push a commit before it is tried", mirror.URL())}
	}
	branches := 0
	for name := range refs.IDs {
		if strings.HasPrefix(name, "refs/heads/") {
			branches++
		}
	}
	return fmt.Sprintf("the repository answers: %d branches, the default is %s", branches,
		strings.TrimPrefix(refs.Default, "refs/heads/")), nil
}

func (v *keeper) credential(address string, data map[string][]byte) (git.Credential, error) {
	for _, field := range []string{
		"username", "password", "bearerToken", "sshPrivateKey", "tlsClientCertData", "githubAppPrivateKey", "gcpServiceAccountKey",
	} {
		if len(data[field]) > 0 {
			return v.Settings.CredentialIn(data, "of the repository", address)
		}
	}
	return v.Settings.Credential(strings.TrimSpace(string(data["project"])), address)
}

// tryCluster asks a cluster for its version.
func (v *keeper) tryCluster(ctx context.Context, data map[string][]byte) (string, error) {
	server := strings.TrimSpace(string(data["server"]))
	config, err := place.ClusterConfig("of the cluster", data, v.Outbound)
	if err != nil {
		return "", err
	}
	config.Timeout = tryLimit
	client, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return "", fmt.Errorf("make client for %s: %w", server, err)
	}
	raw, err := client.RESTClient().Get().AbsPath("/version").Do(ctx).Raw()
	if err != nil {
		if errors.Is(err, outward.ErrRefused) {
			return "", fmt.Errorf("%s: %w", server, place.RefusalOf(err))
		}
		return "", distant{fmt.Errorf("%s: %w", server, place.RefusalOf(err))}
	}
	var version struct {
		GitVersion string `json:"gitVersion"`
	}
	if err := strict.Decode(raw, &version, strict.Foreign); err != nil || place.VersionOf(version.GitVersion) == "" {
		return "", distant{fmt.Errorf("what answers at %s is no Kubernetes: check the address", server)}
	}
	// A version is reported to every user; that the credentials are good is seen by asking for more.
	if err := client.RESTClient().Get().AbsPath("/api/v1").Do(ctx).Error(); err != nil {
		return "", fmt.Errorf("the cluster answers (%s), but does not take these credentials: %w", place.VersionOf(version.GitVersion),
			place.RefusalOf(err))
	}
	return "the cluster answers: Kubernetes " + place.VersionOf(version.GitVersion), nil
}
