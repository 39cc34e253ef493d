package cloud_test

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/slipway-gitops/slipway/internal/cloud"
	"github.com/slipway-gitops/slipway/internal/outward"
	"github.com/slipway-gitops/slipway/internal/source/web"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m) }

// hand is a clock that a test moves.
type hand struct{ at atomic.Int64 }

func newHand() *hand {
	h := &hand{}
	h.at.Store(time.Now().UnixNano())
	return h
}

func (h *hand) now() time.Time       { return time.Unix(0, h.at.Load()) }
func (h *hand) pass(d time.Duration) { h.at.Add(int64(d)) }

func thisMachine(t *testing.T) *outward.Policy {
	t.Helper()
	allow, err := outward.ReadList([]string{"127.0.0.0/8"})
	if err != nil {
		t.Fatal(err)
	}
	return &outward.Policy{Private: true, Allow: allow}
}

func githubApp(t *testing.T, s *testenv.TokenService, installation int64, owner string) cloud.Grant {
	t.Helper()
	g, err := cloud.NewGitHubApp(testenv.AppID, installation, owner, s.Key, s.URL())
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func account(t *testing.T, s *testenv.TokenService) cloud.Grant {
	t.Helper()
	text, err := json.Marshal(map[string]string{
		"type": "service_account", "client_email": testenv.ServiceAccount, "private_key_id": "k1", "private_key": string(s.Key), "universe_domain": "googleapis.com",
	})
	if err != nil {
		t.Fatal(err)
	}
	g, err := cloud.NewGoogleAccount("gcpServiceAccountKey", text, s.URL()+"/token", cloud.GoogleScope)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestEachServiceGivesATokenThatIsUsedUntilItIsNearlyOver(t *testing.T) {
	t.Parallel()
	s := testenv.NewTokenService(t)
	clock := newHand()
	s.Now = clock.now
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte(s.Secret+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	workload := cloud.Workload{Tenant: "tenant", Client: testenv.Client, File: file, Authority: s.URL() + "/"}
	own, err := cloud.NewWorkload(workload, cloud.AzureDevOps)
	if err != nil {
		t.Fatal(err)
	}
	principal, err := cloud.NewServicePrincipal("tenant", testenv.Client, s.Secret, "", workload, cloud.AzureDevOps)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		of   cloud.Grant
		user string
	}{
		"an installation": {githubApp(t, s, testenv.Installation, ""), "x-access-token"}, "one of an organization": {githubApp(t, s, 0, "Team"), "x-access-token"},
		"one of a user": {githubApp(t, s, 0, "someone"), "x-access-token"}, "Google": {account(t, s), testenv.ServiceAccount},
		"a workload": {own, ""}, "a principal": {principal, ""},
	} {
		holder, err := cloud.NewKeeper(cloud.Options{Outbound: thisMachine(t), Now: clock.now}).Of(c.of, web.Access{CA: s.CA(), Username: "u", Password: "p"})
		if err != nil {
			t.Fatal(err)
		}
		before := s.Given()
		first, err := holder.Token(t.Context(), "")
		if err != nil || first.Secret != s.Last() || first.Username != c.user {
			t.Fatalf("%s: %v %v", name, first, err)
		}
		if text := fmt.Sprintf("%v %+v %#v", first, first, first); strings.Contains(text, first.Secret) {
			t.Errorf("%s: it is printed as %s", name, text)
		}
		clock.pass(35 * time.Minute)
		if again, err := holder.Token(t.Context(), ""); err != nil || again != first || s.Given() != before+1 {
			t.Errorf("%s: after 35 minutes %v %v, %d tokens", name, again, err, s.Given()-before)
		}
		clock.pass(20 * time.Minute)
		if again, err := holder.Token(t.Context(), ""); err != nil || again.Secret == first.Secret || s.Given() != before+2 {
			t.Errorf("%s: after 55 minutes %v %v, %d tokens", name, again, err, s.Given()-before)
		}
	}
}

func TestATokenIsRenewedOnceForAllThatAsk(t *testing.T) {
	t.Parallel()
	s := testenv.NewTokenService(t)
	keeper := cloud.NewKeeper(cloud.Options{Outbound: thisMachine(t), Now: time.Now})
	var g sync.WaitGroup
	for range 20 {
		g.Go(func() {
			holder, err := keeper.Of(githubApp(t, s, testenv.Installation, ""), web.Access{CA: s.CA()})
			if err != nil {
				t.Error(err)
				return
			}
			if _, err := holder.Token(context.Background(), ""); err != nil {
				t.Error(err)
			}
		})
	}
	g.Wait()
	if s.Given() != 1 {
		t.Errorf("%d tokens were given", s.Given())
	}
}

func TestAServiceThatFailsIsLeftAloneAndTheOldTokenIsUsedToItsEnd(t *testing.T) {
	t.Parallel()
	s := testenv.NewTokenService(t)
	clock := newHand()
	s.Now = clock.now
	holder, err := cloud.NewKeeper(cloud.Options{Outbound: thisMachine(t), Now: clock.now}).Of(githubApp(t, s, testenv.Installation, ""), web.Access{CA: s.CA()})
	if err != nil {
		t.Fatal(err)
	}
	first, err := holder.Token(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	s.Break(http.StatusBadGateway)
	clock.pass(55 * time.Minute)
	for range 3 {
		if again, err := holder.Token(t.Context(), ""); err != nil || again != first {
			t.Errorf("while the service fails: %v %v", again, err)
		}
	}
	clock.pass(5 * time.Minute)
	_, err = holder.Token(t.Context(), "")
	if !errors.Is(err, web.ErrServer) || strings.Contains(err.Error(), "Zaubernuss") {
		t.Errorf("after its end: %v", err)
	}
	s.Break(0)
	if _, err := holder.Token(t.Context(), ""); err == nil {
		t.Error("a service that just failed is asked again")
	}
	clock.pass(6 * time.Minute)
	if again, err := holder.Token(t.Context(), ""); err != nil || again.Secret == first.Secret {
		t.Errorf("later: %v %v", again, err)
	}
}

func TestARefusedTokenIsRenewedAtMostOnceAMinute(t *testing.T) {
	t.Parallel()
	s := testenv.NewTokenService(t)
	clock := newHand()
	s.Now = clock.now
	holder, err := cloud.NewKeeper(cloud.Options{Outbound: thisMachine(t), Now: clock.now}).Of(account(t, s), web.Access{CA: s.CA()})
	if err != nil {
		t.Fatal(err)
	}
	first, _ := holder.Token(t.Context(), "")
	second, err := holder.Token(t.Context(), first.Secret)
	if err != nil || second.Secret == first.Secret {
		t.Fatalf("%v %v", second, err)
	}
	if again, _ := holder.Token(t.Context(), first.Secret); again != second {
		t.Error("a token that is not used any more has another one renewed")
	}
	if again, _ := holder.Token(t.Context(), second.Secret); again != second || s.Given() != 2 {
		t.Errorf("the service gave %d tokens within a minute", s.Given())
	}
	clock.pass(time.Minute)
	if third, err := holder.Token(t.Context(), second.Secret); err != nil || third == second {
		t.Errorf("after a minute: %v %v", third, err)
	}
}

func TestWhatAServiceRefusesIsExplainedInWordsOfOurs(t *testing.T) {
	t.Parallel()
	s, other := testenv.NewTokenService(t), testenv.NewTokenService(t)
	s.Now = time.Now
	wrongKey, err := cloud.NewGitHubApp(testenv.AppID, testenv.Installation, "", other.Key, s.URL())
	if err != nil {
		t.Fatal(err)
	}
	principal, err := cloud.NewServicePrincipal("tenant", testenv.Client, "wrong", "", cloud.Workload{Authority: s.URL()}, cloud.AzureDevOps)
	if err != nil {
		t.Fatal(err)
	}
	gone, err := cloud.NewWorkload(cloud.Workload{Tenant: "tenant", Client: "c", File: "/nowhere", Authority: s.URL()}, cloud.AzureDevOps)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		of   cloud.Grant
		as   web.Access
		want string
	}{
		"another key":               {wrongKey, web.Access{CA: s.CA()}, "githubAppPrivateKey"},
		"another installation":      {githubApp(t, s, 5, ""), web.Access{CA: s.CA()}, "has no installation 5"},
		"another owner":             {githubApp(t, s, 0, "stranger"), web.Access{CA: s.CA()}, "not installed for stranger"},
		"another secret":            {principal, web.Access{CA: s.CA()}, "does not accept the application"},
		"no file":                   {gone, web.Access{CA: s.CA()}, "AZURE_FEDERATED_TOKEN_FILE"},
		"an unknown authority":      {account(t, s), web.Access{}, "authority"},
		"a proxy that is not a URL": {account(t, s), web.Access{Proxy: "::"}, "proxy"},
	} {
		holder, err := cloud.NewKeeper(cloud.Options{Outbound: thisMachine(t), Now: time.Now}).Of(c.of, c.as)
		if err == nil {
			_, err = holder.Token(t.Context(), "")
		}
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "Zaubernuss") {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	holder, err := cloud.NewKeeper(cloud.Options{Outbound: &outward.Policy{Private: true}, Now: time.Now}).Of(githubApp(t, s, 5, ""), web.Access{CA: s.CA()})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := holder.Token(t.Context(), ""); !errors.Is(err, web.ErrRefused) {
		t.Errorf("this machine is asked without the operator's word: %v", err)
	}
}

func TestACredentialThatCanNeverWorkIsRefusedWithTheNameOfItsField(t *testing.T) {
	t.Parallel()
	s := testenv.NewTokenService(t)
	key := func(text string) []byte {
		raw, err := json.Marshal(map[string]string{"type": "service_account", "client_email": "a@b", "private_key": string(s.Key), "token_uri": text})
		if err != nil {
			t.Fatal(err)
		}
		return raw
	}
	app := func(id, installation int64, owner, key, base string) error {
		_, err := cloud.NewGitHubApp(id, installation, owner, []byte(key), base)
		return err
	}
	google := func(text []byte) error {
		_, err := cloud.NewGoogleAccount("gcpServiceAccountKey", text, "", cloud.GoogleScope)
		return err
	}
	azure := func(tenant, client, secret, at string) error {
		_, err := cloud.NewServicePrincipal(tenant, client, secret, at, cloud.Workload{}, cloud.AzureDevOps)
		return err
	}
	private := string(s.Key)
	for want, err := range map[string]error{
		"githubAppID":                       app(0, 1, "", private, ""),
		"githubAppInstallationID":           app(1, 0, "", private, ""),
		"githubAppPrivateKey":               app(1, 1, "", "hidden", ""),
		"githubAppEnterpriseBaseUrl":        app(1, 1, "", private, "http://git.example"),
		"at most 8192 are used":             app(1, 1, "", largeKey(t), ""),
		"no key of a service account":       google([]byte("hidden")),
		"external_account":                  google([]byte(`{"type":"external_account"}`)),
		"token_uri":                         google(key("https://evil.example/token")),
		"azureServicePrincipalTenantId":     azure("", "c", "hidden", ""),
		"azureServicePrincipalClientSecret": azure("t", "c", "", ""),
		"azureActiveDirectoryEndpoint":      azure("t", "c", "hidden", "https://evil.example"),
		"tenant is no id":                   azure("../x", "c", "hidden", ""),
	} {
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hidden") {
			t.Errorf("%v: want one about %s", err, want)
		}
	}
	for _, err := range []error{google(key("https://oauth2.googleapis.com/token")), google(key("")), azure("t", "c", "s", "https://login.microsoftonline.us/"), app(1, 0, "team", private, "https://api.team.ghe.com")} {
		if err != nil {
			t.Error(err)
		}
	}
	for host, want := range map[string]bool{"dev.azure.com": true, "team.visualstudio.com": true, "DEV.azure.com": true, ".visualstudio.com": false, "dev.azure.com.evil.example": false} {
		if cloud.AzureHost(host) != want {
			t.Errorf("%s: %t", host, !want)
		}
	}
}

func TestTheIdentityOfThePodIsReachedAtWhatItsEnvironmentNamesUnlessTheOperatorRefusesIt(t *testing.T) {
	t.Parallel()
	host := testenv.Metadata(t, "ya29.x")
	aws := testenv.NewAWS(t)
	file := filepath.Join(t.TempDir(), "key.json")
	if err := os.WriteFile(file, []byte(`{"type":"external_account"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	deny, err := outward.ReadList([]string{"127.0.0.0/8"})
	if err != nil {
		t.Fatal(err)
	}
	google := func(policy *outward.Policy, env map[string]string) error {
		keeper := cloud.NewKeeper(cloud.Options{Outbound: policy, Getenv: testenv.PodEnviron(t, env)})
		account, err := keeper.Google(cloud.GoogleScope)
		if err != nil {
			return err
		}
		holder, err := keeper.Own(account)
		if err != nil {
			return err
		}
		got, err := holder.Token(t.Context(), "")
		if err == nil && got.Secret != "ya29.x" {
			return fmt.Errorf("the token is %v", got)
		}
		return err
	}
	amazon := func(policy *outward.Policy, env map[string]string) error {
		keeper := cloud.NewKeeper(cloud.Options{Outbound: policy, Getenv: testenv.PodEnviron(t, env), Access: web.Access{CA: aws.CA()}})
		identity, err := keeper.AWS("eu-central-1", nil)
		if err != nil {
			return err
		}
		_, _, err = identity.Caller(t.Context(), "", nil)
		return err
	}
	none, refuses := &outward.Policy{}, &outward.Policy{Private: true, Deny: deny}
	metadata := map[string]string{"GCE_METADATA_HOST": host}
	node := map[string]string{"AWS_CONTAINER_CREDENTIALS_FULL_URI": aws.Node(), "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE": "FILE"}
	role := map[string]string{"AWS_WEB_IDENTITY_TOKEN_FILE": "FILE", "AWS_ROLE_ARN": testenv.PodRole, "AWS_ENDPOINT_URL_STS": aws.URL()}
	for name, c := range map[string]struct {
		err  error
		want string
	}{
		"metadata":                            {google(none, metadata), ""},
		"metadata that the operator refuses":  {google(refuses, metadata), "--outbound-deny"},
		"metadata at no host":                 {google(none, map[string]string{"GCE_METADATA_HOST": "a/b"}), "GCE_METADATA_HOST"},
		"a key file of another kind":          {google(none, map[string]string{"GOOGLE_APPLICATION_CREDENTIALS": file}), "external_account"},
		"a key file that is not there":        {google(none, map[string]string{"GOOGLE_APPLICATION_CREDENTIALS": file + "x"}), "check the mount"},
		"the node":                            {amazon(none, node), ""},
		"a node that the operator refuses":    {amazon(refuses, node), "--outbound-deny"},
		"a node without the token of the pod": {amazon(none, map[string]string{"AWS_CONTAINER_CREDENTIALS_FULL_URI": aws.Node()}), "EKS Pod Identity association"},
		"the role of the pod":                 {amazon(none, role), ""},
		"keys of the environment":             {amazon(none, map[string]string{"AWS_ACCESS_KEY_ID": "AKIA", "AWS_SECRET_ACCESS_KEY": "x"}), ""},
		"no identity":                         {amazon(none, nil), "AWS_CONTAINER_CREDENTIALS_FULL_URI"},
	} {
		if c.want == "" && c.err != nil || c.want != "" && (c.err == nil || !strings.Contains(c.err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", name, c.err, c.want)
		}
	}
}

func TestATokenThatEndsSoonIsUsedForAMoment(t *testing.T) {
	t.Parallel()
	clock, asked := newHand(), 0
	holder := cloud.NewHolder(clock.now, func(context.Context) (cloud.Token, error) {
		asked++
		return cloud.Token{Secret: fmt.Sprint(asked), Ends: clock.now().Add(15 * time.Second)}, nil
	})
	for _, step := range []struct {
		after time.Duration
		want  string
	}{{0, "1"}, {9 * time.Second, "1"}, {2 * time.Second, "2"}, {20 * time.Second, "3"}} {
		clock.pass(step.after)
		if got, err := holder.Token(t.Context(), ""); err != nil || got.Secret != step.want {
			t.Errorf("after %v: the token %s, %v, want %s", step.after, got.Secret, err, step.want)
		}
	}
}

// largeKey is a private key that takes long to sign with. It has more primes than two, so that they are found fast.
func largeKey(t *testing.T) string {
	t.Helper()
	const primes = 5
	one, e := big.NewInt(1), big.NewInt(65537)
	for {
		key := &rsa.PrivateKey{PublicKey: rsa.PublicKey{N: big.NewInt(1), E: int(e.Int64())}}
		order := big.NewInt(1)
		for range primes {
			prime, err := rand.Prime(rand.Reader, 1700)
			if err != nil {
				t.Fatal(err)
			}
			key.Primes = append(key.Primes, prime)
			key.N.Mul(key.N, prime)
			order.Mul(order, new(big.Int).Sub(prime, one))
		}
		if key.D = new(big.Int).ModInverse(e, order); key.D == nil {
			continue
		}
		return string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}))
	}
}
