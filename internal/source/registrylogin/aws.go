package registrylogin

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/slipway-gitops/slipway/internal/cloud"
	"github.com/slipway-gitops/slipway/internal/strict"
)

// ecrHost is the host of a private registry: account, FIPS, region and the domain of the partition, or the dual-stack domain.
var ecrHost = regexp.MustCompile(
	`^\d{12}\.dkr[.-]ecr(-fips)?\.([a-z]{2}[a-z-]{1,20}-\d)\.(amazonaws\.com|amazonaws\.com\.cn|on\.aws|on\.amazonwebservices\.com\.cn)$`)

// ecr is what the host of a registry says.
type ecr struct {
	region, domain string
	fips           bool
}

func ecrOf(host string) (ecr, bool) {
	m := ecrHost.FindStringSubmatch(host)
	if m == nil {
		return ecr{}, false
	}
	return ecr{region: m[2], domain: m[3], fips: m[1] != ""}, true
}

// api is the address of the API of the registry.
func (e ecr) api() string {
	prefix := "api.ecr."
	if e.fips {
		prefix = "ecr-fips."
	}
	switch e.domain {
	case "on.aws":
		return "https://ecr." + e.region + ".api.aws"
	case "on.amazonwebservices.com.cn":
		return "https://ecr." + e.region + ".api.amazonwebservices.com.cn"
	}
	return "https://" + prefix + e.region + "." + e.domain
}

// aws makes what gets passwords of ECR, by the identity of the pod.
func (p *Pod) aws(host string) (cloud.Obtain, error) {
	keeper := p.opts.Keeper
	of, known := ecrOf(host)
	own := cmp.Or(keeper.Getenv("AWS_REGION"), keeper.Getenv("AWS_DEFAULT_REGION"))
	if !known { // a host that the operator named
		of = ecr{region: own, domain: "amazonaws.com"}
	}
	identity, err := keeper.AWS(cmp.Or(own, of.region), nil)
	if err != nil {
		return nil, err
	}
	api, err := keeper.Endpoint("AWS_ENDPOINT_URL_ECR", of.api())
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) (cloud.Token, error) {
		raw, err := identity.Call(ctx, "ecr", of.region, api, http.Header{
			"Content-Type": {"application/x-amz-json-1.1"}, "X-Amz-Target": {"AmazonEC2ContainerRegistry_V20150921.GetAuthorizationToken"},
		}, "{}")
		if err != nil {
			return cloud.Token{}, err
		}
		var answer struct {
			Data []struct {
				Token string  `json:"authorizationToken"`
				Ends  float64 `json:"expiresAt"`
			} `json:"authorizationData"`
		}
		if strict.Decode(raw, &answer, strict.Foreign) != nil || len(answer.Data) == 0 {
			return cloud.Token{}, errors.New("the answer of ECR has no token")
		}
		plain, err := base64.StdEncoding.DecodeString(answer.Data[0].Token)
		user, password, ok := strings.Cut(string(plain), ":")
		if err != nil || !ok || password == "" {
			return cloud.Token{}, errors.New("the token of ECR is not user and password in base64")
		}
		const longest = 12 * time.Hour
		now := keeper.Now()
		lasts := max(0, min(answer.Data[0].Ends-float64(now.Unix()), longest.Seconds()))
		return cloud.Token{Username: user, Secret: password, Ends: now.Add(time.Duration(lasts * float64(time.Second)))}, nil
	}, nil
}
