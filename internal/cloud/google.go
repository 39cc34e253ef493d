package cloud

import (
	"cmp"
	"context"
	"crypto/rsa"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"time"

	"github.com/slipway-gitops/slipway/internal/source/web"
	"github.com/slipway-gitops/slipway/internal/strict"
)

const (
	googleTokens = "https://oauth2.googleapis.com/token"

	// GoogleScope is what tokens for services of Google Cloud are asked for.
	GoogleScope = "https://www.googleapis.com/auth/cloud-platform"
	// GKEScope is GoogleScope for clusters, which want the address of the account as well.
	GKEScope = GoogleScope + " https://www.googleapis.com/auth/userinfo.email"
)

// googleHosts are where Google gives tokens. A key that names another host would have the agent send a signed statement there.
var googleHosts = []string{"oauth2.googleapis.com", "accounts.google.com", "www.googleapis.com"} //nolint:gochecknoglobals // a table

// GoogleAccount is a service account of Google Cloud, by its key.
type GoogleAccount struct {
	email, keyID, service, scope string
	text                         string
	key                          *rsa.PrivateKey
}

// NewGoogleAccount reads the key of a service account as Google Cloud makes it, in JSON; called is its name in errors. Tokens for a
// scope come from Google, or from service, which only the operator can set.
func NewGoogleAccount(called string, text []byte, service, scope string) (*GoogleAccount, error) {
	var in struct {
		Type         string `json:"type"`
		ClientEmail  string `json:"client_email"`
		PrivateKeyID string `json:"private_key_id"`
		PrivateKey   string `json:"private_key"`
		TokenURI     string `json:"token_uri"`
	}
	if len(text) > maxKeyBytes || strict.Decode(text, &in, strict.Foreign) != nil {
		return nil, fmt.Errorf("%s is no key of a service account: give the JSON document that Google Cloud made", called)
	}
	if in.Type != "service_account" {
		return nil, fmt.Errorf("%s is of the type %.40q: only keys of service accounts (service_account) can be used", called, in.Type)
	}
	if in.ClientEmail == "" || len(in.ClientEmail) > 320 || !usableToken(in.ClientEmail) {
		return nil, fmt.Errorf("%s has no client_email: give the whole JSON document", called)
	}
	key, err := readKey("private_key of "+called, []byte(in.PrivateKey))
	if err != nil {
		return nil, err
	}
	if service == "" {
		if service, err = googleService(called, in.TokenURI); err != nil {
			return nil, err
		}
	}
	return &GoogleAccount{
		email: in.ClientEmail, keyID: in.PrivateKeyID, service: service, scope: scope, text: in.PrivateKey, key: key,
	}, nil
}

func googleService(called, named string) (string, error) {
	if named == "" {
		return googleTokens, nil
	}
	u, err := url.Parse(named)
	if err != nil || u.Scheme != "https" || !slices.Contains(googleHosts, u.Host) || u.User != nil {
		return "", fmt.Errorf("%s has a token_uri that is not Google's: leave token_uri out, or give %s", called, googleTokens)
	}
	return u.String(), nil
}

func (g *GoogleAccount) fields() []string {
	return []string{"google", g.email, g.keyID, g.scope, g.text}
}

func (g *GoogleAccount) home() string { return g.service }

// obtain implements Grant.
func (g *GoogleAccount) obtain(ctx context.Context, client *web.Client, now time.Time) (Token, error) {
	signed, err := sign(g.key, g.keyID, map[string]any{
		"iss": g.email, "scope": g.scope, "aud": g.service, "iat": now.Add(-drift).Unix(), "exp": now.Add(assertion).Unix(),
	})
	if err != nil {
		return Token{}, err
	}
	at := client.Home()
	req, err := posted(ctx, at, url.Values{
		"grant_type": {"urn:ietf:params:oauth:grant-type:jwt-bearer"}, "assertion": {signed},
	})
	if err != nil {
		return Token{}, err
	}
	const refused = "Google does not accept the key: check that the service account and its key still exist, and the clock of this machine"
	var got answer
	if err := call(client, req, &got, refusing(refused)); err != nil {
		return Token{}, err
	}
	return got.token(at, g.email, now)
}

// Google is the identity that Google Cloud gives to the agent's pod, with tokens for a scope: the account of the key file that
// GOOGLE_APPLICATION_CREDENTIALS names, or else the one that the metadata server of the node has for the pod.
func (k *Keeper) Google(scope string) (Grant, error) {
	const variable = "GOOGLE_APPLICATION_CREDENTIALS"
	if file := k.Getenv(variable); file != "" {
		info, err := os.Stat(file)
		if err != nil || info.Size() > maxKeyBytes {
			return nil, fmt.Errorf("the file %s of the agent cannot be read: check the mount", variable)
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("the file %s of the agent cannot be read: check the mount", variable)
		}
		return NewGoogleAccount("the file "+variable, text, "", scope)
	}
	host := cmp.Or(k.Getenv("GCE_METADATA_HOST"), "metadata.google.internal")
	if !metadataHost.MatchString(host) {
		return nil, errors.New("GCE_METADATA_HOST of the agent is no host: correct it")
	}
	return &metadata{host}, nil
}

var metadataHost = regexp.MustCompile(`^[A-Za-z0-9.-]+(:\d{1,5})?$`)

// metadata is the account that the metadata server of a node has for a pod.
type metadata struct{ host string }

func (m *metadata) fields() []string { return []string{"metadata"} }

func (m *metadata) home() string { return "http://" + m.host }

// obtain implements Grant.
func (m *metadata) obtain(ctx context.Context, client *web.Client, now time.Time) (Token, error) {
	at := client.Home().JoinPath("computeMetadata/v1/instance/service-accounts/default/token")
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
	if err != nil {
		return Token{}, notAToken(at)
	}
	req.Header.Set("Metadata-Flavor", "Google")
	var got answer
	if err := call(client, req, &got, nil); err != nil {
		return Token{}, err
	}
	return got.token(at, "", now)
}
