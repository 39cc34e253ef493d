package project

import (
	"fmt"
	"strings"
	"testing"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
)

func asking(t *testing.T, cosign string) (Integrity, error) {
	t.Helper()
	p := &v1alpha1.AppProject{}
	p.Annotations = map[string]string{v1alpha1.AnnotationSourceIntegrity: `{oci: {policies: [{repos: [{url: "*"}], cosign: ` + cosign + `}]}}`}
	rules, err := New(p)
	if err != nil {
		return Integrity{}, err
	}
	return rules.Integrity(v1alpha1.ApplicationSource{RepoURL: "oci://registry.example/team/web:1.0"})
}

func TestTheIdentitiesThatMaySignAnArtifact(t *testing.T) {
	t.Parallel()
	const subject = "https://git.example/team/web/.github/workflows/release.yaml@refs/tags/v1"
	for name, c := range map[string]struct {
		cosign                string // without root and issuer
		root, issuer, subject string
		allowed               bool
	}{
		"the subject":                       {`subject: "` + subject + `"`, "public", "https://i", subject, true},
		"another root":                      {`subject: "` + subject + `"`, "other", "https://i", subject, false},
		"another issuer":                    {`subject: "` + subject + `"`, "public", "https://i/", subject, false},
		"an issuer with more":               {`subject: "` + subject + `"`, "public", "https://i.evil", subject, false},
		"a subject with more":               {`subject: "` + subject + `"`, "public", "https://i", subject + "0", false},
		"a subject with less":               {`subject: "` + subject + `"`, "public", "https://i", subject[:len(subject)-1], false},
		"more in front":                     {`subject: "` + subject + `"`, "public", "https://i", "x" + subject, false},
		"other letters":                     {`subject: "` + subject + `"`, "public", "https://i", strings.ToUpper(subject), false},
		"a star is no pattern":              {`subject: "*"`, "public", "https://i", subject, false},
		"nothing":                           {`subject: "` + subject + `"`, "public", "https://i", "", false},
		"an expression":                     {`subjectRegexp: 'https://git\.example/team/.*@refs/tags/v[0-9]+'`, "public", "https://i", subject, true},
		"an expression of a part":           {`subjectRegexp: 'git\.example/team'`, "public", "https://i", subject, false},
		"an expression, more behind":        {`subjectRegexp: 'https://git\.example/team/.*@refs/tags/v[0-9]+'`, "public", "https://i", subject + "-evil", false},
		"an expression, a line behind":      {`subjectRegexp: '(?m)https://git\.example/team/.*@refs/tags/v[0-9]+$'`, "public", "https://i", subject + "\nx", false},
		"alternatives are bound as a whole": {`subjectRegexp: 'x|https://git'`, "public", "https://i", subject, false},
		"an expression, another issuer":     {`subjectRegexp: '.*'`, "public", "https://evil", subject, false},
		"a long subject":                    {`subjectRegexp: '.*'`, "public", "https://i", strings.Repeat("x", 1<<20), false},
	} {
		got, err := asking(t, `{keyless: [{root: public, issuer: "https://i", `+c.cosign+`}]}`)
		if err != nil || !got.Asks() || len(got.Cosign) > 0 || len(got.Identities) != 1 {
			t.Errorf("%s: %+v, %v", name, got, err)
			continue
		}
		if allowed := got.Identities[0].Allows(c.root, c.issuer, c.subject); allowed != c.allowed {
			t.Errorf("%s: %v", name, allowed)
		}
	}
}

func TestAPolicyForIdentitiesThatSaysTooLittleIsRefused(t *testing.T) {
	t.Parallel()
	const whole = `root: public, issuer: "https://i", subject: s`
	many := "{keyless: [" + strings.Repeat("{"+whole+"},", maxIdentities+1) + "]}"
	restless := "{keyless: [" + strings.Repeat(`{root: public, issuer: "https://i", subjectRegexp: "(x+)+"},`, maxIdentities) + "]}"
	for name, c := range map[string]struct{ cosign, want string }{
		"nothing":               {`{}`, "no cosign with keys or keyless"},
		"an empty list":         {`{keyless: []}`, "no cosign with keys or keyless"},
		"both":                  {`{keys: [a], keyless: [{` + whole + `}]}`, "has keys and keyless"},
		"no root":               {`{keyless: [{issuer: "https://i", subject: s}]}`, "has no root"},
		"no issuer":             {`{keyless: [{root: public, subject: s}]}`, "has no issuer"},
		"no subject":            {`{keyless: [{root: public, issuer: "https://i"}]}`, "one of subject and subjectRegexp"},
		"two subjects":          {`{keyless: [{` + whole + `, subjectRegexp: s}]}`, "one of subject and subjectRegexp"},
		"an unknown field":      {`{keyless: [{` + whole + `, issuerRegexp: ".*"}]}`, "issuerRegexp"},
		"a field in capitals":   {`{keyless: [{` + whole + `, Root: x}]}`, "Root"},
		"a kind of root":        {`{keyless: [{` + whole + `}], rekor: {url: x}}`, "rekor"},
		"no expression":         {`{keyless: [{root: public, issuer: "https://i", subjectRegexp: "("}]}`, "cannot be read"},
		"one that closes ours":  {`{keyless: [{root: public, issuer: "https://i", subjectRegexp: "a)|(?:.*"}]}`, "cannot be read"},
		"a long expression":     {fmt.Sprintf(`{keyless: [{root: public, issuer: "https://i", subjectRegexp: %q}]}`, strings.Repeat("x", 300)), "longer than 256 bytes"},
		"a long subject":        {fmt.Sprintf(`{keyless: [{root: public, issuer: "https://i", subject: %q}]}`, strings.Repeat("x", 2000)), "more than 1024 bytes"},
		"many":                  {many, "more than 100 identities"},
		"expressions that grow": {strings.Replace(restless, "]}", strings.Repeat(`]}}, {repos: [{url: "x"}], cosign: `+restless, 2)+"]}", 1), ""},
	} {
		if _, err := asking(t, c.cosign); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
