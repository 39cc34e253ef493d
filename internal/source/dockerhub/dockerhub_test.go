package dockerhub_test

import (
	"testing"

	"github.com/slipway-gitops/slipway/internal/source/dockerhub"
)

func TestDockerHubHasOneSpelling(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]string{
		"docker.io": dockerhub.Registry, "Index.Docker.io": dockerhub.Registry, "registry-1.docker.io:443": dockerhub.Registry,
		"registry.hub.docker.com.": dockerhub.Registry, "docker.io.": dockerhub.Registry, "docker.io.example.org": "docker.io.example.org",
		"GHCR.io": "ghcr.io", "ghcr.io:5000": "ghcr.io:5000", "docker.io:5000": "docker.io:5000", "": "",
	} {
		if got := dockerhub.Host(host); got != want {
			t.Errorf("%s: %s, want %s", host, got, want)
		}
	}
}
