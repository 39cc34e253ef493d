package credential

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/xml"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/slipway-gitops/slipway/internal/strict"
)

// keys are credentials of Amazon. They hide themselves.
type keys struct {
	id, secret, session string
	expires             time.Time
}

// String implements fmt.Stringer.
func (keys) String() string { return "(keys)" }

const (
	eksPrefix = "k8s-aws-v1."
	// eksLife is how long EKS takes a token, less a minute.
	eksLife = 14 * time.Minute
	// eksHeader binds a token to its cluster.
	eksHeader = "x-k8s-aws-id"
	session   = "slipway-agent"
)

// eks makes tokens of a cluster of Amazon: a signed request to its token service, which the cluster sends there. env are variables of
// the Secret, which count before those of the agent.
func (m *Maker) eks(server string, in EKS, env map[string]string) (maker, error) {
	switch {
	case !regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$`).MatchString(in.ClusterName):
		return nil, errors.New("clusterName is missing, or is no name of an EKS cluster: give it")
	case in.Profile != "":
		return nil, errors.New("profile names an entry of a file that the agent does not have: give roleARN, and the agent a " +
			"role (IRSA or Pod Identity)")
	case in.RoleARN != "" && !regexp.MustCompile(`^arn:aws[a-z-]*:iam::\d{12}:role/[\w+=,.@/-]{1,512}$`).MatchString(in.RoleARN):
		return nil, errors.New("roleARN is no role: write arn:aws:iam::ACCOUNT:role/NAME")
	}
	known := []string{
		"AWS_REGION", "AWS_DEFAULT_REGION", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN",
		"AWS_STS_REGIONAL_ENDPOINTS",
	}
	for name := range env {
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("execProviderConfig.env has %.80q, which has no effect on the sign-in to AWS here: it may have %s", name,
				strings.Join(known, ", "))
		}
	}
	a := &amazon{Maker: m, env: env}
	if err := a.locate(server); err != nil {
		return nil, err
	}
	var assumed keys
	return func(ctx context.Context) (token, error) {
		k, err := a.base(ctx)
		if err != nil {
			return token{}, err
		}
		if in.RoleARN != "" {
			if !m.Now().Before(assumed.expires.Add(-eksLife)) { // a token is good no longer than its keys
				if assumed, err = a.assume(ctx, k, in.RoleARN); err != nil {
					return token{}, err
				}
			}
			k = assumed
		}
		now := m.Now()
		return token{value: a.token(k, in.ClusterName, now), expires: now.Add(eksLife)}, nil
	}, nil
}

// amazon is the token service of a region.
type amazon struct {
	*Maker
	env    map[string]string
	region string
	sts    *url.URL
}

// get is a variable of the Secret, or of the agent.
func (a *amazon) get(name string) string {
	if v, given := a.env[name]; given {
		return v
	}
	return a.Environ(name)
}

// locate finds the region, and the address of its token service.
func (a *amazon) locate(server string) error {
	for _, name := range []string{"AWS_REGION", "AWS_DEFAULT_REGION"} {
		if a.region == "" {
			a.region = a.get(name)
		}
	}
	if at := regexp.MustCompile(`\.([a-z0-9-]+)\.eks\.amazonaws\.com(\.cn)?(:\d+)?/?$`).FindStringSubmatch(server); at != nil {
		a.region = at[1] // the cluster's own
	}
	if !regexp.MustCompile(`^[a-z]{2,4}(-[a-z]+){1,3}-\d$`).MatchString(a.region) {
		return errors.New("the region of the EKS cluster is not known: set AWS_REGION of the agent, or in execProviderConfig.env")
	}
	address := "https://sts." + a.region + ".amazonaws.com"
	if strings.HasPrefix(a.region, "cn-") {
		address += ".cn"
	}
	if own := a.Environ("AWS_ENDPOINT_URL_STS"); own != "" {
		address = own
	}
	var err error
	if a.sts, err = url.Parse(strings.TrimSuffix(address, "/") + "/"); err != nil || a.sts.Scheme != "https" {
		return errors.New("AWS_ENDPOINT_URL_STS of the agent is no https address: correct it")
	}
	return nil
}

// base is the identity that the agent, or the Secret, has without taking on a role.
func (a *amazon) base(ctx context.Context) (keys, error) {
	if id := a.get("AWS_ACCESS_KEY_ID"); id != "" {
		k := keys{id: id, secret: a.get("AWS_SECRET_ACCESS_KEY"), session: a.get("AWS_SESSION_TOKEN")}
		if a.env["AWS_ACCESS_KEY_ID"] != "" { // a pair is from one place
			k.secret, k.session = a.env["AWS_SECRET_ACCESS_KEY"], a.env["AWS_SESSION_TOKEN"]
		}
		return k, nil
	}
	if file, role := a.Environ("AWS_WEB_IDENTITY_TOKEN_FILE"), a.Environ("AWS_ROLE_ARN"); file != "" && role != "" {
		const doing = "take on the role of the agent at AWS"
		proof, err := readToken(file)
		if err != nil {
			return keys{}, &Error{doing, err}
		}
		return a.roleFrom(ctx, doing, url.Values{
			"Action": {"AssumeRoleWithWebIdentity"}, "RoleArn": {role}, "RoleSessionName": {session}, "WebIdentityToken": {proof},
		}, nil)
	}
	if address := a.Environ("AWS_CONTAINER_CREDENTIALS_FULL_URI"); address != "" {
		return a.podIdentity(ctx, address)
	}
	return keys{}, &Error{"find an identity for AWS", errors.New(
		"the agent has none: give its service account a role (IRSA or EKS Pod Identity), or set AWS_ACCESS_KEY_ID")}
}

// maxTokenFile bounds a token that is mounted, in bytes.
const maxTokenFile = 64 << 10

// readToken reads a token that a variable of the agent names the file of.
func readToken(file string) (string, error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return "", errors.New("its token cannot be read: check the service account of the agent")
	}
	if len(raw) == 0 || len(raw) > maxTokenFile {
		return "", errors.New("its token is empty or too long: check the service account of the agent")
	}
	return strings.TrimSpace(string(raw)), nil
}

// assume takes on another role.
func (a *amazon) assume(ctx context.Context, k keys, role string) (keys, error) {
	return a.roleFrom(ctx, "take on the role "+role, url.Values{
		"Action": {"AssumeRole"}, "RoleArn": {role}, "RoleSessionName": {session}, "DurationSeconds": {"3600"},
	}, &k)
}

// roleFrom asks the token service for the keys of a role, signed with k where that is given.
func (a *amazon) roleFrom(ctx context.Context, doing string, form url.Values, k *keys) (keys, error) {
	form.Set("Version", "2011-06-15")
	body := form.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, a.sts.String(), strings.NewReader(body))
	if err != nil {
		return keys{}, &Error{doing, errors.New("its address cannot be used")}
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded; charset=utf-8")
	if k != nil {
		a.sign(req, body, *k, a.Now())
	}
	raw, err := a.ask(req, doing)
	if err != nil {
		return keys{}, err
	}
	type answer struct {
		ID         string    `xml:"AccessKeyId"`
		Secret     string    `xml:"SecretAccessKey"`
		Token      string    `xml:"SessionToken"`
		Expiration time.Time `xml:"Expiration"`
	}
	var got struct {
		Web   answer `xml:"AssumeRoleWithWebIdentityResult>Credentials"`
		Plain answer `xml:"AssumeRoleResult>Credentials"`
	}
	if err := xml.Unmarshal(raw, &got); err != nil {
		return keys{}, &Error{doing, errors.New("the answer cannot be read")}
	}
	out := got.Plain
	if out.ID == "" {
		out = got.Web
	}
	if out.ID == "" || out.Secret == "" {
		return keys{}, &Error{doing, errors.New("the answer holds no keys")}
	}
	return keys{id: out.ID, secret: out.Secret, session: out.Token, expires: out.Expiration}, nil
}

// podIdentity asks the agent of EKS Pod Identity, or of ECS, on this machine.
func (a *amazon) podIdentity(ctx context.Context, address string) (keys, error) {
	const doing = "ask for the identity of the agent's pod at AWS"
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return keys{}, &Error{doing, errors.New("AWS_CONTAINER_CREDENTIALS_FULL_URI is no address")}
	}
	proof := a.Environ("AWS_CONTAINER_AUTHORIZATION_TOKEN")
	if file := a.Environ("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"); file != "" {
		if proof, err = readToken(file); err != nil {
			return keys{}, &Error{doing, err}
		}
	}
	req.Header.Set("Authorization", proof)
	raw, err := a.ask(req, doing)
	if err != nil {
		return keys{}, err
	}
	var got struct {
		ID         string    `json:"AccessKeyId"`
		Secret     string    `json:"SecretAccessKey"`
		Token      string    `json:"Token"`
		Expiration time.Time `json:"Expiration"`
	}
	if err := strict.Decode(raw, &got, strict.Foreign); err != nil || got.ID == "" || got.Secret == "" {
		return keys{}, &Error{doing, errors.New("the answer holds no keys")}
	}
	return keys{id: got.ID, secret: got.Secret, session: got.Token, expires: got.Expiration}, nil
}

// Names and forms of Amazon's signature, version 4.
const (
	algorithm   = "AWS4-HMAC-SHA256"
	service     = "sts"
	stampFormat = "20060102T150405Z"
)

// token is a request to the token service that says who we are, signed and good for a minute. Its receiver may send it for as long as
// EKS takes it.
func (a *amazon) token(k keys, cluster string, now time.Time) string {
	stamp := now.UTC().Format(stampFormat)
	scope := stamp[:8] + "/" + a.region + "/" + service + "/aws4_request"
	query := url.Values{
		"Action": {"GetCallerIdentity"}, "Version": {"2011-06-15"}, "X-Amz-Algorithm": {algorithm}, "X-Amz-Credential": {k.id + "/" + scope},
		"X-Amz-Date": {stamp}, "X-Amz-Expires": {"60"}, "X-Amz-SignedHeaders": {"host;" + eksHeader},
	}
	if k.session != "" {
		query.Set("X-Amz-Security-Token", k.session)
	}
	canonical := canonicalQuery(query)
	request := strings.Join([]string{
		http.MethodGet, "/", canonical, "host:" + a.sts.Host + "\n" + eksHeader + ":" + cluster + "\n", "host;" + eksHeader, digest(""),
	}, "\n")
	address := *a.sts
	address.RawQuery = canonical + "&X-Amz-Signature=" + signature(k.secret, scope, stamp, a.region, request)
	return eksPrefix + base64.RawURLEncoding.EncodeToString([]byte(address.String()))
}

// sign signs a request with its body.
func (a *amazon) sign(req *http.Request, body string, k keys, now time.Time) {
	stamp := now.UTC().Format(stampFormat)
	scope := stamp[:8] + "/" + a.region + "/" + service + "/aws4_request"
	req.Header.Set("X-Amz-Date", stamp)
	signed := "content-type;host;x-amz-date"
	headers := "content-type:" + req.Header.Get("Content-Type") + "\nhost:" + req.URL.Host + "\nx-amz-date:" + stamp + "\n"
	if k.session != "" {
		req.Header.Set("X-Amz-Security-Token", k.session)
		signed, headers = signed+";x-amz-security-token", headers+"x-amz-security-token:"+k.session+"\n"
	}
	request := strings.Join([]string{req.Method, "/", "", headers, signed, digest(body)}, "\n")
	req.Header.Set("Authorization", fmt.Sprintf("%s Credential=%s/%s, SignedHeaders=%s, Signature=%s", algorithm, k.id, scope, signed,
		signature(k.secret, scope, stamp, a.region, request)))
}

// signature is that of a request in canonical form.
func signature(secret, scope, stamp, region, request string) string {
	key := []byte("AWS4" + secret)
	for _, part := range []string{stamp[:8], region, service, "aws4_request"} {
		key = mac(key, part)
	}
	return hex.EncodeToString(mac(key, strings.Join([]string{algorithm, stamp, scope, digest(request)}, "\n")))
}

func mac(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// canonicalQuery is a query as it is signed: sorted, with blanks as %20.
func canonicalQuery(query url.Values) string { return strings.ReplaceAll(query.Encode(), "+", "%20") }
