package cause

import (
	"regexp"
	"strings"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/legible"
	"github.com/slipway-gitops/slipway/internal/redact"
)

// Bounds of the texts of one finding, in bytes.
const (
	maxSentence = 500
	maxNext     = 1000
	maxEvidence = 700
	maxName     = 253
	maxLogLine  = 400
	// maxRaw is how much of a text is looked through for secrets before it is cut: half a secret is not known as one.
	maxRaw = 16 << 10
)

// Say makes one legible line of a text from a cluster, without what looks like a secret, and shortens its middle to limit bytes
// and a mark. It is the only way out for such texts.
func Say(foreign string, limit int) string {
	if len(foreign) > maxRaw {
		foreign = foreign[:maxRaw]
	}
	return strings.TrimSpace(object.Middle(legible.Line(redact.Text(foreign), 3*maxRaw), limit))
}

// clean brings every text of a finding through Say.
func clean(f *api.Finding) {
	f.What, f.Next = Say(f.What, maxSentence), Say(f.Next, maxNext)
	f.Container = Say(f.Container, maxName)
	f.Of, f.Object = cleanName(f.Of), cleanName(f.Object)
	for i := range f.Evidence {
		e := &f.Evidence[i]
		e.Text, e.Container, e.Object = Say(e.Text, maxEvidence), Say(e.Container, maxName), cleanName(e.Object)
	}
}

func cleanName(n api.ObjectName) api.ObjectName {
	return api.ObjectName{
		Group: Say(n.Group, maxName), Kind: Say(n.Kind, maxName), Namespace: Say(n.Namespace, maxName), Name: Say(n.Name, maxName),
	}
}

// beheaded is the end of a private key whose beginning was in an earlier line.
var beheaded = regexp.MustCompile(`(?s)\A.*?-----END[A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----`)

// LogLines makes legible lines of the end of a log: MaxLogLines at most, each bounded, without what looks like a secret. The
// first line may be a part of one.
func LogLines(raw []byte) []string {
	whole := strings.ToValidUTF8(string(raw), "\uFFFD")
	if begin, end := strings.Index(whole, "-----BEGIN"), strings.Index(whole, "-----END"); end >= 0 && (begin < 0 || begin > end) {
		whole = beheaded.ReplaceAllLiteralString(whole, "(hidden)")
	}
	lines := strings.Split(strings.TrimRight(redact.Text(whole), "\r\n"), "\n")
	lines = lines[max(0, len(lines)-api.MaxLogLines):]
	out := make([]string, 0, len(lines))
	for _, line := range lines {
		out = append(out, legible.Line(strings.TrimRight(line, "\r"), maxLogLine))
	}
	if len(out) == 1 && out[0] == "" {
		return nil
	}
	return out
}
