package cloud

import (
	"context"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"github.com/slipway-gitops/slipway/internal/source/web"
	"github.com/slipway-gitops/slipway/internal/strict"
)

const (
	drift       = time.Minute     // that clocks may differ
	longest     = 24 * time.Hour  // that a token is used for, also if the service gives it longer
	assertion   = 9 * time.Minute // that a signed statement holds; GitHub takes ten
	maxKeyBytes = 16 << 10
	maxKeyBits  = 8192 // to sign with a larger one takes seconds

	formType = "application/x-www-form-urlencoded"
)

// readKey reads a private key of RSA, as PEM in PKCS #1 or PKCS #8.
func readKey(field string, text []byte) (*rsa.PrivateKey, error) {
	if len(text) > maxKeyBytes {
		return nil, fmt.Errorf("%s has more than %d KiB: give a private key in PEM", field, maxKeyBytes>>10)
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, fmt.Errorf("%s is no private key: give it in PEM, from the line BEGIN to the line END", field)
	}
	if _, encrypted := block.Headers["DEK-Info"]; encrypted || block.Type == "ENCRYPTED PRIVATE KEY" {
		return nil, fmt.Errorf("%s has a passphrase: give the key without one", field)
	}
	key, err := x509.ParsePKCS1PrivateKey(block.Bytes)
	if err != nil {
		parsed, _ := x509.ParsePKCS8PrivateKey(block.Bytes)
		key, _ = parsed.(*rsa.PrivateKey)
	}
	switch {
	case key == nil:
		return nil, fmt.Errorf("%s is no private key of RSA: give the key that the service made", field)
	case key.N.BitLen() > maxKeyBits:
		return nil, fmt.Errorf("%s has %d bits, and at most %d are used: give the key that the service made", field, key.N.BitLen(), maxKeyBits)
	}
	return key, nil
}

// sign makes a signed statement.
func sign(key *rsa.PrivateKey, id string, claims map[string]any) (string, error) {
	options := (&jose.SignerOptions{}).WithType("JWT")
	signer, err := jose.NewSigner(jose.SigningKey{
		Algorithm: jose.RS256, Key: jose.JSONWebKey{Key: key, KeyID: id},
	}, options)
	if err != nil {
		return "", errors.New("sign with the private key: it cannot be used for RS256: give a key of at least 2048 bits")
	}
	text, err := jwt.Signed(signer).Claims(claims).Serialize()
	if err != nil {
		return "", errors.New("sign with the private key: it cannot be used for RS256: give a key of at least 2048 bits")
	}
	return text, nil
}

// wording says what a status of a service means for a credential of a kind.
type wording map[int]string

// refusing is the same words for every status with which a service refuses a credential.
func refusing(words string) wording {
	return wording{http.StatusBadRequest: words, http.StatusUnauthorized: words, http.StatusForbidden: words}
}

// send sends a request, and returns the answer. One with another status than 2xx becomes an error with the words for it; of what the
// service writes, nothing but a code is in it.
func send(client *web.Client, req *http.Request, words wording) ([]byte, error) {
	resp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	wrong := web.Check(req.URL, resp)
	raw, err := io.ReadAll(resp.Body)
	var known *web.Error
	if errors.As(wrong, &known) {
		if hint := words[resp.StatusCode]; hint != "" {
			known.Hint, known.Kind = hint, web.ErrAuth
		}
		if code := errorCode.FindSubmatch(raw); code != nil {
			known.Detail += ", " + string(code[1]) + string(code[2])
		}
		return nil, wrong
	}
	return raw, err
}

// errorCode is how AWS and services of OAuth name what is wrong.
var errorCode = regexp.MustCompile(`<Code>([A-Za-z.]{1,60})</Code>|"error"\s*:\s*"([a-z_]{1,60})"`)

// call is send for an answer in JSON.
func call(client *web.Client, req *http.Request, out any, words wording) error {
	raw, err := send(client, req, words)
	if err != nil {
		return err
	}
	if strict.Decode(raw, out, strict.Foreign) != nil {
		return notAToken(req.URL)
	}
	return nil
}

func notAToken(at *url.URL) error {
	return &web.Error{Kind: web.ErrAnswer, URL: web.Shown(at), Hint: "what answers there gives no tokens: check the address"}
}

// posted asks with a form, as OAuth 2 does.
func posted(ctx context.Context, at *url.URL, form url.Values) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, at.String(), strings.NewReader(form.Encode()))
	if err != nil {
		return nil, notAToken(at)
	}
	req.Header.Set("Content-Type", formType)
	req.Header.Set("Accept", "application/json")
	return req, nil
}

// answer is what OAuth 2 answers with.
type answer struct {
	AccessToken string `json:"access_token"`
	ExpiresIn   int64  `json:"expires_in"`
}

// token reads an answer.
func (a answer) token(at *url.URL, username string, now time.Time) (Token, error) {
	lasts := min(time.Duration(min(max(a.ExpiresIn, 0), int64(longest/time.Second)))*time.Second, longest)
	if !usableToken(a.AccessToken) || lasts == 0 {
		return Token{}, notAToken(at)
	}
	return Token{Username: username, Secret: a.AccessToken, Ends: now.Add(lasts)}, nil
}

// usableToken reports whether a text can be sent in a header.
func usableToken(s string) bool {
	return s != "" && len(s) <= maxKeyBytes && !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' })
}

// tokenIn reads the token in the file that a variable of the environment names. Kubernetes replaces it.
func tokenIn(variable, file string) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", fmt.Errorf("the file %s cannot be read: check the service account of the agent's pod", variable)
	}
	defer func() { _ = f.Close() }()
	raw, err := io.ReadAll(io.LimitReader(f, maxKeyBytes))
	text := strings.TrimSpace(string(raw))
	if err != nil || !usableToken(text) {
		return "", fmt.Errorf("the file %s holds no token: check the service account of the agent's pod", variable)
	}
	return text, nil
}
