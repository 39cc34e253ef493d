package place

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/cloud"
	"github.com/slipway-gitops/slipway/internal/git"
	"github.com/slipway-gitops/slipway/internal/outward"
	"github.com/slipway-gitops/slipway/internal/repository"
	"github.com/slipway-gitops/slipway/internal/source/registrylogin"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m) }

// signing makes settings that get tokens from a service on this machine.
func signing(t *testing.T, s *Settings, service *testenv.TokenService) *Settings {
	t.Helper()
	allow, err := outward.ReadList([]string{"127.0.0.0/8"})
	if err != nil {
		t.Fatal(err)
	}
	s.SignIn = repository.SignIn{
		Keeper: cloud.NewKeeper(cloud.Options{
			Outbound: &outward.Policy{Private: true, Allow: allow}, Getenv: func(name string) string {
				return map[string]string{
					"AZURE_TENANT_ID": "tenant", "AZURE_CLIENT_ID": testenv.Client, "AZURE_FEDERATED_TOKEN_FILE": "/nowhere",
					"AZURE_AUTHORITY_HOST": service.URL(),
				}[name]
			},
		}),
		Google: service.URL() + "/token",
	}
	s.configs[ConfigCertificate] = map[string]string{"127.0.0.1": string(service.CA())}
	s.version.Add(1)
	return s
}

