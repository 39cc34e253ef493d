package declared

import (
	"encoding/base64"
	"regexp"
	"strings"

	"github.com/slipway-gitops/slipway/internal/engine/render/document"
	"github.com/slipway-gitops/slipway/internal/legible"
	"github.com/slipway-gitops/slipway/internal/redact"
	"github.com/slipway-gitops/slipway/internal/strict"
)

// maxWords is how many bytes of what a plugin says of its failure are shown.
const maxWords = 2000

// secretKind finds a Secret in a text.
var secretKind = regexp.MustCompile(`(?i)\bkind["']?\s*[:=]\s*["']?Secret\b|\bstringData\b`)

// words are what a plugin says of its failure, for people: without what looks like a secret, and without the values of Secrets that it
// had printed by then. They begin with ": " where there are any.
func words(stderr, stdout []byte) string {
	text := strings.TrimSpace(string(stderr))
	if text == "" {
		return ""
	}
	known, ok := secretsIn(stdout)
	if !ok || secretKind.MatchString(text) {
		return "; what it says has a Secret in it, and is not shown: run it on your machine to see it"
	}
	return ": " + legible.Text(redact.NewKnown(known...).Text(redact.Text(text)), maxWords)
}

// unreached is how programs say that they reach nothing on the network.
var unreached = regexp.MustCompile(`(?i)could ?n[o']t (resolve|connect)|not resolve|name resolution|no such host|network is unreachable|` +
	`failed to connect|connection refused|socket: operation not permitted|dial (tcp|udp)`)

// hint says what confines a plugin where what it says of its failure is about that; it begins with "; " then.
func (j *job) hint(stderr []byte) string {
	if !j.box().Network && unreached.Match(stderr) {
		return "; the plugin has no network: annotate its declaration with " + AnnotationNetwork + `: "true" if it needs one`
	}
	return ""
}

// secretsIn lists the values of Secrets in output that may be cut short; ok says that they could be found.
func secretsIn(stdout []byte) (values []string, ok bool) {
	if !secretKind.Match(stdout) {
		return nil, true
	}
	set := document.NewSet(maxOutput, 10_000)
	if set.AddYAML("output", stdout) != nil {
		return nil, false
	}
	for _, m := range set.Manifests() {
		if !secretKind.Match(m.JSON) {
			continue
		}
		var s struct {
			Data       map[string]string `json:"data"`
			StringData map[string]string `json:"stringData"`
		}
		if strict.Decode(m.JSON, &s, strict.Unknown, strict.Foreign) != nil {
			return nil, false
		}
		for _, value := range s.StringData {
			values = append(values, value)
		}
		for _, value := range s.Data {
			values = append(values, value)
			if plain, err := base64.StdEncoding.DecodeString(value); err == nil {
				values = append(values, string(plain))
			}
		}
	}
	return values, true
}
