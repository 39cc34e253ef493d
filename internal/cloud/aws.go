package cloud

import (
	"cmp"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/slipway-gitops/slipway/internal/source/web"
	"github.com/slipway-gitops/slipway/internal/strict"
)

// callerLife is how long a signed GetCallerIdentity is taken, less a minute.
const callerLife = 14 * time.Minute

// keys are credentials of AWS. They hide themselves.
type keys struct {
	id, secret, session string
	ends                time.Time // zero where they have no end
}

// String shows no secret.
func (keys) String() string { return "(keys)" }

// last reports whether what is signed now is taken to its end.
func (k keys) last(now time.Time) bool {
	return k.id != "" && (k.ends.IsZero() || now.Add(callerLife).Before(k.ends))
}

// AWS is the identity that AWS gives to the agent's pod, in a region. It keeps its keys. It is for one user at a time.
type AWS struct {
	keeper *Keeper
	env    map[string]string
	region string
	sts    *url.URL

	own, other keys // of the identity itself, and of the role that it takes on
}

var awsRegion = regexp.MustCompile(`^[a-z]{2,4}(-[a-z]+){1,3}-\d$`)

// AWS makes an identity for a region; "" for that of the environment. env are variables that count before those of the agent, as far as
// they are keys or a region.
func (k *Keeper) AWS(region string, env map[string]string) (*AWS, error) {
	a := &AWS{keeper: k, env: env}
	a.region = cmp.Or(region, a.get("AWS_REGION"), a.get("AWS_DEFAULT_REGION"))
	if !awsRegion.MatchString(a.region) {
		return nil, errors.New("the region of AWS is not known: set AWS_REGION of the agent")
	}
	domain := "amazonaws.com"
	if strings.HasPrefix(a.region, "cn-") {
		domain += ".cn"
	}
	var err error
	a.sts, err = k.Endpoint("AWS_ENDPOINT_URL_STS", "https://sts."+a.region+"."+domain)
	return a, err
}

// Endpoint is the address of a service: its own, or one that a variable of the agent names.
func (k *Keeper) Endpoint(variable, own string) (*url.URL, error) {
	at, err := url.Parse(strings.TrimSuffix(cmp.Or(k.Getenv(variable), own), "/") + "/")
	if err != nil || at.Scheme != "https" || at.Host == "" {
		return nil, fmt.Errorf("%s of the agent is no https address: correct it", variable)
	}
	return at, nil
}

// get is a variable of the caller, or of the agent.
func (a *AWS) get(name string) string {
	if v, given := a.env[name]; given {
		return v
	}
	return a.keeper.Getenv(name)
}

// Call sends a request with a body to a service, signed by the identity.
func (a *AWS) Call(ctx context.Context, service, region string, at *url.URL, header http.Header, body string) ([]byte, error) {
	k, err := a.identity(ctx)
	if err != nil {
		return nil, err
	}
	signed{http.MethodPost, at, header, body, region, service, a.keeper.Now()}.sign(k)
	return a.keeper.ask(ctx, http.MethodPost, at, header, body, nil)
}

// Caller is the address of a signed GetCallerIdentity, of a role or of the identity itself where that is "", and when it ends. header is
// bound to it.
func (a *AWS) Caller(ctx context.Context, role string, header http.Header) (address string, ends time.Time, err error) {
	k, err := a.identity(ctx)
	if err == nil && role != "" {
		k, err = a.assume(ctx, k, role)
	}
	if err != nil {
		return "", time.Time{}, err
	}
	now := a.keeper.Now()
	at := *a.sts
	at.RawQuery = url.Values{"Action": {"GetCallerIdentity"}, "Version": {stsVersion}}.Encode()
	if ends = now.Add(callerLife); !k.ends.IsZero() && k.ends.Before(ends) {
		ends = k.ends
	}
	return signed{http.MethodGet, &at, header, "", a.region, "sts", now}.presign(k), ends, nil
}

// identity is the keys that the agent has without taking on another role: those of the environment, or of its service account (IRSA), or
// of the agent of EKS Pod Identity or ECS on the node.
func (a *AWS) identity(ctx context.Context) (keys, error) {
	if a.own.last(a.keeper.Now()) {
		return a.own, nil
	}
	var err error
	agent := a.keeper.Getenv
	file, role, address := agent("AWS_WEB_IDENTITY_TOKEN_FILE"), agent("AWS_ROLE_ARN"), agent("AWS_CONTAINER_CREDENTIALS_FULL_URI")
	switch id := a.get("AWS_ACCESS_KEY_ID"); {
	case a.env["AWS_ACCESS_KEY_ID"] != "": // a pair is from one place
		a.own = keys{id: id, secret: a.env["AWS_SECRET_ACCESS_KEY"], session: a.env["AWS_SESSION_TOKEN"]}
	case id != "":
		a.own = keys{id: id, secret: a.get("AWS_SECRET_ACCESS_KEY"), session: a.get("AWS_SESSION_TOKEN")}
	case file != "" && role != "":
		a.own, err = a.federated(ctx, file, role)
	case address != "":
		a.own, err = a.podIdentity(ctx, address)
	default:
		return keys{}, errors.New("the agent has no identity at AWS: give its service account a role (IRSA sets AWS_WEB_IDENTITY_TOKEN_FILE " +
			"and AWS_ROLE_ARN, EKS Pod Identity AWS_CONTAINER_CREDENTIALS_FULL_URI), or set AWS_ACCESS_KEY_ID")
	}
	return a.own, err
}

