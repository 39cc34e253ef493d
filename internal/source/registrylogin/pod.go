package registrylogin

import (
	"context"
	"fmt"
	"strings"

	"github.com/slipway-gitops/slipway/internal/cloud"
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
		of, err := ParseCloud(name)
		if err != nil {
			return nil, err
		}
		if strings.ContainsAny(host, "/@?# ") || host == "" {
			return nil, fmt.Errorf("%.80q is no host: write registry.example.org=aws", host)
		}
		out[strings.ToLower(host)] = of
	}
	return out, nil
}

// PodOptions configure a Pod. They are the operator's alone: a user who chooses the address of a registry must not choose where
// identities are sent.
type PodOptions struct {
	// Keeper has the identity of the pod; nil for one of its own.
	Keeper *cloud.Keeper
	// Registries are hosts that belong to a cloud although they have no name of it: names of one's own, mirrors.
	Registries map[string]Cloud
	// Outbound is the policy for registries, one of which takes part in signing in.
	Outbound *outward.Policy
}

// Pod makes short-lived secrets for registries of the identity that a cloud gives to the pod of this process. It is safe for concurrent
// use.
type Pod struct{ opts PodOptions }

// NewPod makes a Pod. It asks no service yet.
func NewPod(o PodOptions) *Pod {
	if o.Outbound == nil {
		o.Outbound = &outward.Policy{Private: true}
	}
	if o.Keeper == nil {
		o.Keeper = cloud.NewKeeper(cloud.Options{Outbound: o.Outbound})
	}
	return &Pod{opts: o}
}

// Keeper returns what signs in with the pod's identity at a cloud. reach is how its registries are reached: authorities, proxy.
func (p *Pod) Keeper(of Cloud, reach web.Access) Keeper {
	return podKeeper{pod: p, cloud: of, reach: reach.WithoutSecrets()}
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

// secret returns the secret for a registry.
func (p *Pod) secret(ctx context.Context, of Cloud, host string, reach web.Access) (Secret, error) {
	if !p.owns(of, host) {
		return Secret{}, &Error{
			Kind: ErrIdentity, Host: host,
			Hint: fmt.Sprintf("it is no registry of the cloud %s, so that it gets nothing of it: correct the address, "+
				"or have the operator name the host with --registry-cloud", of),
		}
	}
	var token cloud.Token
	holder, err := p.holder(of, host, reach)
	if err == nil {
		token, err = holder.Token(ctx, "")
	}
	secret := Secret{Username: token.Username, Password: token.Secret, Ends: token.Ends}
	switch of {
	case GCP:
		secret.Username = "oauth2accesstoken"
	case Azure:
		secret.Password, secret.Refresh = "", token.Secret
	case AWS:
	}
	if err == nil {
		err = secret.Check()
	}
	switch {
	case err != nil && ctx.Err() != nil:
		return Secret{}, err
	case err != nil:
		return Secret{}, &Error{Kind: ErrIdentity, Host: host, cause: err, Hint: podHint(of)}
	}
	return secret, nil
}

// holder keeps the secret for a registry: of Google one for all.
func (p *Pod) holder(of Cloud, host string, reach web.Access) (*cloud.Holder, error) {
	switch of {
	case AWS:
		return p.opts.Keeper.Holder(func() (cloud.Obtain, error) { return p.aws(host) }, "ecr", host)
	case Azure:
		return p.opts.Keeper.Holder(func() (cloud.Obtain, error) { return p.azure(host, reach) }, "acr", host, reach.Scope())
	case GCP:
	}
	account, err := p.opts.Keeper.Google(cloud.GoogleScope)
	if err != nil {
		return nil, err
	}
	return p.opts.Keeper.Own(account)
}

func podHint(of Cloud) string {
	switch of {
	case AWS:
		return "check the role of the agent's service account (IRSA or EKS Pod Identity), and that it may ecr:GetAuthorizationToken"
	case GCP:
		return "check Workload Identity of the agent's service account, and that it may read the registry"
	case Azure:
	}
	return "check the workload identity of the agent's service account, and that it has the role AcrPull"
}

// owns reports whether a host is a registry of a cloud, and may get a secret of it.
func (p *Pod) owns(of Cloud, host string) bool {
	if named, ok := p.opts.Registries[host]; ok {
		return named == of
	}
	switch of {
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
