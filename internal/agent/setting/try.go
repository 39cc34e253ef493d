package setting

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"k8s.io/client-go/discovery"

	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/agent/command"
	"github.com/slipway-gitops/slipway/internal/agent/place"
	"github.com/slipway-gitops/slipway/internal/git"
	"github.com/slipway-gitops/slipway/internal/outward"
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
	case string(data["type"]) == "oci" || string(data["enableOCI"]) == "true":
		return "", command.Refuse(agentapi.CodeUnsupported, "repositories in OCI registries cannot be tried by this version: leave the test out")
	case string(data["type"]) == "helm":
		message, err = v.tryHelm(ctx, data)
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
	return errors.As(err, new(distant))
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

// tryHelm reads the beginning of the index of a Helm repository.
func (v *keeper) tryHelm(ctx context.Context, data map[string][]byte) (string, error) {
	const enough = 4 << 10
	begin, err := v.helm().index(ctx, data, enough, nil)
	if err != nil {
		return "", err
	}
	if !strings.Contains(string(begin), "apiVersion") && !strings.Contains(string(begin), "entries") {
		return "", distant{fmt.Errorf("%s/index.yaml is no index of a Helm repository: check the url", helmAddress(data))}
	}
	return "the repository has an index", nil
}

// helm reads Helm repositories.
type helm struct {
	settings *place.Settings
	outbound *outward.Policy
}

func (c *Config) helm() helm { return helm{c.Settings, c.Outbound} }

func helmAddress(data map[string][]byte) string {
	return strings.TrimSuffix(strings.TrimSpace(string(data["url"])), "/")
}

// index reads the index of a Helm repository, as much of it as enough; redirects says which are followed, nil for all.
func (h helm) index(ctx context.Context, data map[string][]byte, enough int64,
	redirects func(*http.Request, []*http.Request) error,
) ([]byte, error) {
	address := helmAddress(data)
	transport, err := h.transport(address, data)
	if err != nil {
		return nil, err
	}
	defer transport.CloseIdleConnections()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address+"/index.yaml", nil)
	if err != nil {
		return nil, fmt.Errorf("ask for %s/index.yaml: %w", address, err)
	}
	if len(data["username"])+len(data["password"]) > 0 {
		req.SetBasicAuth(strings.TrimSpace(string(data["username"])), strings.TrimSpace(string(data["password"])))
	}
	if redirects == nil {
		redirects = sameOrBetter
	}
	resp, err := (&http.Client{Transport: transport, CheckRedirect: redirects}).Do(req)
	if err != nil {
		if errors.Is(err, outward.ErrRefused) {
			return nil, fmt.Errorf("%s/index.yaml: %s", address, outward.Reason(err))
		}
		return nil, distant{fmt.Errorf("%s/index.yaml: %s", address, outward.Reason(err, errRedirect, errAway))}
	}
	defer func() { _ = resp.Body.Close() }()
	switch resp.StatusCode {
	case http.StatusOK:
	case http.StatusUnauthorized, http.StatusForbidden:
		return nil, fmt.Errorf("%s/index.yaml: %s: check username and password", address, outward.Status(resp.StatusCode))
	default:
		return nil, distant{fmt.Errorf("%s/index.yaml: %s: check the url", address, outward.Status(resp.StatusCode))}
	}
	raw, err := io.ReadAll(io.LimitReader(resp.Body, enough))
	if err != nil {
		return nil, distant{fmt.Errorf("read %s/index.yaml: %s", address, outward.Reason(err))}
	}
	return raw, nil
}

var errAway = errors.New("it redirects too often, or away from https: use the address that it redirects to")

// sameOrBetter follows some redirects, but none that gives up TLS.
func sameOrBetter(r *http.Request, via []*http.Request) error {
	if len(via) > 5 || via[0].URL.Scheme == "https" && r.URL.Scheme != "https" {
		return errAway
	}
	return nil
}

// transport connects to a Helm repository as its Secret says.
func (h helm) transport(address string, data map[string][]byte) (*http.Transport, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" {
		return nil, command.Refuse(agentapi.CodeInvalid, "the url of a Helm repository begins with https://")
	}
	config := &tls.Config{
		InsecureSkipVerify: string(data["insecure"]) == "true", MinVersion: tls.VersionTLS12,
	} //nolint:gosec // on the user's word
	if ca := h.settings.Config(place.ConfigCertificate)[u.Hostname()]; ca != "" {
		config.RootCAs = x509.NewCertPool()
		config.RootCAs.AppendCertsFromPEM([]byte(ca))
	}
	if len(data["tlsClientCertData"]) > 0 {
		pair, err := tls.X509KeyPair(data["tlsClientCertData"], data["tlsClientCertKey"])
		if err != nil {
			return nil, fmt.Errorf("read client certificate: tlsClientCertData and tlsClientCertKey do not fit, or are no PEM")
		}
		config.Certificates = []tls.Certificate{pair}
	}
	transport := h.outbound.Transport()
	transport.TLSClientConfig, transport.ResponseHeaderTimeout = config, tryLimit
	if proxy := strings.TrimSpace(string(data["proxy"])); proxy != "" {
		to, err := url.Parse(proxy)
		if err != nil {
			return nil, fmt.Errorf("read proxy: it is no URL")
		}
		transport.Proxy = func(r *http.Request) (*url.URL, error) { return to, h.outbound.Check(r.URL.Hostname()) }
	}
	return transport, nil
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
