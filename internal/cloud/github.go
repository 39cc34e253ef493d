package cloud

import (
	"context"
	"crypto/rsa"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/slipway-gitops/slipway/internal/source/web"
)

// githubAPI is the address of GitHub's REST API.
const githubAPI = "https://api.github.com"

// GitHubApp is an App of GitHub and one of its installations.
type GitHubApp struct {
	id, installation int64 // installation is 0 where it is found by owner
	owner            string
	base             string
	text             string
	key              *rsa.PrivateKey
}

// NewGitHubApp reads what a repository has of an App: its id, the id of the installation (0: that of owner), the private key, and
// the address of the API where it is not that of github.com.
func NewGitHubApp(id, installation int64, owner string, key []byte, base string) (*GitHubApp, error) {
	if id <= 0 {
		return nil, errors.New("githubAppID is missing: give the number of the App")
	}
	if installation < 0 {
		return nil, errors.New("githubAppInstallationID is no number of an installation: correct it, or leave it out")
	}
	if installation == 0 && (owner == "" || len(owner) > 100 || strings.ContainsAny(owner, "/?#%\\ \x00")) {
		return nil, errors.New("githubAppInstallationID is missing, and the address of the repository names no owner: " +
			"give the number of the installation")
	}
	private, err := readKey("githubAppPrivateKey", key)
	if err != nil {
		return nil, err
	}
	if base, err = githubBase(base); err != nil {
		return nil, err
	}
	g := &GitHubApp{id: id, installation: installation, base: base, text: string(key), key: private}
	if installation == 0 {
		g.owner = strings.ToLower(owner)
	}
	return g, nil
}

// githubBase is the address of the API: of GitHub Enterprise, people also give the address of the server.
func githubBase(base string) (string, error) {
	if base == "" {
		return githubAPI, nil
	}
	u, err := web.ParseAddress(base)
	if err != nil {
		return "", fmt.Errorf("githubAppEnterpriseBaseUrl: %w", err)
	}
	if u.Scheme != "https" || u.User != nil || u.RawQuery != "" {
		return "", errors.New("githubAppEnterpriseBaseUrl is not https://host/api/v3: correct it")
	}
	if u.Path == "" && !strings.HasPrefix(u.Host, "api.") && !strings.Contains(u.Host, ".api.") {
		u.Path = "/api/v3"
	}
	return u.String(), nil
}

func (g *GitHubApp) fields() []string {
	return []string{"github", strconv.FormatInt(g.id, 10), strconv.FormatInt(g.installation, 10), g.owner, g.text}
}

func (g *GitHubApp) home() string { return g.base }

// obtain implements Grant.
func (g *GitHubApp) obtain(ctx context.Context, client *web.Client, now time.Time) (Token, error) {
	signed, err := sign(g.key, "", map[string]any{
		"iss": strconv.FormatInt(g.id, 10), "iat": now.Add(-drift).Unix(), "exp": now.Add(assertion).Unix(),
	})
	if err != nil {
		return Token{}, err
	}
	installation := g.installation
	if installation == 0 {
		if installation, err = g.find(ctx, client, signed); err != nil {
			return Token{}, err
		}
	}
	var got struct {
		Token     string    `json:"token"`
		ExpiresAt time.Time `json:"expires_at"`
	}
	at := client.Home().JoinPath("app", "installations", strconv.FormatInt(installation, 10), "access_tokens")
	if err := g.call(ctx, client, http.MethodPost, at, signed, &got, wording{
		http.StatusUnauthorized: "GitHub does not accept the App: check githubAppID and githubAppPrivateKey, and the clock of this machine",
		http.StatusForbidden:    "the installation is suspended, or may not be used: look at the App in the settings of its owner",
		http.StatusNotFound: fmt.Sprintf("the App %d has no installation %d: check githubAppInstallationID, or leave it out",
			g.id, installation),
	}); err != nil {
		return Token{}, err
	}
	if !usableToken(got.Token) || got.ExpiresAt.IsZero() {
		return Token{}, notAToken(at)
	}
	if last := now.Add(longest); got.ExpiresAt.After(last) {
		got.ExpiresAt = last
	}
	return Token{Username: "x-access-token", Secret: got.Token, Ends: got.ExpiresAt}, nil
}

// find looks for the installation of the owner: an organization, or else a user.
func (g *GitHubApp) find(ctx context.Context, client *web.Client, signed string) (int64, error) {
	words := wording{
		http.StatusUnauthorized: "GitHub does not accept the App: check githubAppID and githubAppPrivateKey, and the clock of this machine",
		http.StatusNotFound: fmt.Sprintf("the App %d is not installed for %s: install it there, or give githubAppInstallationID",
			g.id, g.owner),
	}
	var err error
	for _, kind := range []string{"orgs", "users"} {
		var got struct {
			ID int64 `json:"id"`
		}
		at := client.Home().JoinPath(kind, g.owner, "installation")
		err = g.call(ctx, client, http.MethodGet, at, signed, &got, words)
		switch {
		case err == nil && got.ID > 0:
			return got.ID, nil
		case err == nil:
			return 0, notAToken(at)
		case !notThere(err, words[http.StatusNotFound]):
			return 0, err
		}
	}
	return 0, err
}

// notThere reports whether an error is the one for a thing that is not there.
func notThere(err error, hint string) bool {
	var known *web.Error
	return errors.As(err, &known) && known.Hint == hint
}

func (g *GitHubApp) call(ctx context.Context, client *web.Client, method string, at *url.URL, signed string, out any, words wording) error {
	req, err := http.NewRequestWithContext(ctx, method, at.String(), nil)
	if err != nil {
		return notAToken(at)
	}
	req.Header.Set("Authorization", "Bearer "+signed)
	req.Header.Set("Accept", "application/vnd.github+json")
	req.Header.Set("X-GitHub-Api-Version", "2022-11-28")
	return call(client, req, out, words)
}
