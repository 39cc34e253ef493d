// Package redact takes what is secret out of documents and texts that others will read: the audit, events, bundles for support.
package redact

import (
	"encoding/json"
	"reflect"
	"regexp"
	"strings"
	"unicode/utf8"

	"sigs.k8s.io/yaml"

	"github.com/slipway-gitops/slipway/internal/chain"
)

// What stands for a secret, and for one that is another than before.
const (
	hidden        = "(hidden)"
	hiddenChanged = "(hidden, changed)"
	tooDeep       = "(too deep)"
)

// Bounds of what is looked through.
const (
	maxDocument = 1 << 20
	maxNesting  = 60
	maxYAML     = 256 << 10
)

// JSON gives a JSON document without what is secret in it: the data of Kubernetes' Secrets, fields and variables
// whose names say so, credentials in URLs, and texts of the form of a known token, also within YAML that is a text. What
// is no JSON, or too long, is left out with a note of it.
func JSON(raw []byte) json.RawMessage {
	_, after := Pair(nil, raw)
	return after
}

// Pair does so for a document before and after a change, and reports of hidden values whether they changed.
func Pair(before, after []byte) (json.RawMessage, json.RawMessage) {
	b, okB := document(before)
	a, okA := document(after)
	r := redactor{}
	outB, outA := r.value("", b, nil, 0), r.value("", a, b, 0)
	var first, second json.RawMessage
	if okB {
		first = chain.EncodeJSON(outB)
	}
	if okA {
		second = chain.EncodeJSON(outA)
	}
	return first, second
}

func document(raw []byte) (any, bool) {
	if len(raw) == 0 {
		return nil, false
	}
	if len(raw) > maxDocument {
		return map[string]any{"omitted": "it was too long to be looked through"}, true
	}
	v, err := chain.DecodeJSON(raw)
	if err != nil {
		return map[string]any{"omitted": "it was no JSON"}, true
	}
	return v, true
}

// redactor counts what it hides.
type redactor struct{ count int }

func (r *redactor) hide(now, was any) any {
	r.count++
	if was != nil && !reflect.DeepEqual(now, was) {
		return hiddenChanged
	}
	return hidden
}

// value gives what is left of a value below a key; was is what was there before, or nil.
func (r *redactor) value(key string, now, was any, depth int) any {
	if depth > maxNesting {
		return tooDeep
	}
	if SecretKey(key) {
		return r.all(now, was, depth)
	}
	if text, ok := now.(string); ok && text != "" && strings.EqualFold(key, "auth") {
		return r.hide(now, was) // user and password of a registry
	}
	switch now := now.(type) {
	case map[string]any:
		return r.object(now, was, depth)
	case []any:
		return r.list(now, was, depth)
	case string:
		return r.text(now, depth)
	}
	return now
}

func (r *redactor) object(now map[string]any, was any, depth int) any {
	before, _ := was.(map[string]any)
	_, isSecret := now["kind"].(string)
	isSecret = isSecret && now["kind"] == "Secret"
	variable, _ := now["name"].(string)
	out := make(map[string]any, len(now))
	for key, value := range now {
		switch {
		case isSecret && (key == "data" || key == "stringData"), key == lastApplied, key == "value" && SecretKey(variable):
			out[key] = r.all(value, before[key], depth+1)
		default:
			out[key] = r.value(key, value, before[key], depth+1)
		}
	}
	return out
}

// lastApplied holds a whole object once more.
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

func (r *redactor) list(now []any, was any, depth int) any {
	before, _ := was.([]any)
	out := make([]any, len(now))
	for i, value := range now {
		var old any
		if i < len(before) {
			old = before[i]
		}
		if text, ok := value.(string); ok && i > 0 && text != "" {
			if flag, ok := now[i-1].(string); ok && strings.HasPrefix(flag, "-") && SecretKey(flag) {
				out[i] = r.hide(value, old)
				continue
			}
		}
		out[i] = r.value("", value, old, depth+1)
	}
	return out
}

// all hides every text and number of a value; keys, and whether something is set, stay.
func (r *redactor) all(now, was any, depth int) any {
	if depth > maxNesting {
		return tooDeep
	}
	switch now := now.(type) {
	case map[string]any:
		before, _ := was.(map[string]any)
		out := make(map[string]any, len(now))
		for key, value := range now {
			out[key] = r.all(value, before[key], depth+1)
		}
		return out
	case []any:
		before, _ := was.([]any)
		out := make([]any, len(now))
		for i, value := range now {
			var old any
			if i < len(before) {
				old = before[i]
			}
			out[i] = r.all(value, old, depth+1)
		}
		return out
	case nil, bool:
		return now
	case string:
		if now == "" {
			return now
		}
	}
	return r.hide(now, was)
}

// text looks into a text: YAML or JSON within it is read, other texts are looked through for what has the form of a
// secret.
func (r *redactor) text(s string, depth int) string {
	if strings.Contains(s, ":") && strings.ContainsAny(s, "\n{") && len(s) <= maxYAML {
		inner := redactor{}
		if out, ok := inner.documents(s, depth+1); ok {
			r.count += inner.count
			if inner.count > 0 {
				return out
			}
			return r.plain(s, false)
		}
		return r.plain(s, true)
	}
	return r.plain(s, false)
}

