package registrylogin

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/slipway-gitops/slipway/internal/cloud"
	"github.com/slipway-gitops/slipway/internal/source/web"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

// podWith makes a Pod that has the variables, and reaches services with an authority.
func podWith(t testing.TB, values map[string]string, ca []byte, now func() time.Time, registries map[string]Cloud) *Pod {
	t.Helper()
	keeper := cloud.NewKeeper(cloud.Options{
		Outbound: loopback(t), Getenv: testenv.PodEnviron(t, values), Access: web.Access{CA: ca}, Now: now,
	})
	return NewPod(PodOptions{Keeper: keeper, Outbound: loopback(t), Registries: registries})
}

func TestThePodOfAWSGetsAPasswordOfECR(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		env  map[string]string
		want string
	}{
		"IRSA": {map[string]string{
			"AWS_WEB_IDENTITY_TOKEN_FILE": "FILE", "AWS_ROLE_ARN": testenv.PodRole, "AWS_REGION": "eu-central-1",
		}, "password by ASIAROLE with session-ASIAROLE"},
		"EKS Pod Identity": {map[string]string{
			"AWS_CONTAINER_CREDENTIALS_FULL_URI": "NODE", "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE": "FILE",
		}, "password by ASIANODE with session-ASIANODE"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			now := time.Now()
			s := testenv.NewAWS(t)
			s.Now = func() time.Time { return now }
			c.env["AWS_ENDPOINT_URL_ECR"], c.env["AWS_ENDPOINT_URL_STS"] = s.URL(), s.URL()
			if c.env["AWS_CONTAINER_CREDENTIALS_FULL_URI"] != "" {
				c.env["AWS_CONTAINER_CREDENTIALS_FULL_URI"] = s.Node()
			}
			pod := podWith(t, c.env, s.CA(), s.Now, nil)
			const host = "123456789012.dkr.ecr.eu-central-1.amazonaws.com"
			passwords := 0
			for _, step := range []struct {
				after time.Duration
				want  int
			}{{0, 1}, {8 * time.Hour, 1}, {3 * time.Hour, 2}, {time.Second, 2}} {
				now = now.Add(step.after)
				got, err := pod.Keeper(AWS, web.Access{}).Secret(t.Context(), host, "app")
				if err != nil || got.Username != "AWS" || got.Password != "ecr-password" || !got.Ends.After(now) {
					t.Fatalf("%v, %v", got, err)
				}
				passwords = 0
				for _, asked := range s.Asked() {
					if asked == c.want {
						passwords++
					}
				}
				if passwords != step.want {
					t.Errorf("after %v ECR was asked %d times, want %d: %q", step.after, passwords, step.want, s.Asked())
				}
			}
			s.Close()
			now = now.Add(11*time.Hour + 55*time.Minute)
			if _, err := pod.Keeper(AWS, web.Access{}).Secret(t.Context(), host, "app"); err != nil {
				t.Errorf("a password that is good is not used while the cloud is down: %v", err)
			}
			now = now.Add(time.Hour)
			if _, err := pod.Keeper(AWS, web.Access{}).Secret(t.Context(), host, "app"); !errors.Is(err, ErrIdentity) {
				t.Errorf("%v, want %v", err, ErrIdentity)
			}
		})
	}
}

func TestThePodOfGoogleGetsATokenFromTheMetadataServer(t *testing.T) {
	t.Parallel()
	pod := podWith(t, map[string]string{"GCE_METADATA_HOST": testenv.Metadata(t, "ya29.x")}, nil, nil, nil)
	got, err := pod.Keeper(GCP, web.Access{}).Secret(t.Context(), "europe-docker.pkg.dev", "p/r/app")
	if err != nil || got.Username != "oauth2accesstoken" || got.Password != "ya29.x" || time.Until(got.Ends) < 50*time.Minute {
		t.Errorf("%v, %v", got, err)
	}
}

func TestThePodOfAzureGetsARefreshTokenOfItsRegistry(t *testing.T) {
	t.Parallel()
	entra := testenv.NewTokenService(t)
	entra.Secret = testenv.PodToken
	registry := testenv.OCI(t, testenv.OCITLS(), testenv.OCITokens("any", "acr-refresh"))
	registry.PushFiles("app", "1", map[string]string{"a": "b"})
	registry.Intercept(func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/oauth2/exchange" {
			return false
		}
		if r.FormValue("access_token") != entra.Last() || r.FormValue("service") != registry.Host() || r.FormValue("grant_type") != "access_token" ||
			r.FormValue("tenant") != "tenant" || entra.Scope() != azureAudience {
			http.Error(w, "no", http.StatusUnauthorized)
			return true
		}
		fmt.Fprint(w, `{"refresh_token":"acr-refresh"}`)
		return true
	})
	pod := podWith(t, map[string]string{
		"AZURE_FEDERATED_TOKEN_FILE": "FILE", "AZURE_TENANT_ID": "tenant", "AZURE_CLIENT_ID": testenv.Client, "AZURE_AUTHORITY_HOST": entra.URL() + "/",
	}, entra.CA(), nil, map[string]Cloud{registry.Host(): Azure})
	reach := web.Access{CA: registry.CA()}
	client, err := web.Open(registry.URL(), loopback(t), reach, web.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	if err := get(t, NewSession(Options{Client: client, Keeper: pod.Keeper(Azure, reach)}), "app"); err != nil {
		t.Error(err)
	}
}

