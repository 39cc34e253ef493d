package place

import (
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/repository"
)

// Repositories are the Secrets of repositories. They are put together once for every change of the settings.
func (s *Settings) Repositories() repository.Book {
	version := s.Version() // before they are read: at worst they are read again
	if r := s.repositories.Load(); r != nil && r.version == version {
		return r.book
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	out := repository.Book{
		Secrets: map[string]repository.Secret{}, Roots: s.configs[ConfigCertificate],
		KnownHosts: []byte(s.configs[ConfigKnownHosts]["ssh_known_hosts"]), SignIn: s.SignIn,
	}
	for name, sec := range s.secrets {
		if sec.kind == v1alpha1.SecretTypeRepository || sec.kind == v1alpha1.SecretTypeRepoCreds {
			out.Secrets[name] = repository.Secret{Kind: sec.kind, Data: sec.Data}
		}
	}
	s.repositories.Store(&repositoriesAt{version: version, book: out})
	return out
}

// repositoriesAt are the Secrets of repositories of a version of the settings.
type repositoriesAt struct {
	version uint64
	book    repository.Book
}
