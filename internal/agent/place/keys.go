package place

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine"
	"github.com/slipway-gitops/slipway/internal/sops"
	"github.com/slipway-gitops/slipway/internal/source"
	"github.com/slipway-gitops/slipway/internal/source/sealed"
)

// keyProject is the field of a Secret with keys that binds it to a project. A Secret without it is for every project.
const keyProject = "project"

// Ring returns the private keys that a project decrypts with; nil where it has none. The error says which Secrets cannot be
// used; the keys of the others are returned with it.
func (s *Settings) Ring(project string) (*sops.Ring, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if version := s.version.Load(); s.rings == nil || s.ringsAt != version || len(s.rings) > maxRings {
		s.rings, s.ringsAt = map[string]projectRing{}, version
	}
	known, ok := s.rings[project]
	if !ok {
		known.ring, known.err = s.makeRing(project)
		s.rings[project] = known
	}
	return known.ring, known.err
}

// maxRings bounds the projects whose keys are kept ready.
const maxRings = 10_000

// projectRing is the keys of a project.
type projectRing struct {
	ring *sops.Ring
	err  error
}

// makeRing reads the keys of a project. Callers hold the lock.
func (s *Settings) makeRing(project string) (*sops.Ring, error) {
	var ring *sops.Ring
	var wrong []error
	for _, name := range slices.Sorted(maps.Keys(s.secrets)) {
		sec := s.secrets[name]
		if sec.kind != v1alpha1.SecretTypeSOPS {
			continue
		}
		if owner := sec.Get(keyProject); owner != "" && owner != project {
			continue
		}
		ring = cmp.Or(ring, &sops.Ring{})
		fields := slices.DeleteFunc(slices.Sorted(maps.Keys(sec.Data)), func(field string) bool {
			return !strings.HasSuffix(field, ".agekey") && !strings.HasSuffix(field, ".asc")
		})
		if len(fields) == 0 {
			wrong = append(wrong, fmt.Errorf("Secret %s has no field NAME.agekey or NAME.asc: rename the one with the key", name))
		}
		for _, field := range fields {
			if err := ring.Add(field, sec.Data[field]); err != nil {
				wrong = append(wrong, fmt.Errorf("Secret %s: %w", name, err))
			}
		}
	}
	return ring, errors.Join(wrong...)
}

// fetched is a tree as a project may use it: with its files decrypted where the project has keys, whatever it was read from. With
// other keys the result may be another one, so they are in the scope.
func (s *Sources) fetched(project, scope string, tree source.Tree) engine.Fetched {
	out := engine.Fetched{Tree: tree, Scope: project + "/" + scope}
	if keys, decrypts := s.keysOf(project); decrypts {
		out.Tree, out.Scope = sealed.New(tree, keys), out.Scope+" decrypted with "+keys.Ring.Identity()
	}
	return out
}

// keysOf is what the files of a project are decrypted with; ok says that they are. What is wrong with a Secret is part of the advice
// for a file that no key opens.
func (s *Sources) keysOf(project string) (keys sealed.Keys, ok bool) {
	ring, err := s.settings.Ring(project)
	if ring == nil && s.Opener == nil {
		return keys, false
	}
	keys = sealed.Keys{
		Ring: ring, Other: s.Opener, Note: s.Decrypted, Holder: "project " + project,
		Advice: fmt.Sprintf("store its private key in a Secret with the label %s=%s in the agent's namespace, as NAME.agekey or NAME.asc, "+
			"or encrypt the file for a key that is there", v1alpha1.LabelSecretType, v1alpha1.SecretTypeSOPS),
	}
	if s.Opener == nil {
		keys.Advice += "; keys of a cloud need an agent with --sops-key-helper"
	}
	if err != nil {
		keys.Advice = err.Error()
	}
	return keys, true
}
