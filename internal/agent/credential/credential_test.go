package credential

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-gitops/slipway/internal/cloud"
	"github.com/slipway-gitops/slipway/internal/outward"
	"github.com/slipway-gitops/slipway/internal/source/web"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m) }

const secret = "PLANTED"

// maker makes what has the variables, and reaches services with an authority.
func maker(t testing.TB, env map[string]string, ca []byte) *Maker {
	t.Helper()
	allow, err := outward.ReadList([]string{"127.0.0.1"})
	if err != nil {
		t.Fatal(err)
	}
	return &Maker{Keeper: cloud.NewKeeper(cloud.Options{
		Outbound: &outward.Policy{Allow: allow}, Getenv: testenv.PodEnviron(t, env), Access: web.Access{CA: ca},
	})}
}

const eksServer = "https://0123.gr7.eu-west-1.eks.amazonaws.com"

func TestATokenOfEKSIsASignedRequestOfTheRole(t *testing.T) {
	t.Parallel()
	const deploy = "arn:aws:iam::123456789012:role/deploy"
	for name, source := range map[string]func(*Maker) (*Source, error){
		"awsAuthConfig": func(m *Maker) (*Source, error) {
			return m.Source(eksServer, &EKS{ClusterName: "shop", RoleARN: deploy}, nil)
		},
		"argocd-k8s-auth": func(m *Maker) (*Source, error) {
			return m.Source(eksServer, nil, &Exec{Command: "argocd-k8s-auth", Args: []string{
				"aws", "--cluster-name", "shop", "--role-arn=" + deploy,
			}})
		},
	} {
		sts := testenv.NewAWS(t)
		s, err := source(maker(t, map[string]string{
			"AWS_WEB_IDENTITY_TOKEN_FILE": "FILE", "AWS_ROLE_ARN": testenv.PodRole, "AWS_ENDPOINT_URL_STS": sts.URL(),
		}, sts.CA()))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got, err := s.get(t.Context())
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		again, err := s.get(t.Context())
		if err != nil || again != got {
			t.Errorf("%s: the token is made again: %v", name, err)
		}
		text, ok := strings.CutPrefix(got, "k8s-aws-v1.")
		raw, err := base64.RawURLEncoding.DecodeString(text)
		u, wrong := url.Parse(string(raw))
		if !ok || err != nil || wrong != nil {
			t.Fatalf("%s: %q %v %v", name, text, err, wrong)
		}
		q := u.Query()
		if q.Get("Action") != "GetCallerIdentity" || !strings.HasPrefix(q.Get("X-Amz-Credential"), "ASIAOTHER/") || q.Get("X-Amz-Security-Token") != "session-ASIAOTHER" ||
			q.Get("X-Amz-SignedHeaders") != "host;x-k8s-aws-id" || !strings.Contains(q.Get("X-Amz-Credential"), "/eu-west-1/sts/") {
			t.Errorf("%s: %v", name, q)
		}
		if strings.Contains(string(raw), "planted") {
			t.Errorf("%s: the token has a secret in it", name)
		}
		if d := cmp.Diff([]string{"AssumeRoleWithWebIdentity of " + testenv.PodRole, "AssumeRole of " + deploy + " by ASIAROLE with session-ASIAROLE"}, sts.Asked()); d != "" {
			t.Errorf("%s: what AWS is asked (-want +got):\n%s", name, d)
		}
	}
}

func TestATokenOfAzureIsThatOfTheWorkloadIdentity(t *testing.T) {
	t.Parallel()
	login := testenv.NewTokenService(t)
	login.Secret = testenv.PodToken
	env := map[string]string{
		"AZURE_AUTHORITY_HOST": login.URL(), "AZURE_TENANT_ID": "tenant", "AZURE_CLIENT_ID": "client", "AZURE_FEDERATED_TOKEN_FILE": "FILE",
	}
	s, err := maker(t, env, login.CA()).Source("https://aks.example.org", nil, &Exec{
		Command: "argocd-k8s-auth", Args: []string{"azure"}, Env: map[string]string{"AAD_LOGIN_METHOD": "workloadidentity", "AZURE_CLIENT_ID": testenv.Client},
	})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := s.get(t.Context()); got != login.Last() || err != nil {
		t.Fatalf("%s, %v", got, err)
	}
	if login.Scope() != "6dae42f8-4368-4678-94ff-3960e28e3630/.default" {
		t.Errorf("the token is for %s", login.Scope())
	}
}

