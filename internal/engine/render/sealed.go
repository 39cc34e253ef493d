package render

import (
	"bytes"
	"fmt"

	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/strict"
)

// checkSealed refuses an object that SOPS has encrypted: it would be deployed with ciphertext in place of its values. A SopsSecret is
// for an operator in the cluster.
func checkSealed(m *object.Manifest) error {
	if !bytes.Contains(m.JSON, []byte(`"sops":`)) || !bytes.Contains(m.JSON, []byte("ENC[AES256_GCM,")) || m.Key.Kind == "SopsSecret" {
		return nil
	}
	var top struct {
		SOPS struct {
			MAC string `json:"mac"`
		} `json:"sops"`
	}
	if err := strict.Decode(m.JSON, &top, strict.Unknown); err != nil || top.SOPS.MAC == "" {
		return nil //nolint:nilerr // its sops is something else
	}
	return fmt.Errorf("%s is encrypted with SOPS and was not decrypted: its project has no key; store the private key in a Secret with "+
		"the label argocd.argoproj.io/secret-type=sops, see docs/guide/secrets-in-git.md", m.Key)
}
