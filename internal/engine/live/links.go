package live

import (
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// Bounds of the addresses of one object: how many there are, and how long one is.
const (
	maxLinks   = 50
	maxLinkLen = 1 << 10
)

// links lists the addresses at which people reach an object, as Argo CD does: those of its annotations, and those that an
// Ingress or a Gateway serves, unless an annotation says that these are ignored. They are sorted.
func links(group, kind string, obj map[string]any) []string {
	annotations := object.Dict(object.Dict(obj, "metadata"), "annotations")
	found := map[string]bool{}
	add := func(link, address string) {
		if len(found) < maxLinks && len(link) <= maxLinkLen && isAddress(address) {
			found[link] = true
		}
	}
	for name, value := range annotations {
		if link, _ := value.(string); strings.HasPrefix(name, v1alpha1.AnnotationLinkPrefix) {
			add(link, addressOf(link))
		}
	}
	own, _ := annotations[v1alpha1.AnnotationIgnoreDefaultLinks].(string)
	if ignored, err := strconv.ParseBool(own); err == nil && ignored {
		return sorted(found)
	}
	switch {
	case kind == "Ingress" && (group == "networking.k8s.io" || group == "extensions"):
		ingressLinks(obj, func(link string) { add(link, link) })
	case kind == "Gateway" && group == "gateway.networking.k8s.io":
		gatewayLinks(obj, func(link string) { add(link, link) })
	}
	return sorted(found)
}

func sorted(found map[string]bool) []string {
	if len(found) == 0 {
		return nil
	}
	return slices.Sorted(maps.Keys(found))
}

// addressOf returns the address of a link in an annotation, which may have a title before it ("title|address").
func addressOf(link string) string {
	if _, address, titled := strings.Cut(link, "|"); titled {
		return address
	}
	return link
}

// isAddress reports whether a browser may be sent to an address: the author of an object chooses it.
func isAddress(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}

// IsLink reports whether an annotation of an Application or an object is a link, and to an address that a browser may be
// sent to.
func IsLink(name, value string) bool {
	return strings.HasPrefix(name, v1alpha1.AnnotationLinkPrefix) && len(value) <= maxLinkLen && isAddress(addressOf(value))
}

// ingressLinks gives one address for each path of an Ingress. A rule without a host is served at the load balancer.
func ingressLinks(obj map[string]any, add func(string)) {
	spec := object.Dict(obj, "spec")
	balancer := ""
	for _, at := range object.Dicts(object.Dict(object.Dict(obj, "status"), "loadBalancer"), "ingress") {
		if balancer = object.Text(at, "hostname"); balancer == "" {
			balancer = object.Text(at, "ip")
		}
		if balancer != "" {
			break
		}
	}
	for _, rule := range object.Dicts(spec, "rules") {
		host := object.Text(rule, "host")
		if host == "" {
			host = balancer
		}
		if host == "" {
			continue
		}
		for _, path := range object.Dicts(object.Dict(rule, "http"), "paths") {
			add(ingressScheme(spec, host) + "://" + host + strings.TrimSuffix(object.Text(path, "path"), "*"))
		}
	}
}

// ingressScheme is https for every host as soon as the Ingress has a certificate.
func ingressScheme(spec map[string]any, host string) string {
	for _, tls := range object.Dicts(spec, "tls") {
		if tls["secretName"] != nil || object.Text(tls, "host") == host {
			return "https"
		}
	}
	return "http"
}

// gatewayLinks gives the addresses of the listeners of a Gateway. One without a host name is served at all addresses.
func gatewayLinks(obj map[string]any, add func(string)) {
	var everywhere []string
	for _, at := range object.Dicts(object.Dict(obj, "status"), "addresses") {
		switch object.Text(at, "type") {
		case "Hostname", "IPAddress", "":
			everywhere = append(everywhere, object.Text(at, "value"))
		}
	}
	for _, listener := range object.Dicts(object.Dict(obj, "spec"), "listeners") {
		scheme, usual := "http", int64(80)
		if protocol := object.Text(listener, "protocol"); protocol == "HTTPS" || protocol == "TLS" {
			scheme, usual = "https", 443
		}
		hosts := everywhere
		if host := object.Text(listener, "hostname"); host != "" && host != "*" {
			hosts = []string{host}
		}
		port, _ := listener["port"].(int64)
		for _, host := range hosts {
			if port != usual {
				host += ":" + strconv.FormatInt(port, 10)
			}
			add(scheme + "://" + host)
		}
	}
}
