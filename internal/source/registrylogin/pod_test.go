package registrylogin

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/slipway-gitops/slipway/internal/source/web"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

// TestRequestsAreSignedAsTheDocumentationOfAWSShows has the example of its pages on Signature Version 4.
func TestRequestsAreSignedAsTheDocumentationOfAWSShows(t *testing.T) {
	t.Parallel()
	at, err := url.Parse("https://iam.amazonaws.com/?Action=ListUsers&Version=2010-05-08")
	if err != nil {
		t.Fatal(err)
	}
	header := http.Header{"Content-Type": {"application/x-www-form-urlencoded; charset=utf-8"}}
	sign(signed{
		method: http.MethodGet, at: at, header: header, region: "us-east-1", service: "iam", now: time.Date(2015, 8, 30, 12, 36, 0, 0, time.UTC),
	}, role{id: "AKIDEXAMPLE", secret: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"})
	const want = "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/iam/aws4_request, SignedHeaders=content-type;host;x-amz-date, " +
		"Signature=5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7"
	if got := header.Get("Authorization"); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// service is a stand-in for a service of a cloud.
func service(t testing.TB, f http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(f)
	t.Cleanup(s.Close)
	return s
}

func environment(t testing.TB, values map[string]string) func(string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte("pod-token\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, value := range values {
		if value == "FILE" {
			values[name] = file
		}
	}
	return func(name string) string { return values[name] }
}

// ecrService answers as STS, EKS Pod Identity and ECR do.
func ecrService(t testing.TB, asked *atomic.Int64, ends func() time.Time) *httptest.Server {
	t.Helper()
	return service(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.FormValue("Action") == "AssumeRoleWithWebIdentity":
			if r.FormValue("WebIdentityToken") != "pod-token" || r.FormValue("RoleArn") != "arn:aws:iam::123456789012:role/agent" || r.FormValue("RoleSessionName") == "" || r.FormValue("Version") != "2011-06-15" {
				http.Error(w, "<ErrorResponse><Error><Code>AccessDenied</Code><Message>Zaubernuss</Message></Error></ErrorResponse>", http.StatusForbidden)
				return
			}
			fmt.Fprint(w, `<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleWithWebIdentityResult><Credentials>`+
				`<AccessKeyId>ASIA1</AccessKeyId><SecretAccessKey>key</SecretAccessKey><SessionToken>session</SessionToken><Expiration>2030-01-01T00:00:00Z</Expiration>`+
				`</Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>`)
		case r.URL.Path == "/v1/credentials":
			if r.Header.Get("Authorization") != "pod-token" {
				http.Error(w, "no", http.StatusUnauthorized)
				return
			}
			fmt.Fprint(w, `{"AccessKeyId":"ASIA2","SecretAccessKey":"key","Token":"session","Expiration":"2030-01-01T00:00:00Z"}`)
		case r.Header.Get("X-Amz-Target") == "AmazonEC2ContainerRegistry_V20150921.GetAuthorizationToken":
			asked.Add(1)
			auth := r.Header.Get("Authorization")
			if !strings.HasPrefix(auth, "AWS4-HMAC-SHA256 Credential=ASIA") || !strings.Contains(auth, "/eu-central-1/ecr/aws4_request") ||
				!strings.Contains(auth, "SignedHeaders=content-type;host;x-amz-date;x-amz-security-token;x-amz-target,") ||
				r.Header.Get("X-Amz-Security-Token") != "session" || r.Header.Get("Content-Type") != "application/x-amz-json-1.1" {
				http.Error(w, "no", http.StatusBadRequest)
				return
			}
			fmt.Fprintf(w, `{"authorizationData":[{"authorizationToken":%q,"expiresAt":%d.5,"proxyEndpoint":"https://123456789012.dkr.ecr.eu-central-1.amazonaws.com"}]}`,
				base64.StdEncoding.EncodeToString([]byte("AWS:ecr-password")), ends().Unix())
		default:
			http.NotFound(w, r)
		}
	})
}

func TestThePodOfAWSGetsAPasswordOfECR(t *testing.T) {
	t.Parallel()
	for name, of := range map[string]map[string]string{
		"IRSA": {
			"AWS_WEB_IDENTITY_TOKEN_FILE": "FILE", "AWS_ROLE_ARN": "arn:aws:iam::123456789012:role/agent", "AWS_REGION": "eu-central-1", "AWS_ENDPOINT_URL_STS": "URL",
		},
		"EKS Pod Identity": {"AWS_CONTAINER_CREDENTIALS_FULL_URI": "URL/v1/credentials", "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE": "FILE"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			now := time.Now()
			var asked atomic.Int64
			s := ecrService(t, &asked, func() time.Time { return now.Add(12 * time.Hour) })
			of["AWS_ENDPOINT_URL_ECR"] = s.URL
			for variable, value := range of {
				of[variable] = strings.Replace(value, "URL", s.URL, 1)
			}
			pod := NewPod(PodOptions{Getenv: environment(t, of), Now: func() time.Time { return now }})
			const host = "123456789012.dkr.ecr.eu-central-1.amazonaws.com"
			for _, step := range []struct {
				after time.Duration
				want  int64
			}{{0, 1}, {11 * time.Hour, 1}, {55 * time.Minute, 2}, {time.Second, 2}} {
				now = now.Add(step.after)
				got, err := pod.Keeper(AWS, web.Access{}).Secret(t.Context(), host, "app")
				if err != nil || got.Username != "AWS" || got.Password != "ecr-password" || !got.Ends.After(now) {
					t.Fatalf("%v, %v", got, err)
				}
				if n := asked.Load(); n != step.want {
					t.Errorf("after %v ECR was asked %d times, want %d", step.after, n, step.want)
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
	s := service(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Metadata-Flavor") != "Google" || r.URL.Path != "/computeMetadata/v1/instance/service-accounts/default/token" {
			http.Error(w, "no", http.StatusForbidden)
			return
		}
		fmt.Fprint(w, `{"access_token":"ya29.x","expires_in":3599,"token_type":"Bearer"}`)
	})
	pod := NewPod(PodOptions{Getenv: environment(t, map[string]string{"GCE_METADATA_HOST": strings.TrimPrefix(s.URL, "http://")})})
	got, err := pod.Keeper(GCP, web.Access{}).Secret(t.Context(), "europe-docker.pkg.dev", "p/r/app")
	if err != nil || got.Username != "oauth2accesstoken" || got.Password != "ya29.x" || time.Until(got.Ends) < 50*time.Minute {
		t.Errorf("%v, %v", got, err)
	}
}

func TestThePodOfAzureGetsARefreshTokenOfItsRegistry(t *testing.T) {
	t.Parallel()
	entra := service(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/tenant-1/oauth2/v2.0/token" || r.FormValue("client_id") != "client-1" || r.FormValue("client_assertion") != "pod-token" ||
			r.FormValue("scope") != azureAudience || r.FormValue("grant_type") != "client_credentials" {
			http.Error(w, "no", http.StatusBadRequest)
			return
		}
		fmt.Fprint(w, `{"access_token":"entra","expires_in":3599,"token_type":"Bearer"}`)
	})
	registry := testenv.OCI(t, testenv.OCITLS(), testenv.OCITokens("any", "acr-refresh"))
	registry.PushFiles("app", "1", map[string]string{"a": "b"})
	registry.Intercept(func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/oauth2/exchange" {
			return false
		}
		if r.FormValue("access_token") != "entra" || r.FormValue("service") != registry.Host() || r.FormValue("grant_type") != "access_token" || r.FormValue("tenant") != "tenant-1" {
			http.Error(w, "no", http.StatusUnauthorized)
			return true
		}
		fmt.Fprint(w, `{"refresh_token":"acr-refresh"}`)
		return true
	})
	pod := NewPod(PodOptions{
		Getenv: environment(t, map[string]string{
			"AZURE_FEDERATED_TOKEN_FILE": "FILE", "AZURE_TENANT_ID": "tenant-1", "AZURE_CLIENT_ID": "client-1", "AZURE_AUTHORITY_HOST": entra.URL + "/",
		}),
		Outbound: loopback(t), Registries: map[string]Cloud{registry.Host(): Azure},
	})
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
	pod := NewPod(PodOptions{Getenv: func(string) string { return "" }, Registries: map[string]Cloud{"mirror.example.org": AWS}})
	for host, of := range map[string]Cloud{
		"123456789012.dkr.ecr.eu-central-1.amazonaws.com": AWS, "123456789012.dkr.ecr-fips.us-gov-west-1.amazonaws.com": AWS,
		"123456789012.dkr-ecr.eu-west-1.on.aws": AWS, "123456789012.dkr.ecr.cn-north-1.amazonaws.com.cn": AWS, "mirror.example.org": AWS,
		"europe-docker.pkg.dev": GCP, "gcr.io": GCP, "eu.gcr.io": GCP, "team.azurecr.io": Azure,
		"123456789012.dkr.ecr.eu-central-1.amazonaws.com.example.org": "", "evil.example.org": "", "azurecr.io": "", "evilgcr.io": "", "docker.pkg.dev": "",
		"12345.dkr.ecr.eu-central-1.amazonaws.com": "", "123456789012.dkr.ecr.x.example.amazonaws.com": "", "team.azurecr.io:8443": "", "127.0.0.1": "",
	} {
		for _, cloud := range []Cloud{AWS, GCP, Azure} {
			if got := pod.owns(cloud, host); got != (cloud == of) {
				t.Errorf("%s of %s: %t", host, cloud, got)
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
	for host, cloud := range map[string]string{"a": "moon", "https://a": "aws", "": "aws", "ann@a": "aws"} {
		if _, err := ParseClouds(map[string]string{host: cloud}); err == nil {
			t.Errorf("%s=%s is read", host, cloud)
		}
	}
}

func TestAPodWithoutAnIdentitySaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	for cloud, c := range map[Cloud]struct{ host, want string }{
		AWS: {"123456789012.dkr.ecr.eu-central-1.amazonaws.com", "AWS_WEB_IDENTITY_TOKEN_FILE"}, Azure: {"team.azurecr.io", "AZURE_FEDERATED_TOKEN_FILE"},
	} {
		pod := NewPod(PodOptions{Getenv: func(string) string { return "" }})
		if _, err := pod.Keeper(cloud, web.Access{}).Secret(t.Context(), c.host, "a"); !errors.Is(err, ErrIdentity) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", cloud, err, c.want)
		}
	}
	var asked atomic.Int64
	s := ecrService(t, &asked, time.Now)
	pod := NewPod(PodOptions{Getenv: environment(t, map[string]string{
		"AWS_WEB_IDENTITY_TOKEN_FILE": "FILE", "AWS_ROLE_ARN": "arn:aws:iam::1:role/other", "AWS_ENDPOINT_URL_STS": s.URL,
	})})
	_, err := pod.Keeper(AWS, web.Access{}).Secret(t.Context(), "123456789012.dkr.ecr.eu-central-1.amazonaws.com", "a")
	if !errors.Is(err, ErrIdentity) || strings.Contains(err.Error(), "Zaubernuss") || strings.Contains(err.Error(), "pod-token") {
		t.Errorf("%v", err)
	}
}
