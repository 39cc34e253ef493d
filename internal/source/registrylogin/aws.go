package registrylogin

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/xml"
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

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

// aws exchanges the pod's identity for credentials of its role, and these for a password of the registry.
func (p *Pod) aws(ctx context.Context, host string) (Secret, error) {
	of, known := ecrOf(host)
	if !known { // a host that the operator named
		of = ecr{region: cmp.Or(p.opts.Getenv("AWS_REGION"), p.opts.Getenv("AWS_DEFAULT_REGION")), domain: "amazonaws.com"}
		if !plainRegion(of.region) {
			return Secret{}, errors.New("the environment has no AWS_REGION, and the name of the registry has no region")
		}
	}
	role, err := p.awsRole(ctx, of)
	if err != nil {
		return Secret{}, err
	}
	api := cmp.Or(p.opts.Getenv("AWS_ENDPOINT_URL_ECR"), of.api())
	at, err := url.Parse(api)
	if err != nil {
		return Secret{}, errors.New("AWS_ENDPOINT_URL_ECR is no URL")
	}
	const body = "{}"
	header := http.Header{
		"Content-Type": {"application/x-amz-json-1.1"}, "X-Amz-Target": {"AmazonEC2ContainerRegistry_V20150921.GetAuthorizationToken"},
	}
	sign(signed{method: http.MethodPost, at: at, header: header, body: body, region: of.region, service: "ecr", now: p.opts.Now()}, role)
	raw, err := p.service(ctx, http.MethodPost, api+"/", body, header)
	if err != nil {
		return Secret{}, err
	}
	var answer struct {
		Data []struct {
			Token string  `json:"authorizationToken"`
			Ends  float64 `json:"expiresAt"`
		} `json:"authorizationData"`
	}
	if strict.Decode(raw, &answer, strict.Foreign) != nil || len(answer.Data) == 0 {
		return Secret{}, errors.New("the answer of ECR has no token")
	}
	plain, err := base64.StdEncoding.DecodeString(answer.Data[0].Token)
	user, password, ok := strings.Cut(string(plain), ":")
	if err != nil || !ok || password == "" {
		return Secret{}, errors.New("the token of ECR is not user and password in base64")
	}
	return Secret{Username: user, Password: password, Ends: p.ends(answer.Data[0].Ends - float64(p.opts.Now().Unix()))}, nil
}

// ends is the moment in so many seconds, within reason.
func (p *Pod) ends(seconds float64) time.Time {
	const longest = 12 * time.Hour
	return p.opts.Now().Add(time.Duration(max(0, min(seconds, longest.Seconds())) * float64(time.Second)))
}

func plainRegion(region string) bool {
	return region != "" && len(region) <= 40 && strings.Trim(region, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}

// role is credentials of a role.
type role struct{ id, secret, session string }

// awsRole makes credentials of the role of the pod: by IRSA, by EKS Pod Identity, or those of the environment.
func (p *Pod) awsRole(ctx context.Context, of ecr) (role, error) {
	switch {
	case p.opts.Getenv("AWS_WEB_IDENTITY_TOKEN_FILE") != "":
		return p.assume(ctx, of)
	case p.opts.Getenv("AWS_CONTAINER_CREDENTIALS_FULL_URI") != "":
		return p.podIdentity(ctx)
	case p.opts.Getenv("AWS_ACCESS_KEY_ID") != "" && p.opts.Getenv("AWS_SECRET_ACCESS_KEY") != "":
		return role{p.opts.Getenv("AWS_ACCESS_KEY_ID"), p.opts.Getenv("AWS_SECRET_ACCESS_KEY"), p.opts.Getenv("AWS_SESSION_TOKEN")}, nil
	}
	return role{}, errors.New("the environment has neither AWS_WEB_IDENTITY_TOKEN_FILE nor AWS_CONTAINER_CREDENTIALS_FULL_URI: " +
		"the pod has no identity")
}

// assume is AssumeRoleWithWebIdentity of STS, which takes a token of Kubernetes and needs no signature.
func (p *Pod) assume(ctx context.Context, of ecr) (role, error) {
	token, err := p.tokenFile("AWS_WEB_IDENTITY_TOKEN_FILE")
	if err != nil {
		return role{}, err
	}
	arn := p.opts.Getenv("AWS_ROLE_ARN")
	if arn == "" {
		return role{}, errors.New("the environment has no AWS_ROLE_ARN")
	}
	address := p.opts.Getenv("AWS_ENDPOINT_URL_STS")
	if address == "" {
		region, domain := cmp.Or(p.opts.Getenv("AWS_REGION"), of.region), "amazonaws.com"
		if !plainRegion(region) {
			return role{}, errors.New("AWS_REGION is no region")
		}
		if strings.HasPrefix(region, "cn-") {
			domain += ".cn"
		}
		address = "https://sts." + region + "." + domain
	}
	form := url.Values{
		"Action": {"AssumeRoleWithWebIdentity"}, "Version": {"2011-06-15"}, "RoleArn": {arn},
		"RoleSessionName": {cmp.Or(p.opts.Getenv("AWS_ROLE_SESSION_NAME"), "slipway-agent")}, "WebIdentityToken": {token},
	}
	raw, err := p.service(ctx, http.MethodPost, strings.TrimSuffix(address, "/")+"/", form.Encode(),
		http.Header{"Content-Type": {"application/x-www-form-urlencoded"}})
	if err != nil {
		return role{}, err
	}
	var answer struct {
		ID      string `xml:"AssumeRoleWithWebIdentityResult>Credentials>AccessKeyId"`
		Secret  string `xml:"AssumeRoleWithWebIdentityResult>Credentials>SecretAccessKey"`
		Session string `xml:"AssumeRoleWithWebIdentityResult>Credentials>SessionToken"`
	}
	if xml.Unmarshal(raw, &answer) != nil || answer.ID == "" || answer.Secret == "" {
		return role{}, errors.New("the answer of STS has no credentials")
	}
	return role{answer.ID, answer.Secret, answer.Session}, nil
}

// podIdentity asks the agent of EKS Pod Identity on the node.
func (p *Pod) podIdentity(ctx context.Context) (role, error) {
	header := http.Header{}
	if p.opts.Getenv("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE") != "" {
		token, err := p.tokenFile("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE")
		if err != nil {
			return role{}, err
		}
		header.Set("Authorization", token)
	}
	raw, err := p.service(ctx, http.MethodGet, p.opts.Getenv("AWS_CONTAINER_CREDENTIALS_FULL_URI"), "", header)
	if err != nil {
		return role{}, err
	}
	var answer struct {
		ID      string `json:"AccessKeyId"`
		Secret  string `json:"SecretAccessKey"`
		Session string `json:"Token"`
	}
	if strict.Decode(raw, &answer, strict.Foreign) != nil || answer.ID == "" || answer.Secret == "" {
		return role{}, errors.New("the answer of EKS Pod Identity has no credentials")
	}
	return role{answer.ID, answer.Secret, answer.Session}, nil
}
