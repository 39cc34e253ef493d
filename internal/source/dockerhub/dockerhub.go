// Package dockerhub knows the names of Docker Hub, which are of one registry. Pure.
package dockerhub

import "strings"

// Registry is the host that answers for Docker Hub.
const Registry = "registry-1.docker.io"

// Host is the host of a registry in one spelling: lower case, without the default port and the dot at the end, and Registry for every
// name of Docker Hub.
func Host(host string) string {
	host = strings.TrimSuffix(strings.TrimSuffix(strings.ToLower(host), ":443"), ".")
	switch host {
	case "docker.io", "index.docker.io", "registry.hub.docker.com":
		return Registry
	}
	return host
}