func TestOnlyRegistriesOfACloudGetWhatItGives(t *testing.T) {
	t.Parallel()
	pod := NewPod(PodOptions{Registries: map[string]Cloud{"mirror.example.org": AWS}})
	for host, of := range map[string]Cloud{
		"123456789012.dkr.ecr.eu-central-1.amazonaws.com": AWS, "123456789012.dkr.ecr-fips.us-gov-west-1.amazonaws.com": AWS,
		"123456789012.dkr-ecr.eu-west-1.on.aws": AWS, "123456789012.dkr.ecr.cn-north-1.amazonaws.com.cn": AWS, "mirror.example.org": AWS,
		"europe-docker.pkg.dev": GCP, "gcr.io": GCP, "eu.gcr.io": GCP, "team.azurecr.io": Azure,
		"123456789012.dkr.ecr.eu-central-1.amazonaws.com.example.org": "", "evil.example.org": "", "azurecr.io": "", "evilgcr.io": "", "docker.pkg.dev": "",
		"12345.dkr.ecr.eu-central-1.amazonaws.com": "", "123456789012.dkr.ecr.x.example.amazonaws.com": "", "team.azurecr.io:8443": "", "127.0.0.1": "",
	} {
		for _, one := range []Cloud{AWS, GCP, Azure} {
			if got := pod.owns(one, host); got != (one == of) {
				t.Errorf("%s of %s: %t", host, one, got)
			}
		}
	}
	_, err := pod.Keeper(AWS, web.Access{}).Secret(t.Context(), "evil.example.org", "app")
	if !errors.Is(err, ErrIdentity) || !strings.Contains(err.Error(), "--registry-cloud") {
		t.Errorf("%v", err)
	}
	if at, _ := ecrOf("123456789012.dkr.ecr-fips.us-gov-west-1.amazonaws.com"); at.api() != "https://ecr-fips.us-gov-west-1.amazonaws.com" {
		t.Error(at.api())
	}
	if at, _ := ecrOf("123456789012.dkr.ecr.cn-north-1.amazonaws.com.cn"); at.api() != "https://api.ecr.cn-north-1.amazonaws.com.cn" {
		t.Error(at.api())
	}
}

func TestCloudsOfHostsAreReadFromFlags(t *testing.T) {
	t.Parallel()
	got, err := ParseClouds(map[string]string{"Registry.example.org": "aws", "r.example.org:5000": "GCP"})
	if err != nil || got["registry.example.org"] != AWS || got["r.example.org:5000"] != GCP {
		t.Errorf("%v, %v", got, err)
	}
	for host, name := range map[string]string{"a": "moon", "https://a": "aws", "": "aws", "ann@a": "aws"} {
		if _, err := ParseClouds(map[string]string{host: name}); err == nil {
			t.Errorf("%s=%s is read", host, name)
		}
	}
}

func TestAPodWithoutAnIdentitySaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	s := testenv.NewAWS(t)
	other := map[string]string{
		"AWS_WEB_IDENTITY_TOKEN_FILE": "FILE", "AWS_ROLE_ARN": "arn:aws:iam::1:role/other", "AWS_ENDPOINT_URL_STS": s.URL(),
	}
	const ecr = "123456789012.dkr.ecr.eu-central-1.amazonaws.com"
	for name, c := range map[string]struct {
		of         Cloud
		env        map[string]string
		host, want string
	}{
		"AWS":                    {AWS, nil, ecr, "AWS_WEB_IDENTITY_TOKEN_FILE"},
		"Azure":                  {Azure, nil, "team.azurecr.io", "AZURE_FEDERATED_TOKEN_FILE"},
		"a role of another pod":  {AWS, other, ecr, "AWS_ROLE_ARN"},
		"what AWS calls that":    {AWS, other, ecr, "403 Forbidden, AccessDenied"},
		"an address without TLS": {AWS, map[string]string{"AWS_ENDPOINT_URL_STS": "http://127.0.0.1"}, ecr, "AWS_ENDPOINT_URL_STS"},
		"keys from elsewhere":    {AWS, map[string]string{"AWS_CONTAINER_CREDENTIALS_FULL_URI": "http://192.0.2.1/"}, ecr, "AWS_CONTAINER_CREDENTIALS_FULL_URI"},
	} {
		_, err := podWith(t, c.env, s.CA(), nil, nil).Keeper(c.of, web.Access{}).Secret(t.Context(), c.host, "a")
		if !errors.Is(err, ErrIdentity) || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "Zaubernuss") ||
			strings.Contains(err.Error(), testenv.PodToken) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
}
