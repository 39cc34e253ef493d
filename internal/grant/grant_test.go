package grant_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/slipway-gitops/slipway/internal/grant"
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

func githubApp(t *testing.T, s *testenv.TokenService, installation int64, owner string) grant.Grant {
	t.Helper()
	g, err := grant.NewGitHubApp(testenv.AppID, installation, owner, s.Key, s.URL())
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func account(t *testing.T, s *testenv.TokenService) grant.Grant {
	t.Helper()
	text, err := json.Marshal(map[string]string{
		"type": "service_account", "client_email": testenv.ServiceAccount, "private_key_id": "k1", "private_key": string(s.Key), "universe_domain": "googleapis.com",
	})
	if err != nil {
		t.Fatal(err)
	}
	g, err := grant.NewGoogleAccount(text, s.URL()+"/token")
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
	workload := grant.Workload{Tenant: "tenant", Client: testenv.Client, File: file, Authority: s.URL() + "/"}
	own, err := grant.NewWorkload(workload)
	if err != nil {
		t.Fatal(err)
	}
	principal, err := grant.NewServicePrincipal("tenant", testenv.Client, s.Secret, "", workload)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		of   grant.Grant
		user string
	}{
		"an installation": {githubApp(t, s, testenv.Installation, ""), "x-access-token"}, "one of an organization": {githubApp(t, s, 0, "Team"), "x-access-token"},
		"one of a user": {githubApp(t, s, 0, "someone"), "x-access-token"}, "Google": {account(t, s), testenv.ServiceAccount},
		"a workload": {own, ""}, "a principal": {principal, ""},
	} {
		holder, err := grant.NewKeeper(thisMachine(t), clock.now).Of(c.of, web.Access{CA: s.CA(), Username: "u", Password: "p"})
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
	keeper := grant.NewKeeper(thisMachine(t), time.Now)
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
	holder, err := grant.NewKeeper(thisMachine(t), clock.now).Of(githubApp(t, s, testenv.Installation, ""), web.Access{CA: s.CA()})
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
	holder, err := grant.NewKeeper(thisMachine(t), clock.now).Of(account(t, s), web.Access{CA: s.CA()})
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
	wrongKey, err := grant.NewGitHubApp(testenv.AppID, testenv.Installation, "", other.Key, s.URL())
	if err != nil {
		t.Fatal(err)
	}
	principal, err := grant.NewServicePrincipal("tenant", testenv.Client, "wrong", "", grant.Workload{Authority: s.URL()})
	if err != nil {
		t.Fatal(err)
	}
	gone, err := grant.NewWorkload(grant.Workload{Tenant: "tenant", Client: "c", File: "/nowhere", Authority: s.URL()})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		of   grant.Grant
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
		holder, err := grant.NewKeeper(thisMachine(t), time.Now).Of(c.of, c.as)
		if err == nil {
			_, err = holder.Token(t.Context(), "")
		}
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "Zaubernuss") {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	holder, err := grant.NewKeeper(&outward.Policy{Private: true}, time.Now).Of(githubApp(t, s, 5, ""), web.Access{CA: s.CA()})
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
		_, err := grant.NewGitHubApp(id, installation, owner, []byte(key), base)
		return err
	}
	google := func(text []byte) error { _, err := grant.NewGoogleAccount(text, ""); return err }
	azure := func(tenant, client, secret, at string) error {
		_, err := grant.NewServicePrincipal(tenant, client, secret, at, grant.Workload{})
		return err
	}
	pem := string(s.Key)
	for want, err := range map[string]error{
		"githubAppID":                       app(0, 1, "", pem, ""),
		"githubAppInstallationID":           app(1, 0, "", pem, ""),
		"githubAppPrivateKey":               app(1, 1, "", "hidden", ""),
		"githubAppEnterpriseBaseUrl":        app(1, 1, "", pem, "http://git.example"),
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
	for _, err := range []error{google(key("https://oauth2.googleapis.com/token")), google(key("")), azure("t", "c", "s", "https://login.microsoftonline.us/"), app(1, 0, "team", pem, "https://api.team.ghe.com")} {
		if err != nil {
			t.Error(err)
		}
	}
	for host, want := range map[string]bool{"dev.azure.com": true, "team.visualstudio.com": true, "DEV.azure.com": true, ".visualstudio.com": false, "dev.azure.com.evil.example": false} {
		if grant.AzureHost(host) != want {
			t.Errorf("%s: %t", host, !want)
		}
	}
}