func googleKey(t *testing.T, service *testenv.TokenService) string {
	t.Helper()
	raw, err := json.Marshal(map[string]string{"type": "service_account", "client_email": testenv.ServiceAccount, "private_key": string(service.Key)})
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// ours are fields that Argo CD does not know.
func ours() []string { return []string{"workloadIdentity", ".dockerconfigjson", "passCredentials"} }

// ofRegistries reports whether fields are of charts and registries alone.
func ofRegistries(fields map[string]string) bool {
	for _, field := range []string{"enableOCI", "insecureOCIForceHttp", "workloadIdentity", ".dockerconfigjson", "passCredentials", "of registries"} {
		if _, ok := fields[field]; ok {
			return true
		}
	}
	return false
}

// argoFields are all fields that Argo CD 3.6 reads in Secrets of repositories and of credential templates, and ours, with a value.
func argoFields(t *testing.T, service *testenv.TokenService) map[string]string {
	key := string(testenv.NewSSHKey(t))
	return map[string]string{
		"url": "https://git.example/a", "name": "shop", "type": "git", "project": "p",
		"username": "u", "password": "pw", "bearerToken": "b", "sshPrivateKey": key,
		"tlsClientCertData": "cert\n", "tlsClientCertKey": "key\n", "insecure": "true", "insecureIgnoreHostKey": "True", "forceHttpBasicAuth": "true",
		"proxy": "socks5h://proxy.example:1080", "noProxy": "a.example", "enableLfs": "true", "depth": "3",
		"enableOCI": "true", "insecureOCIForceHttp": "true", "webhookManifestCacheWarmDisabled": "true",
		"githubAppID": fmt.Sprint(testenv.AppID), "githubAppInstallationID": fmt.Sprint(testenv.Installation), "githubAppPrivateKey": string(service.Key),
		"githubAppEnterpriseBaseUrl": service.URL(), "gcpServiceAccountKey": googleKey(t, service), "useAzureWorkloadIdentity": "true",
		"azureServicePrincipalTenantId": "tenant", "azureServicePrincipalClientId": testenv.Client, "azureServicePrincipalClientSecret": service.Secret,
		"azureActiveDirectoryEndpoint": "https://login.microsoftonline.us",
		"passCredentials":              "true", "workloadIdentity": "aws", ".dockerconfigjson": `{"auths":{"registry.example":{"username":"u","password":"p"}}}`,
	}
}

// companions are fields that another one needs before it has an effect.
func companions() map[string][]string {
	app := []string{"githubAppID", "githubAppInstallationID", "githubAppPrivateKey", "githubAppEnterpriseBaseUrl"}
	azure := []string{"azureServicePrincipalTenantId", "azureServicePrincipalClientId", "azureServicePrincipalClientSecret"}
	out := map[string][]string{
		"username": {"password"}, "tlsClientCertData": {"tlsClientCertKey"}, "tlsClientCertKey": {"tlsClientCertData"}, "forceHttpBasicAuth": {"password", "bearerToken"},
		"noProxy": {"proxy"}, "azureActiveDirectoryEndpoint": azure,
	}
	for _, group := range [][]string{app, azure} {
		for _, f := range group {
			out[f] = group
		}
	}
	return out
}

// TestEveryFieldOfArgoCDIsHonouredOrExplained leaves each field out of what is there with it: where that makes no difference, the
// engine makes nothing of it, and has to say so.
func TestEveryFieldOfArgoCDIsHonouredOrExplained(t *testing.T) {
	t.Parallel()
	service := testenv.NewTokenService(t)
	values := argoFields(t, service)
	// What these are for is not the way that git signs in.
	elsewhere := map[string]string{
		"url": "finds the Secret", "name": "is shown, and names a Helm repository", "project": "finds the Secret", "type": "finds the engine's client",
		"enableLfs": "is of the source", "useAzureWorkloadIdentity": "TestTheAgentsOwnIdentityIsForAzureDevOpsOnly",
	}
	pod := registrylogin.NewPod(registrylogin.PodOptions{})
	read := func(fields map[string]string) string {
		data := map[string][]byte{}
		for k, v := range fields {
			data[k] = []byte(v)
		}
		if ofRegistries(fields) {
			s := NewSettings(nil)
			access, all, err := s.Repositories().AccessIn(data, "registry.example/a")
			if err != nil {
				return "error: " + err.Error()
			}
			remote, err := (&Registries{Settings: s, Pod: pod}).open(Registered{Address: "registry.example/a", Access: access, Fields: all})
			if err != nil {
				return "error: " + err.Error()
			}
			return fmt.Sprint(repository.FromRegistry("registry.example/a", "", all), access.Scope(), remote.Scope())
		}
		cred, err := signing(t, NewSettings(nil), service).Repositories().CredentialIn(data, "s", "https://git.example/a")
		if err != nil {
			return "error: " + err.Error()
		}
		token := cred.Tokens != nil
		cred.Tokens = nil
		return fmt.Sprint(cred.Scope(), token, cred.Depth)
	}
	for _, kind := range []agentapi.SettingType{agentapi.SettingRepository, agentapi.SettingRepoCreds} {
		for field, value := range values {
			if !kind.Open(field) && !kind.Secret(field) {
				t.Errorf("%s of a %s cannot be set through a server", field, kind)
			}
			if why := agentapi.EngineSlipway.Unused(kind, field, value); why != "" || elsewhere[field] != "" {
				continue
			}
			with := map[string]string{field: value}
			for _, f := range companions()[field] {
				with[f] = values[f]
			}
			without := map[string]string{}
			for f, v := range with {
				if f != field {
					without[f] = v
				}
			}
			if ofRegistries(with) {
				without["of registries"] = "" // is read in the same way
			}
			if a, b := read(with), read(without); a == b || strings.HasPrefix(a, "error") {
				t.Errorf("%s of a %s has no effect, and nothing says so: %s", field, kind, a)
			}
		}
		for _, field := range slices.Concat(kind.OpenFields(), kind.SecretFields()) {
			if values[field] == "" {
				t.Errorf("%s of a %s is no field that is tried here", field, kind)
			}
			if known := agentapi.EngineArgoCD.Unused(kind, field, "x") == ""; known == slices.Contains(ours(), field) {
				t.Errorf("whether %s of a %s is a field of Argo CD is stated in two ways", field, kind)
			}
		}
	}
}

func TestARepositoryWithoutALoginTakesThatOfItsTemplate(t *testing.T) {
	t.Parallel()
	repo, creds := string(v1alpha1.SecretTypeRepository), string(v1alpha1.SecretTypeRepoCreds)
	s := keep(
		[]string{"bare", repo, "url", "https://git.example/shop/web", "insecure", "true", "depth", "1"},
		[]string{"own", repo, "url", "https://git.example/shop/api", "password", "own"},
		[]string{"all", creds, "url", "https://git.example/shop", "username", "u", "password", "all", "proxy", "http://proxy.example:3128"},
		[]string{"ours", creds, "url", "https://git.example/shop", "password", "ours", "project", "p"},
		[]string{"write", v1alpha1.SecretTypeRepositoryWrite, "url", "https://git.example/other/x", "password", "write"},
		[]string{"writes", v1alpha1.SecretTypeRepoWriteCreds, "url", "https://git.example/other", "password", "write"},
	)
	for _, c := range []struct{ project, url, password, proxy string }{
		{"any", "https://git.example/shop/web", "all", "http://proxy.example:3128"},
		{"p", "https://git.example/shop/web", "ours", ""},
		{"any", "https://git.example/shop/api", "own", ""},
		{"any", "https://git.example/other/x", "", ""},
	} {
		got, err := s.Repositories().Credential(c.project, c.url)
		if err != nil || got.Password != c.password || got.Proxy != c.proxy || strings.HasSuffix(c.url, "web") != got.Insecure {
			t.Errorf("%s of %s: password %q, proxy %q, insecure %t, %v", c.url, c.project, got.Password, got.Proxy, got.Insecure, err)
		}
		if c.password != "" && string(s.Repositories().Repository(c.project, c.url)["password"]) != c.password {
			t.Errorf("%s of %s is read in two ways", c.url, c.project)
		}
	}
	for field, text := range map[string]string{"insecure": "perhaps", "githubAppID": "x", "depth": "-1", "forceHttpBasicAuth": "2", "useAzureWorkloadIdentity": "?"} {
		_, err := s.Repositories().CredentialIn(map[string][]byte{field: []byte(text), "url": []byte("https://h.example/x")}, "s", "https://h.example/x")
		if err == nil || !strings.Contains(err.Error(), field) {
			t.Errorf("%s %q: %v", field, text, err)
		}
	}
	// A template of Argo CD spells two fields in another way.
	azure := map[string][]byte{
		"azureServicePrincipalClientID": []byte("c"), "azureServicePrincipalTenantID": []byte("t"), "azureServicePrincipalClientSecret": []byte("s"),
	}
	if cred, err := signing(t, s, testenv.NewTokenService(t)).Repositories().CredentialIn(azure, "s", "https://dev.azure.com/x/_git/y"); err != nil || cred.Tokens == nil {
		t.Errorf("%v %v", cred, err)
	}
}

func TestChartsAndArtifactsAreReachedWithTheLoginOfATemplateAsRepositoriesAre(t *testing.T) {
	t.Parallel()
	repo, creds := string(v1alpha1.SecretTypeRepository), string(v1alpha1.SecretTypeRepoCreds)
	s := keep(
		[]string{"charts", repo, "url", "https://charts.example/shop/stable", "insecure", "True", "name", "stable", "type", "helm", "passCredentials", "true"},
		[]string{"registry", repo, "url", "registry.example/team/web", "project", "p"},
		[]string{"short", creds, "url", "https://charts.example", "password", "short"},
		[]string{"long", creds, "url", "https://charts.example/shop", "username", "u", "password", "long", "bearerToken", "b", "forceHttpBasicAuth", "true"},
		[]string{"registries", creds, "url", "oci://registry.example", "enableOCI", "true", "insecureOCIForceHttp", "true", "workloadIdentity", "aws"},
		[]string{"own", repo, "url", "oci://registry.example/own", "project", "p", "workloadIdentity", "aws"},
	)
	a, fields, err := s.Repositories().Access("p", "https://charts.example/shop/stable")
	if d := gocmp.Diff([]string{"https://charts.example/shop"}, a.Within); d != "" || a.PassCredentials {
		t.Errorf("the credential of the template is for (-want +got):\n%s\npassed on: %t", d, a.PassCredentials)
	}
	if err != nil || a.Username != "u" || a.Password != "long" || a.Bearer != "" || !a.Insecure || string(fields["name"]) != "stable" {
		t.Errorf("%v %v %v", a, fields, err)
	}
	try, _, err := s.Repositories().AccessIn(map[string][]byte{"url": []byte("https://charts.example/shop/stable"), "insecure": []byte("true")}, "https://charts.example/shop/stable")
	if err != nil || try.Scope() != a.Scope() {
		t.Errorf("a test signs in with something else: %v, %v", try, err)
	}
	pod := registrylogin.NewPod(registrylogin.PodOptions{})
	open := func(address string) error {
		access, fields, err := s.Repositories().Access("p", address)
		if err != nil {
			return err
		}
		_, err = (&Registries{Settings: s, Pod: pod}).open(Registered{Address: address, Access: access, Fields: fields})
		return err
	}
	_, fields, err = s.Repositories().Access("p", "oci://registry.example/team/web")
	if err != nil || !repository.FromRegistry("registry.example/team/web", "", fields) || string(fields["insecureOCIForceHttp"]) != "true" {
		t.Errorf("%v %v", fields, err)
	}
	if err := open("oci://registry.example/team/web"); err != nil {
		t.Errorf("the identity of a template for all projects is refused: %v", err)
	}
	if err := open("oci://registry.example/own"); err == nil || !strings.Contains(err.Error(), "cannot use the identity") {
		t.Errorf("the identity in a Secret of one project: %v", err)
	}
	if _, _, err := s.Repositories().AccessIn(map[string][]byte{"insecure": []byte("perhaps")}, "https://h.example"); err == nil || !strings.Contains(err.Error(), "insecure") {
		t.Errorf("a flag that is none: %v", err)
	}
}

func TestTheSecretWithTheLoginDecidesWhetherItIsPassedOn(t *testing.T) {
	t.Parallel()
	raw := testenv.PackChart(t, "app", "1.0.0", map[string]string{"values.yaml": "one"})
	elsewhere := testenv.NewCharts(t, testenv.ChartsBasicAuth("robot", "hunter2"))
	elsewhere.Archive("app.tgz", raw)
	charts := testenv.NewCharts(t, testenv.ChartsBasicAuth("robot", "hunter2"))
	charts.Entry("app", "1.0.0", "urls: ["+elsewhere.URL()+"/app.tgz]\n")
	repo, creds := string(v1alpha1.SecretTypeRepository), string(v1alpha1.SecretTypeRepoCreds)
	login := []string{"url", charts.URL(), "username", "robot", "password", "hunter2"}
	for name, c := range map[string]struct {
		secrets [][]string
		passed  bool
	}{
		"a repository":                       {[][]string{append([]string{"a", repo}, login...)}, false},
		"a repository that passes it on":     {[][]string{append([]string{"a", repo, "passCredentials", "true"}, login...)}, true},
		"a template":                         {[][]string{append([]string{"a", creds}, login...)}, false},
		"a template that passes it on":       {[][]string{append([]string{"a", creds, "passCredentials", "true"}, login...)}, true},
		"a repository over its own template": {[][]string{append([]string{"a", creds}, login...), {"b", repo, "url", charts.URL(), "passCredentials", "true", "project", "p"}}, false},
	} {
		src := v1alpha1.ApplicationSource{
			RepoURL: charts.URL(), Chart: "app", TargetRevision: "1.0.0", Helm: &v1alpha1.HelmSource{PassCredentials: true},
		}
		_, err := registered(t, keep(c.secrets...)).Fetch(t.Context(), "p", src, time.Time{})
		if c.passed != (err == nil) || err != nil && !strings.Contains(err.Error(), "passCredentials") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTheAgentsOwnIdentityIsForAzureDevOpsOnly(t *testing.T) {
	t.Parallel()
	s := signing(t, NewSettings(nil), testenv.NewTokenService(t))
	data := map[string][]byte{"useAzureWorkloadIdentity": []byte("true")}
	if cred, err := s.Repositories().CredentialIn(data, "s", "https://dev.azure.com/team/_git/shop"); err != nil || cred.Tokens == nil {
		t.Errorf("%v %v", cred, err)
	}
	data["project"] = []byte("p")
	if _, err := s.Repositories().CredentialIn(data, "s", "https://dev.azure.com/team/_git/shop"); err == nil || !strings.Contains(err.Error(), "of one project cannot use") {
		t.Errorf("in a Secret of one project: %v", err)
	}
	delete(data, "project")
	for _, url := range []string{"https://git.example/x", "https://dev.azure.com.git.example/x", "http://127.0.0.1/x", "ssh://git@ssh.dev.azure.com/v3/x"} {
		if _, err := s.Repositories().CredentialIn(data, "s", url); err == nil || !strings.Contains(err.Error(), "useAzureWorkloadIdentity") {
			t.Errorf("%s: %v", url, err)
		}
	}
}

// TestTokensOfServicesReadRepositories has git read over HTTPS with tokens that end, from a server that takes no other.
func TestTokensOfServicesReadRepositories(t *testing.T) {
	t.Parallel()
	service := testenv.NewTokenService(t)
	server := testenv.Git(t, testenv.GitTLS(), testenv.GitAuth(service.Takes))
	repo := server.NewRepo("team/shop")
	repo.Commit(map[string]string{"a": "b"}, "first")
	values := argoFields(t, service)
	values["azureActiveDirectoryEndpoint"] = service.URL() // the operator's word
	allow, err := outward.ReadList([]string{"127.0.0.0/8"})
	if err != nil {
		t.Fatal(err)
	}
	client, err := git.New(t.Context(), git.Options{Dir: t.TempDir(), Hosts: &outward.Policy{Private: true, Allow: allow}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	for name, fields := range map[string][]string{
		"an App":                          {"githubAppID", "githubAppInstallationID", "githubAppPrivateKey", "githubAppEnterpriseBaseUrl"},
		"an App that is found by owner":   {"githubAppID", "githubAppPrivateKey", "githubAppEnterpriseBaseUrl"},
		"a service account":               {"gcpServiceAccountKey"},
		"a service principal":             {"azureServicePrincipalTenantId", "azureServicePrincipalClientId", "azureServicePrincipalClientSecret"},
		"one that names the same service": {"azureServicePrincipalTenantId", "azureServicePrincipalClientId", "azureServicePrincipalClientSecret", "azureActiveDirectoryEndpoint"},
	} {
		s := signing(t, NewSettings(nil), service)
		s.configs[ConfigCertificate]["127.0.0.1"] = string(service.CA()) + string(server.CA())
		secret := []string{"app", v1alpha1.SecretTypeRepository, "url", repo.URL()}
		for _, f := range fields {
			secret = append(secret, f, values[f])
		}
		s.secrets = keep(secret).secrets
		list := func() (string, error) {
			cred, err := s.Repositories().Credential("p", repo.URL())
			if err != nil {
				return "", err
			}
			m, err := client.Mirror(repo.URL(), cred)
			if err != nil {
				return "", err
			}
			refs, err := m.LsRemote(t.Context())
			if err == nil && refs.IDs["refs/heads/main"] == "" {
				err = errors.New("there is no branch")
			}
			return m.Scope(), err
		}
		before := service.Given()
		first, err := list()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if again, err := list(); err != nil || again != first || service.Given() != before+1 {
			t.Errorf("%s again: %v, %d tokens", name, err, service.Given()-before)
		}
		service.Withdraw()
		if again, err := list(); err != nil || again != first || service.Given() != before+2 {
			t.Errorf("%s after its token was withdrawn: %v, %d tokens", name, err, service.Given()-before)
		}
		service.Break(http.StatusInternalServerError)
		service.Withdraw()
		_, err = list()
		if err == nil || strings.Contains(err.Error(), service.Last()) || strings.Contains(err.Error(), "Zaubernuss") {
			t.Errorf("%s while the service fails: %v", name, err)
		}
		service.Break(0)
	}
}

// Whoever writes a Secret of one project has no login by that: what decides where the login of a template goes is up to the template.
func TestTheLoginOfATemplateGoesWhereTheTemplateSays(t *testing.T) {
	t.Parallel()
	repo, creds := string(v1alpha1.SecretTypeRepository), string(v1alpha1.SecretTypeRepoCreds)
	s := keep(
		[]string{"template", creds, "url", "https://git.example/", "username", "u", "password", "of the template", "proxy", "http://proxy.example"},
		[]string{"same", repo, "url", "https://git.example/same", "project", "p", "proxy", "http://proxy.example", "insecure", "false"},
		[]string{"platform", repo, "url", "https://git.example/platform", "insecure", "true"},
		[]string{"own", repo, "url", "https://git.example/own", "project", "p", "username", "x", "password", "y", "proxy", "http://p.example"},
	)
	values := map[string]string{"githubAppID": "7", "githubAppInstallationID": "0", "proxy": "f"} // 0 has the App found by the owner
	for _, field := range repository.Steers() {
		name := "https://git.example/" + field
		value := cmp.Or(values[field], "true")
		s.version.Add(1)
		s.secrets[field] = Secret{kind: repo, Data: map[string][]byte{"url": []byte(name), "project": []byte("p"), field: []byte(value)}}
		cred, err := s.Repositories().Credential("p", name)
		if err == nil || !strings.Contains(err.Error(), field+" of a Secret of one project") || cred.Password != "" {
			t.Errorf("%s: %v, %v", field, cred, err)
		}
		access, _, err := s.Repositories().Access("p", name)
		if err == nil || access.Password != "" {
			t.Errorf("%s over HTTP: %v, %v", field, access, err)
		}
		if got := s.Repositories().Borrows(map[string][]byte{"url": []byte(name), field: []byte(value)}); got != field {
			t.Errorf("%s: the login is taken elsewhere by %q", field, got)
		}
	}
	for _, name := range []string{"same", "platform", "own"} {
		if cred, err := s.Repositories().Credential("p", "https://git.example/"+name); err != nil || cred.Password == "" {
			t.Errorf("%s: %v, %v", name, cred, err)
		}
	}
	if got := s.Repositories().Borrows(map[string][]byte{"url": []byte("https://git.example/own"), "password": []byte("y"), "proxy": []byte("http://p.example")}); got != "" {
		t.Errorf("a login of its own is taken elsewhere by %q", got)
	}
}
