package agent

import (
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/slipway-gitops/slipway/internal/agent/credential"
)

// signLimit bounds one request to a cloud.
const signLimit = 20 * time.Second

// newSigner makes what signs in to clusters with the identity of this process.
func newSigner(commands []string) *credential.Maker {
	transport := &http.Transport{
		Proxy: http.ProxyFromEnvironment, TLSHandshakeTimeout: signLimit, ResponseHeaderTimeout: signLimit, MaxIdleConnsPerHost: 1,
		IdleConnTimeout: time.Minute, ForceAttemptHTTP2: true,
	}
	var pass []string
	for _, variable := range os.Environ() {
		for _, prefix := range []string{"PATH=", "HOME=", "AWS_", "AZURE_", "GOOGLE_", "CLOUDSDK_", "HTTPS_PROXY=", "NO_PROXY="} {
			if strings.HasPrefix(variable, prefix) {
				pass = append(pass, variable)
			}
		}
	}
	return &credential.Maker{
		Commands: commands, Environ: os.Getenv, Now: time.Now, Pass: pass, Client: &http.Client{
			Transport: transport, Timeout: signLimit,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
}