func TestATokenOfGoogleIsThatOfThePod(t *testing.T) {
	t.Parallel()
	s, err := maker(t, map[string]string{"GCE_METADATA_HOST": testenv.Metadata(t, "gke")}, nil).Source("https://gke.example.org", nil,
		&Exec{Command: "/usr/local/bin/argocd-k8s-auth", Args: []string{"gcp"}})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := s.get(t.Context()); got != "gke" || err != nil {
		t.Fatalf("%s, %v", got, err)
	}
}

func TestAProgramRunsOnlyWhereTheOperatorAllowsIt(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "sign-in")
	script := `#!/bin/sh
case "$1" in
long) head -c 400000 /dev/zero ;;
bad) echo "PLANTED" >&2; exit 3 ;;
cert) echo '{"kind":"ExecCredential","status":{"clientCertificateData":"c"}}' ;;
*) printf '{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":{"token":"%s-%s%s"}}' "$1" "$REGION" "$HIDDEN" ;;
esac
`
	if err := os.WriteFile(file, []byte(script), 0o700); err != nil { //nolint:gosec // it is run
		t.Fatal(err)
	}
	m := maker(t, nil, nil)
	m.Commands, m.Pass = []string{file}, []string{"PATH=" + os.Getenv("PATH")}
	for _, test := range []struct {
		name          string
		exec          Exec
		want, refusal string
	}{
		{"by its name", Exec{Command: "sign-in", Args: []string{"a"}, Env: map[string]string{"REGION": "b"}}, "a-b", ""},
		{"by its path", Exec{Command: file, Args: []string{"a"}}, "a-", ""},
		{"another one", Exec{Command: "/bin/sh", Args: []string{"-c", "echo"}}, "", "--cluster-commands"},
		{"another path", Exec{Command: "./sign-in"}, "", "--cluster-commands"},
		{"a variable of the linker", Exec{Command: file, Env: map[string]string{"LD_PRELOAD": "x"}}, "", "LD_PRELOAD"},
		{"another search path", Exec{Command: file, Env: map[string]string{"PATH": "x"}}, "", "PATH"},
		{"an old version", Exec{Command: file, APIVersion: "client.authentication.k8s.io/v1alpha1"}, "", "apiVersion"},
		{"it prints too much", Exec{Command: file, Args: []string{"long"}}, "", "prints more"},
		{"it fails", Exec{Command: file, Args: []string{"bad"}}, "", "code 3"},
		{"a certificate", Exec{Command: file, Args: []string{"cert"}}, "", "client certificate"},
		{"an unknown cloud", Exec{Command: "argocd-k8s-auth", Args: []string{"moon"}}, "", "aws, gcp or azure"},
		{"an unknown flag", Exec{Command: "argocd-k8s-auth", Args: []string{"gcp", "--x"}}, "", "--x"},
		{"a file of the Secret's choice", Exec{Command: "argocd-k8s-auth", Args: []string{"azure"}, Env: map[string]string{"AZURE_FEDERATED_TOKEN_FILE": "/etc/passwd"}}, "", "AZURE_FEDERATED_TOKEN_FILE"},
		{"an address of the Secret's choice", Exec{Command: "argocd-k8s-auth", Args: []string{"azure"}, Env: map[string]string{"AZURE_AUTHORITY_HOST": "https://evil.example"}}, "", "AZURE_AUTHORITY_HOST"},
		{"a service of the Secret's choice", Exec{Command: "argocd-k8s-auth", Args: []string{"aws", "--cluster-name", "x"}, Env: map[string]string{"AWS_ENDPOINT_URL_STS": "https://evil.example"}}, "", "AWS_ENDPOINT_URL_STS"},
		{"too many arguments", Exec{Command: file, Args: make([]string, 100)}, "", "too large"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s, err := m.Source("https://edge.example.org", nil, &test.exec)
			got := ""
			if err == nil {
				got, err = s.get(t.Context())
			}
			if got != test.want || (err == nil) != (test.refusal == "") || err != nil && !strings.Contains(err.Error(), test.refusal) {
				t.Errorf("%q, %v", got, err)
			}
			if err != nil && strings.Contains(err.Error(), secret) {
				t.Errorf("the error has what the program printed: %v", err)
			}
		})
	}
}

