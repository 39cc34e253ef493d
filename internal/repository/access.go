package repository

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/slipway-gitops/slipway/internal/source/web"
)

// Access finds how a project reaches a chart repository or a registry, from the same Secrets as Credential, and returns their fields as
// well. They are not to be changed.
func (b Book) Access(project, address string) (web.Access, map[string][]byte, error) {
	best, name := b.pick(project, address)
	return b.toAccess(best, name, address)
}

// AccessIn reads how to reach a chart repository or a registry from what its Secret holds, or would hold. Where that has no way to
// sign in, the template that fits is used, as for an Application; the fields that are returned contain those of the template.
func (b Book) AccessIn(data map[string][]byte, address string) (web.Access, map[string][]byte, error) {
	sec, called := b.joined(data, "of the repository", address)
	return b.toAccess(sec, called, address)
}

// FieldsIn are what a Secret holds, or would hold, with what it takes over from a template. They are not to be changed.
func (b Book) FieldsIn(data map[string][]byte) map[string][]byte {
	sec, _ := b.joined(data, "", Secret{Data: data}.Get("url"))
	return sec.Data
}

// toAccess reads a repository Secret for what is reached over HTTP.
func (b Book) toAccess(sec Secret, name, address string) (web.Access, map[string][]byte, error) {
	a, err := b.accessOf(sec, hostnameOf(address))
	basic, wrong := sec.flag("forceHttpBasicAuth")
	pass, bad := sec.flag(fieldPass)
	if err = errors.Join(sec.straying(), err, wrong, bad); err != nil {
		return web.Access{}, nil, fmt.Errorf("Secret %s: %w", name, err)
	}
	a.PassCredentials, a.Within = pass, sec.bounds()
	if basic && a.Password != "" {
		a.Bearer = ""
	}
	return a, sec.Data, nil
}

// accessOf reads from a repository Secret how a host is reached, and what is sent to it: for repositories of Git, chart repositories and
// registries alike.
func (b Book) accessOf(sec Secret, host string) (web.Access, error) {
	a := web.Access{
		Username: sec.Get("username"), Password: sec.Get("password"), Bearer: sec.Get("bearerToken"),
		ClientCert: sec.Data["tlsClientCertData"], ClientKey: sec.Data["tlsClientCertKey"],
		Proxy: sec.Get("proxy"), NoProxy: sec.Get("noProxy"),
	}
	if host != "" {
		a.CA = b.authority(host)
	}
	for _, key := range []string{"insecure", "insecureIgnoreHostKey"} {
		on, err := sec.flag(key)
		if err != nil {
			return a, err
		}
		a.Insecure = a.Insecure || on
	}
	return a, nil
}

// bounds are the addresses over HTTP that the login of a Secret is for.
func (s Secret) bounds() []string {
	at := cmp.Or(s.within, s.Get("url"))
	if _, err := web.ParseAddress(at); err != nil {
		return nil // of Git over SSH or of a registry, or there is no Secret
	}
	return []string{at}
}

// forAgent checks that a Secret may use the identity of the agent's pod: not where it is of one project, since the identity reads more
// than one project may.
func (s Secret) forAgent() error {
	if s.Get("project") == "" {
		return nil
	}
	return errors.New("a repository setting of one project cannot use the identity of the agent's pod: remove project from it, " +
		"and limit the repository by sourceRepos of the AppProjects")
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
