package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
)

// Secrets are what deliveries are verified with. An empty one means that none was configured for that sender.
type Secrets struct {
	GitHub          string // of GHCR too
	GitLab          string
	Gogs            string // of Gitea and Forgejo too
	BitbucketUUID   string
	BitbucketSecret string // Bitbucket Cloud's HMAC secret: stronger than the UUID, which is no secret to its readers
	BitbucketServer string
	AzureUsername   string
	AzurePassword   string
	Harbor          string
}

var _ slog.LogValuer = Secrets{}

// LogValue keeps the secrets out of logs.
func (Secrets) LogValue() slog.Value { return slog.StringValue("[redacted]") }

// String keeps the secrets out of formatted text.
func (Secrets) String() string { return "[redacted]" }

// GoString keeps the secrets out of %#v.
func (Secrets) GoString() string { return "[redacted]" }

// SecretsFrom takes the secrets out of the data of the Secret argocd-secret.
func SecretsFrom(data map[string][]byte) Secrets {
	get := func(key string) string { return strings.TrimSpace(string(data["webhook."+key])) }
	return Secrets{
		GitHub:          get("github.secret"),
		GitLab:          get("gitlab.secret"),
		Gogs:            get("gogs.secret"),
		BitbucketUUID:   get("bitbucket.uuid"),
		BitbucketSecret: get("bitbucket.secret"),
		BitbucketServer: get("bitbucketserver.secret"),
		AzureUsername:   get("azuredevops.username"),
		AzurePassword:   get("azuredevops.password"),
		Harbor:          get("harbor.secret"),
	}
}

// proof is what the headers of a delivery offer, judged without its body.
type proof struct {
	signed bool   // a body is needed for the rest
	secret string // of the HMAC
	sum    string // hexadecimal, as sent
}

// body reports whether body has the signature that was sent.
func (p proof) body(body []byte) error {
	if !p.signed {
		return nil
	}
	sent, err := hex.DecodeString(p.sum)
	if err != nil {
		return fmt.Errorf("%w: the signature is not hexadecimal", ErrRefused)
	}
	mac := hmac.New(sha256.New, []byte(p.secret))
	mac.Write(body)
	if !hmac.Equal(sent, mac.Sum(nil)) {
		return fmt.Errorf("%w: the signature does not match the secret", ErrRefused)
	}
	return nil
}

// check verifies as much as the headers allow, so that a sender without the secret cannot make us read a body. What
// it returns verifies the rest. Where no secret is configured, it refuses unless unsigned deliveries are allowed.
func (s Secrets) check(p Provider, h http.Header, allowUnsigned bool) (proof, error) {
	switch p {
	case GitHub, GHCR:
		return s.signature(s.GitHub, "webhook.github.secret", allowUnsigned, h.Get("X-Hub-Signature-256"))
	case Gitea:
		return s.signature(s.Gogs, "webhook.gogs.secret", allowUnsigned,
			h.Get("X-Gitea-Signature"), h.Get("X-Gogs-Signature"), h.Get("X-Hub-Signature-256"))
	case Gogs:
		return s.signature(s.Gogs, "webhook.gogs.secret", allowUnsigned, h.Get("X-Gogs-Signature"))
	case BitbucketServer:
		return s.signature(s.BitbucketServer, "webhook.bitbucketserver.secret", allowUnsigned, h.Get("X-Hub-Signature"))
	case BitbucketCloud:
		return s.bitbucket(h, allowUnsigned)
	case GitLab:
		return proof{}, token(s.GitLab, h.Get("X-Gitlab-Token"), "webhook.gitlab.secret", allowUnsigned)
	case AzureDevOps:
		return proof{}, s.azure(h, allowUnsigned)
	case Harbor:
		// Harbor has no header that identifies it: the secret does both.
		return proof{}, token(s.Harbor, h.Get("Authorization"), "webhook.harbor.secret", false)
	}
	return proof{}, ErrUnknown
}

func (Secrets) signature(secret, key string, allowUnsigned bool, sent ...string) (proof, error) {
	if secret == "" {
		return proof{}, unsigned(key, allowUnsigned)
	}
	for _, header := range sent {
		if header != "" {
			return proof{signed: true, secret: secret, sum: strings.TrimPrefix(header, "sha256=")}, nil
		}
	}
	return proof{}, fmt.Errorf("%w: the delivery is not signed: set the secret of key %s at the sender", ErrRefused, key)
}

func (s Secrets) bitbucket(h http.Header, allowUnsigned bool) (proof, error) {
	if s.BitbucketUUID != "" {
		if err := token(s.BitbucketUUID, h.Get("X-Hook-Uuid"), "webhook.bitbucket.uuid", false); err != nil {
			return proof{}, err
		}
		if s.BitbucketSecret == "" {
			return proof{}, nil
		}
	}
	return s.signature(s.BitbucketSecret, "webhook.bitbucket.uuid", allowUnsigned, h.Get("X-Hub-Signature"))
}

func (s Secrets) azure(h http.Header, allowUnsigned bool) error {
	const key = "webhook.azuredevops.password"
	if s.AzureUsername == "" && s.AzurePassword == "" {
		return unsigned(key, allowUnsigned)
	}
	user, password, _ := (&http.Request{Header: h}).BasicAuth()
	if !equal(user, s.AzureUsername) || !equal(password, s.AzurePassword) {
		return fmt.Errorf("%w: user name or password does not match the keys webhook.azuredevops.username and %s", ErrRefused, key)
	}
	return nil
}

func token(secret, sent, key string, allowUnsigned bool) error {
	if secret == "" {
		return unsigned(key, allowUnsigned)
	}
	if !equal(secret, sent) {
		return fmt.Errorf("%w: the token does not match key %s", ErrRefused, key)
	}
	return nil
}

func unsigned(key string, allow bool) error {
	if allow {
		return nil
	}
	return fmt.Errorf("%w: no secret is configured: set key %s", ErrRefused, key)
}

// equal takes the same time for every pair of texts, whatever their lengths.
func equal(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}