func TestWhatSomebodyElseSendsUsesNothingOfTheAgent(t *testing.T) {
	t.Parallel()
	var none *Maker
	if s, err := none.Source("https://edge.example.org", nil, nil); s != nil || err != nil {
		t.Errorf("%v, %v", s, err)
	}
	if _, err := none.Source(eksServer, &EKS{ClusterName: "x"}, nil); err == nil {
		t.Error("a cloud's identity is used")
	}
	if _, err := maker(t, nil, nil).Source("http://edge.example.org", nil, &Exec{Command: "argocd-k8s-auth", Args: []string{"gcp"}}); err == nil {
		t.Error("a token is sent without TLS")
	}
}

func TestATokenIsMadeAgainWhenItEndsOrIsRefused(t *testing.T) {
	t.Parallel()
	var made atomic.Int32
	now := time.Now()
	var mu sync.Mutex
	clock := func() time.Time { mu.Lock(); defer mu.Unlock(); return now }
	pass := func(d time.Duration) { mu.Lock(); defer mu.Unlock(); now = now.Add(d) }
	fail := atomic.Bool{}
	s := &Source{holder: cloud.NewHolder(clock, func(context.Context) (cloud.Token, error) {
		if fail.Load() {
			return cloud.Token{}, errors.New("no")
		}
		return cloud.Token{Secret: fmt.Sprint(made.Add(1)), Ends: clock().Add(10 * time.Minute)}, nil
	})}
	status := atomic.Int32{}
	status.Store(http.StatusOK)
	around := s.Around(roundTripper(func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: int(status.Load()), Body: http.NoBody, Header: http.Header{"Sent": r.Header["Authorization"]}}, nil
	}))
	ask := func(want string) {
		t.Helper()
		req := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "https://edge.example.org/version", nil)
		resp, err := around.RoundTrip(req)
		if err != nil {
			if want != "" {
				t.Errorf("%v", err)
			}
			return
		}
		_ = resp.Body.Close()
		if got := resp.Header.Get("Sent"); got != "Bearer "+want || req.Header.Get("Authorization") != "" {
			t.Errorf("sent %q, want %s", got, want)
		}
	}
	ask("1")
	ask("1")
	pass(9*time.Minute + time.Second)
	ask("2")
	pass(time.Minute)
	status.Store(http.StatusUnauthorized)
	ask("2")
	status.Store(http.StatusOK)
	ask("3")
	fail.Store(true)
	pass(9*time.Minute + 20*time.Second)
	ask("3") // it is good for half a minute more
	pass(time.Minute)
	ask("")
	fail.Store(false)
	ask("") // not again at once
	pass(10 * time.Second)
	ask("4")
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func FuzzExecProvider(f *testing.F) {
	f.Add(`{"command":"argocd-k8s-auth","args":["aws","--cluster-name","x"],"env":{"AWS_REGION":"eu-west-1"}}`)
	f.Add(`{"command":"sh","args":["-c","x"]}`)
	f.Add(`{"command":"argocd-k8s-auth","args":["azure"],"env":{"AAD_ENVIRONMENT_NAME":"AzureChinaCloud"}}`)
	m := maker(f, nil, nil)
	f.Fuzz(func(t *testing.T, text string) {
		var in Exec
		if json.Unmarshal([]byte(text), &in) != nil {
			return
		}
		if s, err := m.Source("https://edge.example.org", nil, &in); err == nil && s == nil {
			t.Error("a program is ignored")
		}
	})
}
