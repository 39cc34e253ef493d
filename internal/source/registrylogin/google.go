package registrylogin

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/slipway-gitops/slipway/internal/strict"
)

// gcp asks the metadata server of the node for a token of the service account that Workload Identity binds to the pod's.
func (p *Pod) gcp(ctx context.Context) (Secret, error) {
	host := cmp.Or(p.opts.Getenv("GCE_METADATA_HOST"), "metadata.google.internal")
	if strings.ContainsAny(host, "/?#@") {
		return Secret{}, errors.New("GCE_METADATA_HOST is no host")
	}
	raw, err := p.service(ctx, http.MethodGet, "http://"+host+"/computeMetadata/v1/instance/service-accounts/default/token", "",
		http.Header{"Metadata-Flavor": {"Google"}})
	if err != nil {
		return Secret{}, err
	}
	var answer struct {
		Token     string  `json:"access_token"`
		ExpiresIn float64 `json:"expires_in"`
	}
	if strict.Decode(raw, &answer, strict.Foreign) != nil || answer.Token == "" {
		return Secret{}, errors.New("the answer of the metadata server has no token")
	}
	return Secret{Username: "oauth2accesstoken", Password: answer.Token, Ends: p.ends(answer.ExpiresIn)}, nil
}
