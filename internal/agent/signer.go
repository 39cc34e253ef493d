package agent

import (
	"os"
	"strings"

	"github.com/slipway-gitops/slipway/internal/agent/credential"
	"github.com/slipway-gitops/slipway/internal/cloud"
)

// newSigner makes what signs in to clusters with the identity of this process.
func newSigner(commands []string, keeper *cloud.Keeper) *credential.Maker {
	var pass []string
	for _, variable := range os.Environ() {
		for _, prefix := range []string{"PATH=", "HOME=", "AWS_", "AZURE_", "GOOGLE_", "CLOUDSDK_", "HTTPS_PROXY=", "NO_PROXY="} {
			if strings.HasPrefix(variable, prefix) {
				pass = append(pass, variable)
			}
		}
	}
	return &credential.Maker{Commands: commands, Pass: pass, Keeper: keeper}
}
