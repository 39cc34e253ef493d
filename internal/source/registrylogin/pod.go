package registrylogin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/slipway-gitops/slipway/internal/outward"
	"github.com/slipway-gitops/slipway/internal/source/web"
)

// Cloud is a provider whose registries take the identity of a pod.
type Cloud string

// The clouds that are known.
const (
	AWS   Cloud = "aws"   // Amazon ECR
	GCP   Cloud = "gcp"   // Google Artifact Registry
	Azure Cloud = "azure" // Azure Container Registry
)

// ParseCloud reads the name of a cloud.
func ParseCloud(name string) (Cloud, error) {
	switch c := Cloud(strings.ToLower(strings.TrimSpace(name))); c {
	case AWS, GCP, Azure:
		return c, nil
	}
	return "", fmt.Errorf("the cloud %.20q is not known: it is aws, gcp or azure", name)
}

// ParseClouds reads the clouds of hosts.
func ParseClouds(names map[string]string) (map[string]Cloud, error) {
	out := map[string]Cloud{}
	for host, name := range names {
		cloud, err := ParseCloud(name)
		if err != nil {
			return nil, err
		}
		if strings.ContainsAny(host, "/@?# ") || host == "" {
			return nil, fmt.Errorf("%.80q is no host: write registry.example.org=aws", host)
		}
		out[strings.ToLower(host)] = cloud
	}
	return out, nil
}

const (
	maxIdentity  = 64 << 10 // bytes of a file with a token, and of an answer of a cloud
	renewBefore  = 10 * time.Minute
	renewEach    = time.Minute // least time between two attempts while the old secret is good
	identityTime = 30 * time.Second
	maxHosts     = 1000
)

// PodOptions configure a Pod. They are the operator's alone: a user who chooses the address of a registry must not choose where
// identities are sent.
type PodOptions struct {
	// Getenv reads the variables that each cloud sets in a pod; nil for os.Getenv.
	Getenv func(name string) string
	// Registries are hosts that belong to a cloud although they have no name of it: names of one's own, mirrors.
	Registries map[string]Cloud
	// Outbound is the policy for registries, one of which takes part in signing in.
	Outbound *outward.Policy
	Now      func() time.Time // nil for time.Now
}

// Pod makes short-lived secrets for registries of the identity that a cloud gives to the pod of this process. It keeps them, and
// makes others before they end. It is safe for concurrent use.
type Pod struct {
	opts PodOptions

	mu   sync.Mutex
	kept map[podKey]*podSlot
}

type podKey struct {
	cloud Cloud
	host  string
}

type podSlot struct {
	turn  chan struct{} // holds one token: the right to ask the cloud
	have  Secret
	err   error
	asked time.Time
}

