package credential

import (
	"context"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/slipway-gitops/slipway/internal/strict"
)

// bearer is the answer of a service that gives tokens out.
type bearer struct {
	Token   string  `json:"access_token"`
	Seconds float64 `json:"expires_in"`
}

// read makes a token of an answer.
func (m *Maker) read(raw []byte, doing string) (token, error) {
	var got bearer
	if err := strict.Decode(raw, &got, strict.Foreign); err != nil || got.Token == "" || strings.ContainsAny(got.Token, "\r\n") {
		return token{}, &Error{doing, errors.New("the answer holds no token")}
	}
	out := token{value: got.Token}
	if got.Seconds > 0 && got.Seconds < (30*24*time.Hour).Seconds() {
		out.expires = m.Now().Add(time.Duration(got.Seconds * float64(time.Second)))
	}
	return out, nil
}

// google makes tokens of Google's cloud: of the account of the agent's pod, or of the key file that a variable of the agent names.
func (m *Maker) google() (maker, error) {
	if file := m.Environ("GOOGLE_APPLICATION_CREDENTIALS"); file != "" {
		return m.googleKey(file)
	}
	host := m.Environ("GCE_METADATA_HOST")
	if host == "" {
		host = "metadata.google.internal"
	}
	if !regexp.MustCompile(`^[A-Za-z0-9.-]+(:\d{1,5})?$`).MatchString(host) {
		return nil, errors.New("GCE_METADATA_HOST of the agent is no host: correct it")
	}
	address := "http://" + host + "/computeMetadata/v1/instance/service-accounts/default/token"
	return func(ctx context.Context) (token, error) {
		const doing = "ask for the account of the agent's pod at Google"
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
		if err != nil {
			return token{}, &Error{doing, errors.New("its address cannot be used")}
		}
		req.Header.Set("Metadata-Flavor", "Google")
		raw, err := m.ask(req, doing)
		if err != nil {
			return token{}, err
		}
		return m.read(raw, doing)
	}, nil
}

// googleAccount is a key file of a service account.
type googleAccount struct {
	Type     string `json:"type"`
	Email    string `json:"client_email"`
	KeyID    string `json:"private_key_id"`
	Key      string `json:"private_key"`
	TokenURI string `json:"token_uri"`
}

// googleKey makes tokens with a key file.
func (m *Maker) googleKey(file string) (maker, error) {
	raw, err := os.ReadFile(file)
	if err != nil || len(raw) > maxTokenFile {
		return nil, errors.New("the file of GOOGLE_APPLICATION_CREDENTIALS of the agent cannot be read: check the mount")
	}
	var in googleAccount
	if err := strict.Decode(raw, &in, strict.Foreign); err != nil || in.Type != "service_account" {
		return nil, errors.New("GOOGLE_APPLICATION_CREDENTIALS of the agent is no key of a service account: use such a key, " +
			"or Workload Identity without it")
	}
	block, _ := pem.Decode([]byte(in.Key))
	if block == nil {
		return nil, errors.New("the key of GOOGLE_APPLICATION_CREDENTIALS is no PEM: make another one")
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	key, ok := parsed.(*rsa.PrivateKey)
	if err != nil || !ok || !strings.HasPrefix(in.TokenURI, "https://") {
		return nil, errors.New("the key of GOOGLE_APPLICATION_CREDENTIALS cannot be used: make another one")
	}
	return func(ctx context.Context) (token, error) {
		const doing = "sign in to Google with the agent's key"
		proof, err := assertion(in, key, m.Now())
		if err != nil {
			return token{}, &Error{doing, errors.New("the key cannot sign")}
		}
		return m.grant(ctx, doing, in.TokenURI, url.Values{
			"grant_type": {"urn:ietf:params:oauth:grant-type:jwt-bearer"}, "assertion": {proof},
		})
	}, nil
}

// grant asks a service of OAuth for a token.
func (m *Maker) grant(ctx context.Context, doing, address string, form url.Values) (token, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, strings.NewReader(form.Encode()))
	if err != nil {
		return token{}, &Error{doing, errors.New("its address cannot be used")}
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	raw, err := m.ask(req, doing)
	if err != nil {
		return token{}, err
	}
	return m.read(raw, doing)
}

// assertion is a signed claim to be a service account.
func assertion(in googleAccount, key *rsa.PrivateKey, now time.Time) (string, error) {
	head, err := json.Marshal(map[string]string{"alg": "RS256", "typ": "JWT", "kid": in.KeyID})
	if err != nil {
		return "", err
	}
	claims, err := json.Marshal(map[string]any{
		"iss": in.Email, "aud": in.TokenURI, "iat": now.Unix(), "exp": now.Add(time.Hour).Unix(),
		"scope": "https://www.googleapis.com/auth/cloud-platform https://www.googleapis.com/auth/userinfo.email",
	})
	if err != nil {
		return "", err
	}
	text := base64.RawURLEncoding.EncodeToString(head) + "." + base64.RawURLEncoding.EncodeToString(claims)
	sum := sha256.Sum256([]byte(text))
	signed, err := rsa.SignPKCS1v15(rand.Reader, key, crypto.SHA256, sum[:])
	if err != nil {
		return "", err
	}
	return text + "." + base64.RawURLEncoding.EncodeToString(signed), nil
}