const stsVersion = "2011-06-15"

// federated takes on the role of the agent, with the token of its service account.
func (a *AWS) federated(ctx context.Context, file, role string) (keys, error) {
	proof, err := tokenIn("AWS_WEB_IDENTITY_TOKEN_FILE", file)
	if err != nil {
		return keys{}, err
	}
	return a.role(ctx, url.Values{
		"Action": {"AssumeRoleWithWebIdentity"}, "RoleArn": {role}, "WebIdentityToken": {proof},
	}, keys{}, refusing("AWS does not give the agent's role: check AWS_ROLE_ARN, and that the role trusts the service account of the agent"))
}

// assume takes on another role.
func (a *AWS) assume(ctx context.Context, by keys, role string) (keys, error) {
	if a.other.last(a.keeper.Now()) {
		return a.other, nil
	}
	var err error
	a.other, err = a.role(ctx, url.Values{"Action": {"AssumeRole"}, "RoleArn": {role}, "DurationSeconds": {"3600"}}, by,
		refusing("AWS does not give the role "+role+": check that it trusts the agent's role, which has to be allowed sts:AssumeRole"))
	return a.other, err
}

// role asks the token service for the keys of a role, signed where by has keys.
func (a *AWS) role(ctx context.Context, form url.Values, by keys, words wording) (keys, error) {
	form.Set("Version", stsVersion)
	form.Set("RoleSessionName", cmp.Or(a.keeper.Getenv("AWS_ROLE_SESSION_NAME"), "slipway-agent"))
	header, body := http.Header{"Content-Type": {formType}}, form.Encode()
	if by.id != "" {
		signed{http.MethodPost, a.sts, header, body, a.region, "sts", a.keeper.Now()}.sign(by)
	}
	raw, err := a.keeper.ask(ctx, http.MethodPost, a.sts, header, body, words)
	if err != nil {
		return keys{}, err
	}
	type credentials struct {
		ID      string    `xml:"AccessKeyId"`
		Secret  string    `xml:"SecretAccessKey"`
		Session string    `xml:"SessionToken"`
		Ends    time.Time `xml:"Expiration"`
	}
	var got struct {
		Federated credentials `xml:"AssumeRoleWithWebIdentityResult>Credentials"`
		Assumed   credentials `xml:"AssumeRoleResult>Credentials"`
	}
	if xml.Unmarshal(raw, &got) != nil {
		return keys{}, notAToken(a.sts)
	}
	of := cmp.Or(got.Federated, got.Assumed)
	if of.ID == "" || of.Secret == "" {
		return keys{}, notAToken(a.sts)
	}
	return keys{of.ID, of.Secret, of.Session, of.Ends}, nil
}

// podIdentity asks the agent of EKS Pod Identity, or of ECS, on this machine.
func (a *AWS) podIdentity(ctx context.Context, address string) (keys, error) {
	at, err := url.Parse(address)
	if err != nil || at.Scheme != "https" && !(at.Scheme == "http" && onThisMachine(at.Hostname())) {
		return keys{}, errors.New("AWS_CONTAINER_CREDENTIALS_FULL_URI of the agent is no address of this machine, nor one with https: correct it")
	}
	header := http.Header{}
	proof := a.keeper.Getenv("AWS_CONTAINER_AUTHORIZATION_TOKEN")
	if file := a.keeper.Getenv("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"); file != "" {
		if proof, err = tokenIn("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", file); err != nil {
			return keys{}, err
		}
	}
	if proof != "" {
		header.Set("Authorization", proof)
	}
	raw, err := a.keeper.ask(ctx, http.MethodGet, at, header, "", refusing("the node does not give the identity of the agent's pod: "+
		"check its EKS Pod Identity association"))
	if err != nil {
		return keys{}, err
	}
	var got struct {
		ID      string    `json:"AccessKeyId"`
		Secret  string    `json:"SecretAccessKey"`
		Session string    `json:"Token"`
		Ends    time.Time `json:"Expiration"`
	}
	if strict.Decode(raw, &got, strict.Foreign) != nil || got.ID == "" || got.Secret == "" {
		return keys{}, notAToken(at)
	}
	return keys{got.ID, got.Secret, got.Session, got.Ends}, nil
}

// onThisMachine reports whether a host is this machine, or one of the addresses at which AWS has the agents of its nodes.
func onThisMachine(host string) bool {
	at, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && (at.IsLoopback() ||
		at == netip.AddrFrom4([4]byte{169, 254, 170, 2}) || at == netip.AddrFrom4([4]byte{169, 254, 170, 23}) || host == "fd00:ec2::23")
}

// ask sends a request to a service whose address the operator or the cloud has set, and returns its answer.
func (k *Keeper) ask(ctx context.Context, method string, at *url.URL, header http.Header, body string, words wording) ([]byte, error) {
	client, err := web.Open(at.Scheme+"://"+at.Host, k.allowing(at.Host), k.opts.Access, web.Options{Bytes: answerBytes, SameHost: true})
	if err != nil {
		return nil, err
	}
	defer client.Close()
	req, err := http.NewRequestWithContext(ctx, method, at.String(), strings.NewReader(body))
	if err != nil {
		return nil, notAToken(at)
	}
	req.Header = header
	return send(client, req, words)
}
