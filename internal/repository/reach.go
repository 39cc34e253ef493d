package repository

import (
	"fmt"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/git"
)

// Extent is what of a repository of Git is read beside its own objects, and with which login.
type Extent struct {
	Large   bool     // files of Git LFS are fetched
	Within  []string // addresses that the login is for
	Bounded bool     // the login is a template's: other repositories that it is for have it already
}

// Reach finds how a project reaches a repository of Git, and how far that goes.
func (b Book) Reach(project, url string) (git.Credential, Extent, error) {
	sec, name := b.pick(project, url)
	cred, err := b.toCredential(sec, name, url)
	if err != nil {
		return git.Credential{}, Extent{}, err
	}
	on, err := sec.flag("enableLfs")
	if err != nil {
		return git.Credential{}, Extent{}, fmt.Errorf("Secret %s: %w", name, err)
	}
	return cred, Extent{Large: on, Within: sec.bounds(), Bounded: sec.within != "" || sec.Kind == v1alpha1.SecretTypeRepoCreds}, nil
}

// Open is how a repository of Git is reached without signing in.
func (b Book) Open(url string) (git.Credential, error) { return b.readCredential(Secret{}, url) }