// NewPod makes a Pod. It asks no service yet.
func NewPod(o PodOptions) *Pod {
	if o.Getenv == nil {
		o.Getenv = os.Getenv
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Outbound == nil {
		o.Outbound = &outward.Policy{Private: true}
	}
	return &Pod{opts: o, kept: map[podKey]*podSlot{}}
}

// Keeper returns what signs in with the pod's identity at a cloud. reach is how its registries are reached: authorities, proxy.
func (p *Pod) Keeper(cloud Cloud, reach web.Access) Keeper {
	return podKeeper{pod: p, cloud: cloud, reach: reach.WithoutSecrets()}
}

type podKeeper struct {
	pod   *Pod
	cloud Cloud
	reach web.Access
}

// Secret implements Keeper.
func (k podKeeper) Secret(ctx context.Context, host, _ string) (Secret, error) {
	return k.pod.secret(ctx, k.cloud, strings.ToLower(host), k.reach)
}

// secret returns the secret for a registry: the kept one, unless it is about to end.
func (p *Pod) secret(ctx context.Context, cloud Cloud, host string, reach web.Access) (Secret, error) {
	if !p.owns(cloud, host) {
		return Secret{}, &Error{
			Kind: ErrIdentity, Host: host,
			Hint: fmt.Sprintf("it is no registry of the cloud %s, so that it gets nothing of it: correct the address, "+
				"or have the operator name the host with --registry-cloud", cloud),
		}
	}
	p.mu.Lock()
	at := p.kept[podKey{cloud, host}]
	if at == nil {
		if len(p.kept) >= maxHosts {
			clear(p.kept)
		}
		at = &podSlot{turn: make(chan struct{}, 1)}
		p.kept[podKey{cloud, host}] = at
	}
	p.mu.Unlock()
	select {
	case at.turn <- struct{}{}:
	case <-ctx.Done():
		return Secret{}, context.Cause(ctx)
	}
	defer func() { <-at.turn }()
	now := p.opts.Now()
	good := !at.have.IsZero() && now.Before(at.have.Ends)
	switch {
	case good && now.Before(at.have.Ends.Add(-renewBefore)):
		return at.have, nil
	case !at.asked.IsZero() && now.Sub(at.asked) < renewEach:
		if good {
			return at.have, nil
		}
		if at.err != nil { // applications in their hundreds do not ask a cloud each for itself
			return Secret{}, at.err
		}
	}
	got, err := p.ask(ctx, cloud, host, reach)
	if ctx.Err() != nil {
		return Secret{}, err
	}
	at.asked, at.err = now, err
	if err == nil {
		at.have = got
		return got, nil
	}
	if good {
		return at.have, nil
	}
	return Secret{}, err
}

func (p *Pod) ask(ctx context.Context, cloud Cloud, host string, reach web.Access) (Secret, error) {
	ctx, cancel := context.WithTimeout(ctx, identityTime)
	defer cancel()
	var secret Secret
	var err error
	switch cloud {
	case AWS:
		secret, err = p.aws(ctx, host)
	case GCP:
		secret, err = p.gcp(ctx)
	case Azure:
		secret, err = p.azure(ctx, host, reach)
	}
	if err == nil {
		err = secret.Check()
	}
	if err != nil {
		return Secret{}, &Error{Kind: ErrIdentity, Host: host, cause: err, Hint: podHint(cloud)}
	}
	return secret, nil
}

func podHint(cloud Cloud) string {
	switch cloud {
	case AWS:
		return "check the role of the agent's service account (IRSA or EKS Pod Identity), and that it may ecr:GetAuthorizationToken"
	case GCP:
		return "check Workload Identity of the agent's service account, and that it may read the registry"
	}
	return "check the workload identity of the agent's service account, and that it has the role AcrPull"
}

// owns reports whether a host is a registry of a cloud, and may get a secret of it.
func (p *Pod) owns(cloud Cloud, host string) bool {
	if of, ok := p.opts.Registries[host]; ok {
		return of == cloud
	}
	switch cloud {
	case AWS:
		_, ok := ecrOf(host)
		return ok
	case GCP:
		return host == "gcr.io" || strings.HasSuffix(host, ".gcr.io") || strings.HasSuffix(host, "-docker.pkg.dev")
	case Azure:
		for _, domain := range []string{".azurecr.io", ".azurecr.cn", ".azurecr.us"} {
			if strings.HasSuffix(host, domain) {
				return true
			}
		}
	}
	return false
}

// service sends a request to a service whose address the operator or the cloud has set, and returns its answer.
func (p *Pod) service(ctx context.Context, method, address, body string, header http.Header) ([]byte, error) {
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" {
		return nil, errors.New("the address of the cloud's service is no URL: correct the environment of the agent")
	}
	allow, err := outward.ReadList([]string{u.Hostname()})
	if err != nil {
		return nil, errors.New("the address of the cloud's service has no host that can be used: correct the environment of the agent")
	}
	client, err := web.Open(u.Scheme+"://"+u.Host, &outward.Policy{Private: true, Allow: allow}, web.Access{}, web.Options{Bytes: maxIdentity})
	if err != nil {
		return nil, err
	}
	defer client.Close()
	return exchange(ctx, client, method, u, body, header)
}

// exchange sends a request, and returns the answer to one that was good.
func exchange(ctx context.Context, client *web.Client, method string, at *url.URL, body string, header http.Header) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, at.String(), strings.NewReader(body))
	if err != nil {
		return nil, errors.New("the address of the cloud's service cannot be asked for: correct the environment of the agent")
	}
	if body == "" {
		req.Body, req.ContentLength, req.GetBody = nil, 0, nil
	}
	for name, values := range header {
		req.Header[name] = values
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.Request != nil && !sameHost(resp.Request.URL, at) {
		return nil, errors.New("the cloud's service redirects to another host")
	}
	if err := web.Check(at, resp); err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(resp.Body, maxIdentity))
}

// tokenFile reads the token that a cloud's webhook or kubelet keeps in a file.
func (p *Pod) tokenFile(variable string) (string, error) {
	name := p.opts.Getenv(variable)
	if name == "" {
		return "", fmt.Errorf("the environment has no %s", variable)
	}
	f, err := os.Open(name)
	if err != nil {
		return "", fmt.Errorf("read the file that %s names: %w", variable, errors.Unwrap(err))
	}
	defer func() { _ = f.Close() }()
	raw, err := io.ReadAll(io.LimitReader(f, maxIdentity))
	if err != nil {
		return "", fmt.Errorf("read the file that %s names: %w", variable, errors.Unwrap(err))
	}
	text := strings.TrimSpace(string(raw))
	if text == "" {
		return "", fmt.Errorf("the file that %s names is empty", variable)
	}
	return text, nil
}
