package repository

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/slipway-gitops/slipway/internal/source/registrylogin"
	"github.com/slipway-gitops/slipway/internal/source/web"
)

// Registry reports whether a Secret says that its address is one of a registry.
func (s Secret) Registry() bool { return s.Get(fieldOCI) == "true" }

// PlainHTTP reports whether a registry is reached without TLS.
func (s Secret) PlainHTTP() bool { return s.Get(fieldPlainHTTP) == "true" }

// Keeper returns what has the secrets of a registry, and its identity; none where user name, password and token of the access are all.
// The identity of a pod is used where there is one. Its error is about a login that a registry does not take.
func (s Secret) Keeper(access web.Access, pod *registrylogin.Pod) (registrylogin.Keeper, string, error) {
	if err := s.SignsInTo(Registries); err != nil {
		return nil, "", err
	}
	cloud := s.Get(fieldIdentity)
	azure, err := s.flag(fieldAzure)
	if err != nil {
		return nil, "", err
	}
	if cloud == "" && azure {
		cloud = string(registrylogin.Azure)
	}
	way := access.WithoutSecrets().Scope()
	switch {
	case cloud != "":
		called, err := registrylogin.ParseCloud(cloud)
		if err != nil {
			return nil, "", fmt.Errorf("%s of the repository: %w", fieldIdentity, err)
		}
		if err := s.forAgent(); err != nil {
			return nil, "", err
		}
		if pod == nil {
			return nil, "", errors.New("the identity of a pod is not used here: set user name and password")
		}
		return pod.Keeper(called, access), "pod " + string(called) + " " + way, nil
	case len(s.Data[fieldDockerConfig]) > 0 && access.Username == "" && access.Password == "" && access.Bearer == "":
		raw := s.Data[fieldDockerConfig]
		config, err := registrylogin.ReadDockerConfig(raw)
		if err != nil {
			return nil, "", err
		}
		sum := sha256.Sum256(raw)
		return config, "docker " + hex.EncodeToString(sum[:]) + " " + way, nil
	}
	return nil, "", nil
}
