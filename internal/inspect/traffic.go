package inspect

import (
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/legible"
	"github.com/slipway-gitops/slipway/internal/redact"
)

// traffic reads where an object sends traffic, and where it is reached.
func (l *Leaf) traffic(obj map[string]any) {
	spec, status := object.Dict(obj, "spec"), object.Dict(obj, "status")
	switch kind := (object.Kind{Group: l.node.Group, Kind: l.node.Kind}); kind {
	case object.Kind{Kind: "Service"}:
		l.selects = labelsOf(spec, "selector")
		l.node.Addresses = append(balancers(status), words(object.List(spec, "externalIPs"))...)
		if object.Text(spec, "type") == "ExternalName" {
			l.selects = nil
			l.node.Addresses = addWord(l.node.Addresses, object.Text(spec, "externalName"))
		}
	case object.Kind{Group: "networking.k8s.io", Kind: "Ingress"}, object.Kind{Group: "extensions", Kind: "Ingress"}:
		l.ingress(obj, spec, status)
	case object.Kind{Group: "networking.istio.io", Kind: "VirtualService"}:
		l.virtualService(spec)
	case object.Kind{Group: "networking.istio.io", Kind: "ServiceEntry"}:
		l.selects = labelsOf(object.Dict(spec, "workloadSelector"), "labels")
		l.node.Addresses = words(object.List(spec, "hosts"))
	case object.Kind{Group: gatewayGroup, Kind: "Gateway"}:
		for _, one := range object.List(status, "addresses") {
			address, _ := one.(map[string]any)
			l.node.Addresses = addWord(l.node.Addresses, object.Text(address, "value"))
		}
	default:
		if kind.Group == gatewayGroup && strings.HasSuffix(kind.Kind, "Route") {
			l.gatewayRoute(spec)
		}
	}
}

const gatewayGroup = "gateway.networking.k8s.io"

// balancers are the addresses that a load balancer gave.
func balancers(status map[string]any) []string {
	var out []string
	for _, one := range object.List(object.Dict(status, "loadBalancer"), "ingress") {
		at, _ := one.(map[string]any)
		if host := object.Text(at, "hostname"); host != "" {
			out = addWord(out, host)
			continue
		}
		out = addWord(out, object.Text(at, "ip"))
	}
	return out
}

func words(from []any) []string {
	var out []string
	for _, one := range from {
		word, _ := one.(string)
		out = addWord(out, word)
	}
	return out
}

// addWord adds a word that is not there yet.
func addWord(to []string, word string) []string {
	if word = legible.Cut(word, maxWord); word == "" || len(to) >= maxWords || slices.Contains(to, word) {
		return to
	}
	return append(to, word)
}

func (l *Leaf) target(key object.Key) {
	if key.Name != "" && len(l.targets) < maxRoutes && !slices.Contains(l.targets, key) {
		l.targets = append(l.targets, key)
	}
}

func (l *Leaf) service(namespace, name string) {
	l.target(object.Key{Kind: "Service", Namespace: namespace, Name: name})
}

func (l *Leaf) ingress(obj, spec, status map[string]any) {
	l.node.Addresses = balancers(status)
	to := func(backend map[string]any) {
		name := object.Text(object.Dict(backend, "service"), "name")
		if name == "" {
			name = object.Text(backend, "serviceName") // of versions before v1
		}
		l.service(l.node.Namespace, name)
		if at := object.Dict(backend, "resource"); at != nil {
			group := object.Text(at, "apiGroup")
			l.target(object.Key{Group: group, Kind: object.Text(at, "kind"), Namespace: l.node.Namespace, Name: object.Text(at, "name")})
		}
	}
	to(object.Dict(spec, "defaultBackend"))
	to(object.Dict(spec, "backend"))
	own := object.Annotation(obj, v1alpha1.AnnotationIgnoreDefaultLinks) != "true"
	for _, one := range object.List(spec, "rules") {
		rule, _ := one.(map[string]any)
		host := object.Text(rule, "host")
		if host == "" && len(l.node.Addresses) > 0 {
			host = l.node.Addresses[0]
		}
		for _, one := range object.List(object.Dict(rule, "http"), "paths") {
			path, _ := one.(map[string]any)
			to(object.Dict(path, "backend"))
			if own && host != "" && !strings.HasPrefix(host, "*") {
				at := url.URL{Scheme: scheme(spec, host), Host: host, Path: strings.TrimSuffix(object.Text(path, "path"), "*")}
				l.node.URLs = addLink(l.node.URLs, at.String())
			}
		}
	}
}

// scheme of a host of an Ingress: https where it has a certificate for it, or for every host.
func scheme(spec map[string]any, host string) string {
	for _, one := range object.List(spec, "tls") {
		tls, _ := one.(map[string]any)
		hosts := object.List(tls, "hosts")
		_, domain, _ := strings.Cut(host, ".")
		if len(hosts) == 0 || slices.Contains(hosts, any(host)) || slices.Contains(hosts, any("*."+domain)) {
			return "https"
		}
	}
	return "http"
}

