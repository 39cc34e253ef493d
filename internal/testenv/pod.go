package testenv

import (
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// PodToken is the token of the service account of a pod, and PodRole its role at AWS.
const (
	PodToken = "pod-token"
	PodRole  = "arn:aws:iam::123456789012:role/agent"
)

// PodEnviron gives the variables of a pod. The value FILE becomes the path of a file with PodToken.
func PodEnviron(t testing.TB, values map[string]string) func(name string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte(PodToken+"\n"), 0o600); err != nil {
		t.Fatalf("write token: %v", err)
	}
	return func(name string) string {
		if values[name] == "FILE" {
			return file
		}
		return values[name]
	}
}

// Metadata starts the metadata server of a node at Google Cloud, whose pod has a token for an hour, and returns its host.
func Metadata(t testing.TB, token string) (host string) {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Metadata-Flavor") != "Google" || r.URL.Path != "/computeMetadata/v1/instance/service-accounts/default/token" {
			http.Error(w, "Zaubernuss", http.StatusForbidden)
			return
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"access_token": token, "expires_in": 3599, "token_type": "Bearer"})
	}))
	t.Cleanup(s.Close)
	return strings.TrimPrefix(s.URL, "http://")
}

// AWS stands in for its token service, for the agent of EKS Pod Identity, and for ECR in eu-central-1. It ends with the test.
type AWS struct {
	Now func() time.Time

	web  *httptest.Server
	node *httptest.Server

	mu    sync.Mutex
	asked []string
}

// NewAWS starts one. Keys last an hour, passwords of ECR 12.
func NewAWS(t testing.TB) *AWS {
	t.Helper()
	a := &AWS{Now: time.Now}
	a.web, a.node = httptest.NewTLSServer(http.HandlerFunc(a.serve)), httptest.NewServer(http.HandlerFunc(a.podIdentity))
	t.Cleanup(a.Close)
	return a
}

// URL is the address of STS and ECR, Node that of the agent of EKS Pod Identity.
func (a *AWS) URL() string { return a.web.URL }

// Node is the address of the agent of EKS Pod Identity.
func (a *AWS) Node() string { return a.node.URL + "/v1/credentials" }

// CA is the PEM certificate that vouches for the services.
func (a *AWS) CA() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.web.Certificate().Raw})
}

// Close ends the services.
func (a *AWS) Close() { a.web.Close(); a.node.Close() }

// Asked is what was asked for, each with the key that signed the request.
func (a *AWS) Asked() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return append([]string{}, a.asked...)
}

func (a *AWS) note(r *http.Request, what string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, rest, signed := strings.Cut(r.Header.Get("Authorization"), "Credential="); signed {
		key, _, _ := strings.Cut(rest, "/")
		what += " by " + key + " with " + r.Header.Get("X-Amz-Security-Token")
	}
	a.asked = append(a.asked, what)
}

func (a *AWS) serve(w http.ResponseWriter, r *http.Request) {
	if target := r.Header.Get("X-Amz-Target"); target != "" {
		a.ecr(w, r, target)
		return
	}
	action, role := r.FormValue("Action"), r.FormValue("RoleArn")
	ok, key := r.FormValue("Version") == "2011-06-15" && r.FormValue("RoleSessionName") != "", "ASIAOTHER"
	if action == "AssumeRoleWithWebIdentity" {
		ok, key = ok && r.FormValue("WebIdentityToken") == PodToken && role == PodRole, "ASIAROLE"
	} else {
		ok = ok && action == "AssumeRole" && strings.HasPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 Credential=ASIA")
	}
	if !ok {
		http.Error(w, "<ErrorResponse><Error><Code>AccessDenied</Code><Message>Zaubernuss</Message></Error></ErrorResponse>",
			http.StatusForbidden)
		return
	}
	a.note(r, action+" of "+role)
	fmt.Fprintf(w, `<%[1]sResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><%[1]sResult><Credentials>`+
		`<AccessKeyId>%[2]s</AccessKeyId><SecretAccessKey>planted</SecretAccessKey>`+
		`<SessionToken>session-%[2]s</SessionToken><Expiration>%[3]s</Expiration>`+
		`</Credentials></%[1]sResult></%[1]sResponse>`, action, key, a.ends())
}

func (a *AWS) ends() string { return a.Now().Add(time.Hour).UTC().Format(time.RFC3339) }

func (a *AWS) podIdentity(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/v1/credentials" || r.Header.Get("Authorization") != PodToken {
		http.Error(w, "Zaubernuss", http.StatusUnauthorized)
		return
	}
	a.note(r, "pod identity")
	_ = json.NewEncoder(w).Encode(map[string]string{
		"AccessKeyId": "ASIANODE", "SecretAccessKey": "planted", "Token": "session-ASIANODE", "Expiration": a.ends(),
	})
}

func (a *AWS) ecr(w http.ResponseWriter, r *http.Request, target string) {
	auth := r.Header.Get("Authorization")
	if target != "AmazonEC2ContainerRegistry_V20150921.GetAuthorizationToken" ||
		r.Header.Get("Content-Type") != "application/x-amz-json-1.1" ||
		!strings.Contains(auth, "/eu-central-1/ecr/aws4_request, SignedHeaders=content-type;host;x-amz-date;x-amz-security-token;x-amz-target,") {
		http.Error(w, "Zaubernuss", http.StatusBadRequest)
		return
	}
	a.note(r, "password")
	fmt.Fprintf(w, `{"authorizationData":[{"authorizationToken":%q,"expiresAt":%d.5}]}`,
		base64.StdEncoding.EncodeToString([]byte("AWS:ecr-password")), a.Now().Add(12*time.Hour).Unix())
}
