package registrylogin

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/slipway-gitops/slipway/internal/source/dockerhub"
	"github.com/slipway-gitops/slipway/internal/strict"
)

const (
	maxDockerConfig  = 1 << 20
	maxDockerEntries = 1000
)

// DockerConfig is a Keeper with the registries of a configuration file of Docker, such as kubectl makes for pods to pull images.
// Printing it shows no secret.
type DockerConfig struct{ entries []dockerEntry }

type dockerEntry struct {
	host, path string // of the address that the secret is for
	secret     Secret
}

// String shows no secret.
func (c DockerConfig) String() string {
	return fmt.Sprintf("docker config(%d registries)", len(c.entries))
}

// GoString shows no secret.
func (c DockerConfig) GoString() string { return c.String() }

// ReadDockerConfig reads what is in .dockerconfigjson. Programs that it names for secrets are not run.
func ReadDockerConfig(raw []byte) (DockerConfig, error) {
	var file struct {
		Auths map[string]struct {
			Username      string `json:"username"`
			Password      string `json:"password"`
			Auth          string `json:"auth"`
			IdentityToken string `json:"identitytoken"`
			RegistryToken string `json:"registrytoken"`
		} `json:"auths"`
	}
	if len(raw) > maxDockerConfig {
		return DockerConfig{}, fmt.Errorf("read .dockerconfigjson: it has more than %d KiB", maxDockerConfig>>10)
	}
	if err := strict.Decode(raw, &file, strict.Foreign); err != nil { // its text may quote a secret
		return DockerConfig{}, errors.New(`read .dockerconfigjson: it is not JSON with "auths": make it with ` +
			"kubectl create secret docker-registry")
	}
	if len(file.Auths) > maxDockerEntries {
		return DockerConfig{}, fmt.Errorf("read .dockerconfigjson: it has more than %d registries", maxDockerEntries)
	}
	var c DockerConfig
	for address, a := range file.Auths {
		secret := Secret{Username: a.Username, Password: a.Password, Refresh: a.IdentityToken, Token: a.RegistryToken}
		if secret.Username == "" && secret.Password == "" && a.Auth != "" {
			plain, err := base64.StdEncoding.DecodeString(strings.TrimSpace(a.Auth))
			user, password, ok := strings.Cut(strings.TrimRight(string(plain), "\x00"), ":")
			if err != nil || !ok {
				return DockerConfig{}, errors.New(`read .dockerconfigjson: "auth" of a registry is not user and password in base64: make it again`)
			}
			secret.Username, secret.Password = user, password
		}
		if err := secret.Check(); err != nil {
			return DockerConfig{}, fmt.Errorf("read .dockerconfigjson: %w", err)
		}
		host, below := splitAddress(address)
		if host == "" || secret.IsZero() {
			continue
		}
		c.entries = append(c.entries, dockerEntry{host: host, path: below, secret: secret})
	}
	return c, nil
}

// Secret returns the secret of the longest address that matches.
func (c DockerConfig) Secret(_ context.Context, host, repository string) (Secret, error) {
	host = dockerhub.Host(host)
	best, rank := Secret{}, -1
	for _, e := range c.entries {
		if !matchHost(e.host, host) || e.path != "" && e.path != repository && !strings.HasPrefix(repository, e.path+"/") {
			continue
		}
		r := 2*len(e.path) + 1
		if strings.Contains(e.host, "*") {
			r--
		}
		if r > rank {
			best, rank = e.secret, r
		}
	}
	return best, nil
}

// splitAddress reads an address of a configuration: a host, with a scheme and a path or without. The paths /v1/ and /v2/ stand for
// the whole registry.
func splitAddress(address string) (host, below string) {
	if _, after, ok := strings.Cut(address, "://"); ok {
		address = after
	}
	host, below, _ = strings.Cut(strings.ToLower(strings.TrimSpace(address)), "/")
	below = strings.Trim(below, "/")
	if below == "v1" || below == "v2" {
		below = ""
	}
	return dockerhub.Host(host), below
}

// matchHost compares a host with one of a configuration, label by label; a label of that may hold "*", as in Kubernetes.
func matchHost(pattern, host string) bool {
	if pattern == host {
		return true
	}
	if !strings.Contains(pattern, "*") {
		return false
	}
	want, have := strings.Split(pattern, "."), strings.Split(host, ".")
	if len(want) != len(have) {
		return false
	}
	for i := range want {
		if ok, err := path.Match(want[i], have[i]); err != nil || !ok {
			return false
		}
	}
	return true
}
