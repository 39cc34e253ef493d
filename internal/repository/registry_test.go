package repository

import "testing"

func TestAddressesOfRegistriesAreToldFromThoseOfGit(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]bool{
		"oci://ghcr.io/a": true, "ghcr.io/org/charts": true, "registry.example.org:5000/a": true, "localhost:5000/a": false, "git@github.com:org/a": false,
		"github.com:org/a": false, "https://github.com/org/a": false, "": false, "/srv/git/a": false, "ghcr.io": true,
	} {
		if got := ofRegistry(address); got != want {
			t.Errorf("%s: %t", address, got)
		}
	}
	for _, c := range []struct {
		address, template string
		want              bool
	}{
		{"oci://ghcr.io/team/app", "oci://ghcr.io/team", true},
		{"ghcr.io/team", "oci://GHCR.io/team/", true},
		{"oci://ghcr.io/team/app", "ghcr.io", true},
		{"oci://ghcr.io/teamwork/app", "oci://ghcr.io/team", false},
		{"oci://ghcr.io.evil.example/team", "oci://ghcr.io", false},
		{"oci://ghcr.io:8443/team", "oci://ghcr.io", false},
		{"oci://docker.io/team/app", "oci://registry-1.docker.io/team", true},
		{"registry-1.docker.io/team", "index.docker.io/team", true},
		{"oci://docker.io.example.org/team", "oci://docker.io", false},
		{"https://ghcr.io/team", "oci://ghcr.io/team", false},
	} {
		if got := belowRegistry(c.address, c.template); got != c.want {
			t.Errorf("%s below %s: %t", c.address, c.template, got)
		}
	}
}
