package place

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/outward"
	"github.com/slipway-gitops/slipway/internal/repository"
	"github.com/slipway-gitops/slipway/internal/source/artifact"
	"github.com/slipway-gitops/slipway/internal/source/registrylogin"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

// TestEveryLoginIsUsedOrRefusedByName has each login read by each kind of repository, as `repo test` and as the engine do it.
func TestEveryLoginIsUsedOrRefusedByName(t *testing.T) {
	t.Parallel()
	service := testenv.NewTokenService(t)
	values := argoFields(t, service)
	cert := testenv.NewAuthority(t).Issue("agent")
	values["tlsClientCertData"], values["tlsClientCertKey"] = string(cert.Cert), string(cert.Key)
	pod := registrylogin.NewPod(registrylogin.PodOptions{})
	for of, address := range map[repository.Family]string{
		repository.Git: "https://dev.azure.com/team/_git/a", repository.Helm: "https://charts.example/a", repository.Registries: "oci://registry.example/a",
	} {
		read := func(fields map[string]string) (tried, fetched string) {
			data := map[string][]byte{"url": []byte(address)}
			secret := []string{"one", string(v1alpha1.SecretTypeRepository), "url", address}
			for field, value := range fields {
				data[field] = []byte(value)
				secret = append(secret, field, value)
			}
			s := signing(t, keep(secret), service)
			if of == repository.Git {
				try, err := s.Repositories().CredentialIn(data, "one", address)
				use, wrong := s.Repositories().Credential("shop", address)
				return seen(try.Scope(), err), seen(use.Scope(), wrong)
			}
			a := &Artifacts{Policy: &outward.Policy{}, Registry: (&Registries{Settings: s, Pod: pod}).Open}
			try, err := a.Look(s, "shop", address, data)
			use, wrong := a.Remote(s, "shop", v1alpha1.ApplicationSource{RepoURL: address})
			return remoteSeen(try, err), remoteSeen(use, wrong)
		}
		anonymous, _ := read(nil)
		for _, l := range repository.Logins() {
			with := map[string]string{l.Field: values[l.Field]}
			for _, f := range companions()[l.Field] {
				with[f] = values[f]
			}
			tried, fetched := read(with)
			if tried != fetched {
				t.Errorf("%s for %s: a test finds %s, the engine %s", l.Field, of, tried, fetched)
			}
			taken := slices.Contains(l.To, of)
			if taken && (tried == anonymous || strings.HasPrefix(tried, "error")) {
				t.Errorf("%s for %s has no effect: %s", l.Field, of, tried)
			}
			if !taken && (!strings.HasPrefix(tried, "error") || !strings.Contains(tried, l.Field) || strings.Contains(tried, values[l.Field])) {
				t.Errorf("%s for %s is not refused by its name: %s", l.Field, of, tried)
			}
			with["password"] = "pw" // is for all of them
			if tried, _ := read(with); strings.HasPrefix(tried, "error") {
				t.Errorf("%s beside a password for %s: %s", l.Field, of, tried)
			}
		}
	}
	known := repository.Logins()
	for _, field := range agentapi.SettingRepository.SecretFields() {
		if field == "tlsClientCertKey" || strings.HasPrefix(field, "proxy") {
			continue
		}
		if !slices.ContainsFunc(known, func(l repository.Login) bool { return l.Field == field }) {
			t.Errorf("no kind of repository takes the secret %s, and none refuses it", field)
		}
	}
}

func seen(scope string, err error) string {
	if err != nil {
		return "error: " + err.Error()
	}
	return scope
}

func remoteSeen(r artifact.Remote, err error) string {
	if err != nil {
		return "error: " + err.Error()
	}
	return r.Scope()
}

// TestARegistryAboveSignsInForATestAsForTheEngine has one look-up for both.
func TestARegistryAboveSignsInForATestAsForTheEngine(t *testing.T) {
	t.Parallel()
	server := testenv.OCI(t, testenv.OCIBasicAuth("ann", "s3cret"))
	server.PushFiles("team/web", "1.0.0", map[string]string{"a.yaml": "web"})
	repo, creds := string(v1alpha1.SecretTypeRepository), string(v1alpha1.SecretTypeRepoCreds)
	above := []string{"registry", repo, "url", server.Host(), "enableOCI", "true", "username", "ann", "password", "s3cret", "insecureOCIForceHttp", "true"}
	for name, c := range map[string]struct {
		secrets [][]string
		want    bool
	}{
		"a registry above":                        {[][]string{above}, true},
		"a registry above, and the repository":    {[][]string{above, {"own", repo, "url", "oci://" + server.Host() + "/team/web"}}, true},
		"a registry above, of another project":    {[][]string{append(slices.Clone(above), "project", "other")}, false},
		"a template that is closer":               {[][]string{above, {"near", creds, "url", "oci://" + server.Host() + "/team", "password", "wrong", "insecureOCIForceHttp", "true"}}, false},
		"a template that is farther":              {[][]string{{"far", creds, "url", server.Host(), "password", "wrong"}, append(slices.Clone(above), "url", server.Host()+"/team")}, true},
		"no registry, but a repository elsewhere": {[][]string{{"other", repo, "url", "oci://" + server.Host() + "/team/web2", "password", "s3cret"}}, false},
	} {
		s := keep(c.secrets...)
		address := "oci://" + server.Host() + "/team/web"
		_, err := registered(t, s).Fetch(t.Context(), "shop", v1alpha1.ApplicationSource{RepoURL: address, TargetRevision: "1.0.0"}, time.Time{})
		if (err == nil) != c.want {
			t.Errorf("%s: the engine reads it: %v", name, err)
		}
		access, fields, err := s.Repositories().AccessIn(map[string][]byte{"url": []byte(address), "project": []byte("shop")}, address)
		if err != nil {
			t.Fatal(err)
		}
		used, all, err := s.Repositories().Access("shop", address)
		if err != nil || access.Scope() != used.Scope() || fmt.Sprint(len(fields["insecureOCIForceHttp"])) != fmt.Sprint(len(all["insecureOCIForceHttp"])) {
			t.Errorf("%s: a test signs in otherwise than the engine: %v, %v: %v", name, access, used, err)
		}
		if joined := s.Repositories().FieldsIn(map[string][]byte{"url": []byte(address), "project": []byte("shop")}); string(joined["password"]) != access.Password {
			t.Errorf("%s: the fields have another password than the access", name)
		}
	}
}
