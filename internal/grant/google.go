package grant

import (
	"context"
	"crypto/rsa"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/slipway-gitops/slipway/internal/source/web"
	"github.com/slipway-gitops/slipway/internal/strict"
)

const (
	googleTokens = "https://oauth2.googleapis.com/token"
	googleScope  = "https://www.googleapis.com/auth/cloud-platform"
)

// googleHosts are where Google gives tokens. A key that names another host would have the agent send a signed statement there.
var googleHosts = []string{"oauth2.googleapis.com", "accounts.google.com", "www.googleapis.com"} //nolint:gochecknoglobals // a table

// GoogleAccount is a service account of Google Cloud, by its key.
type GoogleAccount struct {
	email, keyID, service string
	text                  string
	key                   *rsa.PrivateKey
}

// NewGoogleAccount reads the key of a service account as Google Cloud makes it, in JSON. Tokens come from Google, or from service,
// which only the operator can set.
func NewGoogleAccount(text []byte, service string) (*GoogleAccount, error) {
	var in struct {
		Type         string `json:"type"`
		ClientEmail  string `json:"client_email"`
		PrivateKeyID string `json:"private_key_id"`
		PrivateKey   string `json:"private_key"`
		TokenURI     string `json:"token_uri"`
	}
	if len(text) > maxKeyBytes || strict.Decode(text, &in, strict.Foreign) != nil {
		return nil, errors.New("gcpServiceAccountKey is no key of a service account: give the JSON document that Google Cloud made")
	}
	if in.Type != "service_account" {
		return nil, fmt.Errorf("gcpServiceAccountKey is of the type %.40q: only keys of service accounts (service_account) can be used", in.Type)
	}
	if in.ClientEmail == "" || len(in.ClientEmail) > 320 || !usableToken(in.ClientEmail) {
		return nil, errors.New("gcpServiceAccountKey has no client_email: give the whole JSON document")
	}
	key, err := readKey("private_key of gcpServiceAccountKey", []byte(in.PrivateKey))
	if err != nil {
		return nil, err
	}
	if service == "" {
		if service, err = googleService(in.TokenURI); err != nil {
			return nil, err
		}
	}
	return &GoogleAccount{email: in.ClientEmail, keyID: in.PrivateKeyID, service: service, text: in.PrivateKey, key: key}, nil
}

func googleService(named string) (string, error) {
	if named == "" {
		return googleTokens, nil
	}
	u, err := url.Parse(named)
	if err != nil || u.Scheme != "https" || !slices.Contains(googleHosts, u.Host) || u.User != nil {
		return "", errors.New("gcpServiceAccountKey has a token_uri that is not Google's: leave token_uri out, or give " + googleTokens)
	}
	return u.String(), nil
}

func (g *GoogleAccount) fields() []string { return []string{"google", g.email, g.keyID, g.text} }

func (g *GoogleAccount) home() string { return g.service }

// obtain implements Grant.
func (g *GoogleAccount) obtain(ctx context.Context, client *web.Client, now time.Time) (Token, error) {
	signed, err := sign(g.key, g.keyID, map[string]any{
		"iss": g.email, "scope": googleScope, "aud": g.service, "iat": now.Add(-drift).Unix(), "exp": now.Add(assertion).Unix(),
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
	if err := call(client, req, &got, wording{
		http.StatusBadRequest: refused, http.StatusUnauthorized: refused, http.StatusForbidden: refused,
	}); err != nil {
		return Token{}, err
	}
	return got.token(at, g.email, now)
}