// virtualService reads the destinations of Istio's routes. A host is a name, or a name with its namespace behind it.
func (l *Leaf) virtualService(spec map[string]any) {
	for _, protocol := range []string{"http", "tls", "tcp"} {
		for _, one := range object.List(spec, protocol) {
			rule, _ := one.(map[string]any)
			for _, one := range object.List(rule, "route") {
				route, _ := one.(map[string]any)
				parts := strings.SplitN(object.Text(object.Dict(route, "destination"), "host"), ".", 3)
				namespace := l.node.Namespace
				if len(parts) > 1 {
					namespace = parts[1]
				}
				l.service(namespace, parts[0])
			}
		}
	}
	l.node.Addresses = words(object.List(spec, "hosts"))
}

// gatewayRoute reads the backends of a route of the Gateway API, and the gateways that send it traffic.
func (l *Leaf) gatewayRoute(spec map[string]any) {
	refer := func(ref map[string]any, group, kind string) object.Key {
		key := object.Key{Group: group, Kind: kind, Namespace: l.node.Namespace, Name: object.Text(ref, "name")}
		if said, ok := ref["group"].(string); ok {
			key.Group = said
		}
		if said := object.Text(ref, "kind"); said != "" {
			key.Kind = said
		}
		if said := object.Text(ref, "namespace"); said != "" {
			key.Namespace = said
		}
		return key
	}
	for _, one := range object.List(spec, "rules") {
		rule, _ := one.(map[string]any)
		for _, one := range object.List(rule, "backendRefs") {
			ref, _ := one.(map[string]any)
			l.target(refer(ref, "", "Service"))
		}
	}
	for _, one := range object.List(spec, "parentRefs") {
		if ref, _ := one.(map[string]any); len(l.parents) < maxWords {
			l.parents = append(l.parents, refer(ref, gatewayGroup, "Gateway"))
		}
	}
	l.node.Addresses = words(object.List(spec, "hostnames"))
}

// linksOf are the links that the author of an object gave it: an address, or a title and an address.
func linksOf(meta map[string]any) []string {
	notes := object.Dict(meta, "annotations")
	var out []string
	for _, name := range slices.Sorted(maps.Keys(notes)) {
		if !strings.HasPrefix(name, v1alpha1.AnnotationLinkPrefix) {
			continue
		}
		link := object.Text(notes, name)
		if _, address, titled := strings.Cut(link, "|"); titled {
			link = address
		}
		out = addLink(out, strings.TrimSpace(link))
	}
	return out
}

// addLink adds an address that a browser can go to, and nothing that a browser would run.
func addLink(to []string, link string) []string {
	link = redact.Addresses(link)
	u, err := url.Parse(link)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || len(link) > maxWord {
		return to
	}
	return addWord(to, u.String())
}

// routes sets where the nodes of a tree send traffic: to others of the tree alone.
func routes(nodes map[object.Key][]*api.TreeNode, leaves map[object.Key]*Leaf) {
	type label struct{ namespace, key, value string }
	var pods map[label][]*Leaf
	index := func() {
		pods = map[label][]*Leaf{}
		for key := range nodes {
			if l := leaves[key]; l != nil {
				for k, v := range l.pods {
					at := label{key.Namespace, k, v}
					pods[at] = append(pods[at], l)
				}
			}
		}
	}
	to := map[object.Key][]string{}
	for key := range nodes {
		l := leaves[key]
		if l == nil {
			continue
		}
		for _, target := range l.targets {
			if at := nodes[target]; at != nil {
				to[key] = append(to[key], at[0].ID())
			}
		}
		for _, parent := range l.parents {
			if nodes[parent] != nil {
				to[parent] = append(to[parent], nodes[key][0].ID())
			}
		}
		if len(l.selects) == 0 {
			continue
		}
		if pods == nil {
			index()
		}
		var few []*Leaf
		first := true
		for k, v := range l.selects {
			if have := pods[label{key.Namespace, k, v}]; first || len(have) < len(few) {
				few, first = have, false
			}
		}
		for _, pod := range few {
			if l.selects.match(pod.pods) {
				to[key] = append(to[key], pod.node.ID())
			}
		}
	}
	for key, ids := range to {
		slices.Sort(ids)
		ids = slices.Compact(ids)
		for _, node := range nodes[key] {
			node.Routes = ids[:min(len(ids), maxRoutes)]
		}
	}
}

func (s podLabels) match(pod podLabels) bool {
	for k, v := range s {
		if have, ok := pod[k]; !ok || have != v {
			return false
		}
	}
	return true
}
