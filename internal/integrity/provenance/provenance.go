// Package provenance judges Helm charts by their provenance files: texts that an OpenPGP key signed, which name the chart and the
// digest of its archive. The text, the digest of the archive that is deployed and public keys go in; a verdict comes out.
package provenance

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/slipway-gitops/slipway/internal/integrity"
	"github.com/slipway-gitops/slipway/internal/legible"
	"github.com/slipway-gitops/slipway/internal/strict"
)

// MaxText bounds a provenance file, in bytes. It holds the Chart.yaml of the chart, and little more.
const MaxText = 256 << 10

// OtherChart is the code of a provenance file that is about another chart or version than the one that is deployed.
const OtherChart integrity.Code = "signature of another chart"

const (
	maxFiles = 100
	maxShown = 80 // bytes of a name in a message
)

// Question asks about one archive of a chart.
type Question struct {
	Text    []byte // the provenance file; empty where there is none
	Keys    *integrity.Keyring
	Allowed []string // ids or fingerprints of the keys that the project allows
	Now     time.Time

	Chart   string // name of the chart that is deployed
	Version string // that is deployed; "" where only its digest is asked for
	File    string // name of the archive; "" for that which Helm gives it
	Digest  string // of the archive that was fetched, "sha256:…"
}

// Verdict is what was found about a chart that may be deployed.
type Verdict struct {
	Signer integrity.Signer
	Until  time.Time // when the signature or its key expires; zero for never
}

// Fault is why a chart is not trusted.
type Fault struct {
	Code   integrity.Code
	Key    string // id of the key; "" where it is not known
	Detail string // more, where the code does not say enough
}

// signed is what a provenance file says.
type signed struct {
	name, version string
	files         map[string]string
}

// Judge verifies a provenance file, and that it is about the archive. Nothing of it is read before its signature is verified.
func Judge(q Question) (Verdict, *Fault) {
	if len(q.Text) > MaxText {
		return Verdict{}, &Fault{Code: integrity.Unreadable, Detail: fmt.Sprintf("the provenance file has more than %d KiB", MaxText>>10)}
	}
	clear, wrong := q.Keys.ClearSigned(q.Text, q.Allowed, q.Now)
	if wrong != nil {
		return Verdict{}, &Fault{Code: wrong.Code, Key: wrong.Key, Detail: wrong.Detail}
	}
	fault := func(code integrity.Code, format string, args ...any) (Verdict, *Fault) {
		return Verdict{}, &Fault{Code: code, Key: clear.Signer.Key, Detail: fmt.Sprintf(format, args...)}
	}
	s, err := read(clear.Text)
	if err != nil {
		return fault(integrity.Unreadable, "%v", err)
	}
	if s.name != q.Chart || q.Version != "" && plain(s.version) != plain(q.Version) {
		return fault(OtherChart, "it is of %s %s", legible.Line(s.name, maxShown), legible.Line(s.version, maxShown))
	}
	file := q.File
	if file == "" {
		file = s.name + "-" + s.version + ".tgz"
	}
	switch digest, named := s.files[file]; {
	case !named:
		return fault(integrity.OtherContent, "it does not name the archive %s", legible.Line(file, maxShown))
	case !strings.HasPrefix(q.Digest, "sha256:") || digest != q.Digest:
		return fault(integrity.OtherContent, "it names %s for the archive %s, which has %s", legible.Line(digest, maxShown),
			legible.Line(file, maxShown), q.Digest)
	}
	return Verdict{Signer: clear.Signer, Until: clear.Until}, nil
}

// plain writes a version as its tag in a registry may have it: "v1.0.0" is "1.0.0", and "_" stands for "+".
func plain(version string) string {
	return strings.ReplaceAll(strings.TrimPrefix(version, "v"), "_", "+")
}

// read reads what is signed: the Chart.yaml, a line of three dots, and the digests of archives.
func read(text []byte) (s signed, err error) {
	parts := bytes.Split(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")), []byte("\n...\n"))
	if len(parts) != 2 {
		return s, fmt.Errorf("the signed text has %d parts in place of two: sign it with helm package --sign", len(parts))
	}
	var meta struct {
		Name    string `json:"name"`
		Version string `json:"version"`
	}
	var sums struct {
		Files map[string]string `json:"files"`
	}
	for part, into := range []any{&meta, &sums} {
		raw, err := yaml.YAMLToJSONStrict(parts[part])
		if err == nil {
			err = strict.Decode(raw, into, strict.Foreign)
		}
		if err != nil {
			return s, fmt.Errorf("part %d of the signed text is not what Helm writes there: sign it with helm package --sign", part+1)
		}
	}
	if len(sums.Files) > maxFiles {
		return s, fmt.Errorf("it names more than %d archives", maxFiles)
	}
	return signed{meta.Name, meta.Version, sums.Files}, nil
}

// String states a fault, with what to do about it.
func (f Fault) String() string {
	out := fmt.Sprintf("%s (key_id=%s)", f.Code, f.Key)
	if f.Detail != "" {
		out += ": " + f.Detail
	}
	return out + "; " + f.next()
}

func (f Fault) next() string {
	switch f.Code {
	case integrity.UnknownKey:
		return "add the public key to the agent (slipway gpg add), or sign with a key that is there"
	case integrity.UnallowedKey:
		return "sign with a key that the project allows, or have the project allow this one"
	case integrity.OtherContent, OtherChart:
		return "package and sign the chart again, and look who changed the archive or its provenance file"
	case integrity.ExpiredKey, integrity.ExpiredSignature, integrity.RevokedKey, integrity.Unsuitable:
		return "sign it again with a valid key; or update the public key on the agent, where its owner renewed it"
	}
	return "sign it with a key that the project allows (helm package --sign), and publish the .prov file beside the archive"
}
