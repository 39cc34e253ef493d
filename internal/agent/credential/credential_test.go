package credential

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
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

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const secret = "PLANTED"

// cloud answers for a cloud, and notes what it was asked.
type cloud struct {
	*httptest.Server
	mu     sync.Mutex
	asked  []url.Values
	header http.Header
	answer func(form url.Values) (int, string)
}

func startCloud(t *testing.T, answer func(url.Values) (int, string)) *cloud {
	t.Helper()
	c := &cloud{answer: answer}
	c.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		form, _ := url.ParseQuery(string(raw))
		form.Set("path", r.URL.Path)
		c.mu.Lock()
		c.asked, c.header = append(c.asked, form), r.Header.Clone()
		c.mu.Unlock()
		code, body := c.answer(form)
		w.WriteHeader(code)
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(c.Close)
	return c
}

func (c *cloud) maker(env map[string]string) *Maker {
	return &Maker{Environ: func(name string) string { return env[name] }, Client: c.Client(), Now: time.Now}
}

func tokenFile(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte(secret+"-proof\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func role(result, id string) string {
	return fmt.Sprintf(`<R><%[1]s><Credentials><AccessKeyId>%[2]s</AccessKeyId><SecretAccessKey>%[3]s-key</SecretAccessKey>`+
		`<SessionToken>%[2]s-session</SessionToken><Expiration>%[4]s</Expiration></Credentials></%[1]s></R>`,
		result, id, secret, time.Now().Add(time.Hour).UTC().Format(time.RFC3339))
}

const eksServer = "https://0123.gr7.eu-west-1.eks.amazonaws.com"

func TestATokenOfEKSIsASignedRequestOfTheRole(t *testing.T) {
	t.Parallel()
	sts := startCloud(t, func(form url.Values) (int, string) {
		if form.Get("Action") == "AssumeRole" {
			return http.StatusOK, role("AssumeRoleResult", "ROLE")
		}
		return http.StatusOK, role("AssumeRoleWithWebIdentityResult", "AGENT")
	})
	m := sts.maker(map[string]string{
		"AWS_WEB_IDENTITY_TOKEN_FILE": tokenFile(t), "AWS_ROLE_ARN": "arn:aws:iam::123456789012:role/agent", "AWS_ENDPOINT_URL_STS": sts.URL,
	})
	for name, source := range map[string]func() (*Source, error){
		"awsAuthConfig": func() (*Source, error) {
			return m.Source(eksServer, &EKS{ClusterName: "shop", RoleARN: "arn:aws:iam::123456789012:role/deploy"}, nil)
		},
		"argocd-k8s-auth": func() (*Source, error) {
			return m.Source(eksServer, nil, &Exec{Command: "argocd-k8s-auth", Args: []string{
				"aws", "--cluster-name", "shop", "--role-arn=arn:aws:iam::123456789012:role/deploy",
			}})
		},
	} {
		s, err := source()
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
		if q.Get("Action") != "GetCallerIdentity" || !strings.HasPrefix(q.Get("X-Amz-Credential"), "ROLE/") || q.Get("X-Amz-Security-Token") != "ROLE-session" ||
			q.Get("X-Amz-SignedHeaders") != "host;x-k8s-aws-id" || !strings.Contains(q.Get("X-Amz-Credential"), "/eu-west-1/sts/") {
			t.Errorf("%s: %v", name, q)
		}
		if strings.Contains(string(raw), secret) {
			t.Errorf("%s: the token has a secret in it", name)
		}
	}
	if first, second := sts.asked[0], sts.asked[1]; first.Get("WebIdentityToken") != secret+"-proof" || second.Get("RoleArn") != "arn:aws:iam::123456789012:role/deploy" {
		t.Errorf("%v", sts.asked)
	}
	if sent := sts.header.Get("Authorization"); !strings.Contains(sent, "Credential=AGENT/") || sts.header.Get("X-Amz-Security-Token") != "AGENT-session" {
		t.Errorf("the second role is not asked for as the first one: %s", sent)
	}
}

// The numbers are those of Amazon's examples of its signature.
func TestASignatureIsThatOfAmazon(t *testing.T) {
	t.Parallel()
	key := []byte("AWS4" + "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY")
	for _, part := range []string{"20150830", "us-east-1", "iam", "aws4_request"} {
		key = mac(key, part)
	}
	if got := fmt.Sprintf("%x", key); got != "c4afb1cc5771d871763a393e44b703571b55cc28424d1a5e86da6ed3c154a4b9" {
		t.Errorf("key %s", got)
	}
	if digest("") != "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" {
		t.Error("digest of nothing")
	}
	request := "GET\n/\nAction=ListUsers&Version=2010-05-08\ncontent-type:application/x-www-form-urlencoded; charset=utf-8\n" +
		"host:iam.amazonaws.com\nx-amz-date:20150830T123600Z\n\ncontent-type;host;x-amz-date\n" + digest("")
	if got := digest(request); got != "f536975d06c0309214f805bb90ccff089219ecd68b2577efef23edd43b7e1a59" {
		t.Errorf("request %s", got)
	}
	text := "AWS4-HMAC-SHA256\n20150830T123600Z\n20150830/us-east-1/iam/aws4_request\n" + digest(request)
	if got := fmt.Sprintf("%x", mac(key, text)); got != "5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7" {
		t.Errorf("signature %s", got)
	}
}

func TestATokenOfAzureIsThatOfTheWorkloadIdentity(t *testing.T) {
	t.Parallel()
	login := startCloud(t, func(url.Values) (int, string) {
		return http.StatusOK, `{"access_token":"aks","expires_in":3600,"token_type":"Bearer"}`
	})
	env := map[string]string{
		"AZURE_AUTHORITY_HOST": login.URL, "AZURE_TENANT_ID": "tenant", "AZURE_CLIENT_ID": "client", "AZURE_FEDERATED_TOKEN_FILE": tokenFile(t),
	}
	s, err := login.maker(env).Source("https://aks.example.org", nil, &Exec{
		Command: "argocd-k8s-auth", Args: []string{"azure"}, Env: map[string]string{"AAD_LOGIN_METHOD": "workloadidentity", "AZURE_CLIENT_ID": "other"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := s.get(t.Context()); got != "aks" || err != nil {
		t.Fatalf("%s, %v", got, err)
	}
	asked := login.asked[0]
	if asked.Get("path") != "/tenant/oauth2/v2.0/token" || asked.Get("client_id") != "other" || asked.Get("client_assertion") != secret+"-proof" ||
		asked.Get("scope") != "6dae42f8-4368-4678-94ff-3960e28e3630/.default" {
		t.Errorf("%v", asked)
	}
}

func TestATokenOfGoogleIsThatOfThePod(t *testing.T) {
	t.Parallel()
	metadata := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Metadata-Flavor") != "Google" || r.URL.Path != "/computeMetadata/v1/instance/service-accounts/default/token" {
			w.WriteHeader(http.StatusForbidden)
		}
		_, _ = io.WriteString(w, `{"access_token":"gke","expires_in":3599}`)
	}))
	t.Cleanup(metadata.Close)
	m := &Maker{
		Environ: func(name string) string {
			return map[string]string{"GCE_METADATA_HOST": strings.TrimPrefix(metadata.URL, "http://")}[name]
		}, Client: metadata.Client(), Now: time.Now,
	}
	s, err := m.Source("https://gke.example.org", nil, &Exec{Command: "/usr/local/bin/argocd-k8s-auth", Args: []string{"gcp"}})
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
	m := &Maker{Commands: []string{file}, Environ: os.Getenv, Now: time.Now, Pass: []string{"PATH=" + os.Getenv("PATH")}}
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
	if _, err := (&Maker{Environ: os.Getenv, Now: time.Now}).Source("http://edge.example.org", nil, &Exec{Command: "argocd-k8s-auth", Args: []string{"gcp"}}); err == nil {
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
	s := &Source{now: clock, turn: make(chan struct{}, 1), do: func(context.Context) (token, error) {
		if fail.Load() {
			return token{}, &Error{"sign in", fmt.Errorf("no")}
		}
		return token{value: fmt.Sprint(made.Add(1)), expires: clock().Add(10 * time.Minute)}, nil
	}}
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
	pass(9*time.Minute + 30*time.Second)
	ask("3") // it is good for half a minute more
	pass(time.Minute)
	ask("")
	fail.Store(false)
	ask("") // not again at once
	pass(failurePause)
	ask("4")
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func FuzzExecProvider(f *testing.F) {
	f.Add(`{"command":"argocd-k8s-auth","args":["aws","--cluster-name","x"],"env":{"AWS_REGION":"eu-west-1"}}`)
	f.Add(`{"command":"sh","args":["-c","x"]}`)
	f.Add(`{"command":"argocd-k8s-auth","args":["azure"],"env":{"AAD_ENVIRONMENT_NAME":"AzureChinaCloud"}}`)
	m := &Maker{Environ: func(string) string { return "" }, Now: time.Now}
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
