package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"testing"
)

// A delivery is accepted with the secret of its forge, and never without it.
func FuzzProof(f *testing.F) {
	f.Add("X-Github-Event", "push", "X-Hub-Signature-256", "sha256=00", []byte(`{}`))
	f.Add("X-Gitlab-Event", "Push Hook", "X-Gitlab-Token", "guess", []byte(`{}`))
	f.Add("X-Vss-Activityid", "1", "Authorization", "Basic OjpnOg==", []byte(`{}`))
	f.Add("X-Hook-Uuid", "1", "X-Hub-Signature", "sha256=", []byte(`{}`))
	f.Add("Authorization", "secret", "X-Gogs-Event", "", []byte(`{}`))
	const secret = "a secret that a guess does not hit"
	secrets := Secrets{
		GitHub: secret, GitLab: secret, Gogs: secret, BitbucketUUID: secret, BitbucketSecret: secret, BitbucketServer: secret,
		AzureUsername: secret, AzurePassword: secret, Harbor: secret,
	}
	f.Fuzz(func(t *testing.T, kind, value, proof, sent string, body []byte) {
		h := http.Header{}
		h.Set(kind, value)
		h.Set(proof, sent)
		p, err := Identify(h)
		if err != nil {
			return
		}
		for name, known := range map[string]Secrets{"other secrets": secrets, "no secrets": {}} {
			if is, err := known.check(p, h, false); err == nil && is.body(body) == nil {
				t.Errorf("%s: a delivery of %s without its secret is taken: %v", name, p, h)
			}
		}
		if p != GitHub && p != Gitea && p != Gogs && p != BitbucketServer && p != GHCR {
			return
		}
		mac := hmac.New(sha256.New, []byte(secret))
		mac.Write(body)
		for _, name := range []string{"X-Hub-Signature-256", "X-Hub-Signature", "X-Gogs-Signature", "X-Gitea-Signature"} {
			h.Set(name, "sha256="+hex.EncodeToString(mac.Sum(nil)))
		}
		if is, err := secrets.check(p, h, false); err != nil || is.body(body) != nil {
			t.Errorf("a delivery of %s with its signature is refused: %v", p, err)
		}
	})
}
