package place

import (
	"github.com/slipway-gitops/slipway/internal/source/web"
)

// Access finds how a project reaches a chart repository or a registry, from the same Secrets as Credential, and returns the fields of
// the Secret as well. They are not to be changed.
func (s *Settings) Access(project, address string) (web.Access, map[string][]byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	best, _ := s.pick(project, address)
	return s.toAccess(best, address), best.Data
}

// AccessIn reads how to reach a chart repository or a registry from what its Secret holds, or would hold. Where that has no way to
// sign in, the template that fits is used, as for an Application.
func (s *Settings) AccessIn(data map[string][]byte, address string) web.Access {
	s.mu.Lock()
	defer s.mu.Unlock()
	sec := Secret{Data: data}
	a := s.toAccess(sec, address)
	if a.Username+a.Password+a.Bearer != "" || len(a.ClientCert) > 0 {
		return a
	}
	best, _ := s.pick(sec.Get("project"), address)
	from := s.toAccess(best, address)
	a.Username, a.Password, a.Bearer, a.ClientCert, a.ClientKey = from.Username, from.Password, from.Bearer, from.ClientCert, from.ClientKey
	if a.Proxy == "" {
		a.Proxy, a.NoProxy = from.Proxy, from.NoProxy
	}
	return a
}

// toAccess reads a repository Secret. Callers hold the lock.
func (s *Settings) toAccess(sec Secret, address string) web.Access {
	a := web.Access{
		Username: sec.Get("username"), Password: sec.Get("password"), Bearer: sec.Get("bearerToken"),
		ClientCert: sec.Data["tlsClientCertData"], ClientKey: sec.Data["tlsClientCertKey"], Insecure: sec.Get("insecure") == "true",
		Proxy: sec.Get("proxy"), NoProxy: sec.Get("noProxy"),
	}
	if host := hostnameOf(address); host != "" {
		a.CA = []byte(s.configs[ConfigCertificate][host])
	}
	return a
}

// hostnameOf is the host of an address, without its port.
func hostnameOf(address string) string {
	for _, scheme := range []string{"", "https://"} {
		if u, err := web.ParseAddress(scheme + trimOCI(address)); err == nil {
			return u.Hostname()
		}
	}
	return ""
}

// trimOCI is an address without the scheme of registries.
func trimOCI(address string) string {
	if isOCI(address) {
		return address[len("oci://"):]
	}
	return address
}