// documents redacts a text that is one or several documents of YAML.
func (r *redactor) documents(s string, depth int) (string, bool) {
	parts := separator.Split(s, -1)
	for i, part := range parts {
		if strings.TrimSpace(part) == "" {
			continue
		}
		var v any
		if yaml.Unmarshal([]byte(part), &v) != nil {
			return "", false
		}
		if _, ok := v.(string); ok {
			return "", false
		}
		before := r.count
		v = r.value("", v, nil, depth)
		if r.count == before {
			continue
		}
		out, err := yaml.Marshal(v)
		if err != nil {
			return "", false
		}
		parts[i] = string(out)
	}
	return strings.Join(parts, "---\n"), true
}

// plain replaces what has the form of a secret. Lines says that the text is one of lines with names and values.
func (r *redactor) plain(s string, lines bool) string {
	out := shaped(s)
	if lines {
		out = assignedLine.ReplaceAllString(out, "${1}"+hidden)
	}
	if out != s {
		r.count++
	}
	return out
}

var (
	separator = regexp.MustCompile(`(?m)^---[ \t]*\r?\n`)

	// assigned is a name of a secret, an equals sign and a value, as on command lines, in queries and in files of settings.
	assigned     = regexp.MustCompile(`(?i)([a-z0-9_.-]*(?:` + secretWords + `)\\?["']?=)(\\?["'][^"'\n]*["']?|[^\s&;,"']+)`)
	assignedJSON = regexp.MustCompile(`(?i)(\\?["'][a-z0-9_.-]*(?:` + secretWords +
		`)\\?["']\s*:\s*)(\\?["'](?:[^"'\\\n]|\\.)*["']?|[^\s&;,"'{}\[\]]+)`)
	assignedLine = regexp.MustCompile(`(?im)^(\s*(?:-\s+)?["']?[a-z0-9_.-]*(?:` + secretWords + `)["']?\s*[:=]\s*)\S.*$`)
	signature    = regexp.MustCompile(`(?i)([?&](?:sig|signature)=)[^&\s"'<>]+`)
	abbreviated  = regexp.MustCompile(`(?i:[_.-]pass)$|[a-z]Pass$`)
	header       = regexp.MustCompile(`(?i)\b(?:bearer|basic) +[a-z0-9._~+/=-]{8,}`)

	// shapes are texts that are secret wherever they stand.
	shapes = regexp.MustCompile(strings.Join([]string{
		`-----BEGIN[A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----(?s:.*?)(?:-----END[A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|\z)`,
		`\bslp_[a-z0-9]+_[a-z0-9]+`,
		`\bgh[a-z]_[A-Za-z0-9]{20,}`, `\bgithub_pat_[A-Za-z0-9_]{20,}`, `\bglpat-[A-Za-z0-9_.-]{16,}`, `\bxox[a-z]-[A-Za-z0-9-]{10,}`,
		`hooks\.slack\.com/services/[A-Za-z0-9/_-]+`, `\bAKIA[A-Z0-9]{16}\b`, `\bAGE-SECRET-KEY-1[A-Z0-9]{20,}`,
		`\bS[A-Z][A-Z2-7]{56}\b`, // seeds of NATS keys
		`\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*`,
		`\$argon2[a-z]*\$[^\s"']+`, `\$2[aby]\$[0-9]{2}\$[A-Za-z0-9./]{20,}`,
	}, "|"))
)

const secretWords = `password|passwd|passphrase|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|credentials?|authorization|x-amz-signature`

// Text gives a text without credentials in URLs, tokens of known forms and values that follow the name of a secret.
func Text(s string) string { return shaped(strings.ToValidUTF8(s, "�")) }

// shaped replaces what has the form of a secret in valid UTF-8.
func shaped(s string) string {
	s = shapes.ReplaceAllString(s, hidden)
	s = Addresses(s)
	s = header.ReplaceAllStringFunc(s, func(found string) string {
		scheme, value, _ := strings.Cut(found, " ")
		if !strings.ContainsAny(value, "0123456789=ABCDEFGHIJKLMNOPQRSTUVWXYZ") {
			return found // words of a sentence, such as basic authentication
		}
		return scheme + " " + hidden
	})
	s = signature.ReplaceAllString(s, "${1}"+hidden)
	s = assignedJSON.ReplaceAllString(s, `${1}"`+hidden+`"`)
	return assigned.ReplaceAllString(s, "${1}"+hidden)
}

// SecretKey says whether the name of a field or a variable says that its value is secret.
func SecretKey(name string) bool {
	if name == "" || len(name) > 300 {
		return false
	}
	var b strings.Builder
	for _, c := range []byte(strings.ToLower(name)) {
		if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c >= utf8.RuneSelf {
			b.WriteByte(c)
		}
	}
	n := b.String()
	switch n {
	case "existingsecret", "imagepullsecret":
		return false // the name of one
	case "pass", "pwd", "secrets", "passwords", "tokens", "credential", "authorization", "cookie", "setcookie", "sealed", "keydata",
		"tlsclientcertkey", "kubeconfig", "githubappprivatekey", "gcpserviceaccountkey", "dockerconfigjson":
		return true
	}
	for _, end := range []string{
		"password", "passwd", "passphrase", "secret", "token", "privatekey", "apikey", "secretkey", "accesskey", "encryptionkey",
		"signingkey", "credentials", "passwordhash", "kubeconfig", "connectionstring", "pwd",
	} {
		if strings.HasSuffix(n, end) {
			return true
		}
	}
	return abbreviated.MatchString(name)
}
