package registrylogin

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// signed is a request that is signed by Signature Version 4 of AWS.
type signed struct {
	method          string
	at              *url.URL // its query must be sorted and encoded
	header          http.Header
	body            string
	region, service string
	now             time.Time
}

// sign adds what signs a request to its header. All of the header is signed.
func sign(s signed, by role) {
	at := s.now.UTC().Format("20060102T150405Z")
	s.header.Set("X-Amz-Date", at)
	if by.session != "" {
		s.header.Set("X-Amz-Security-Token", by.session)
	}
	headers := map[string]string{"host": s.at.Host}
	for name, values := range s.header {
		headers[strings.ToLower(name)] = strings.Join(strings.Fields(strings.Join(values, ",")), " ")
	}
	names := slices.Sorted(maps.Keys(headers))
	var canonical strings.Builder
	canonical.WriteString(s.method + "\n" + pathOf(s.at) + "\n" + s.at.RawQuery + "\n")
	for _, name := range names {
		canonical.WriteString(name + ":" + headers[name] + "\n")
	}
	list := strings.Join(names, ";")
	canonical.WriteString("\n" + list + "\n" + hexHash(s.body))

	day := at[:8]
	scope := day + "/" + s.region + "/" + s.service + "/aws4_request"
	text := "AWS4-HMAC-SHA256\n" + at + "\n" + scope + "\n" + hexHash(canonical.String())
	key := []byte("AWS4" + by.secret)
	for _, part := range []string{day, s.region, s.service, "aws4_request", text} {
		key = mac(key, part)
	}
	s.header.Set("Authorization",
		"AWS4-HMAC-SHA256 Credential="+by.id+"/"+scope+", SignedHeaders="+list+", Signature="+hex.EncodeToString(key))
}

func pathOf(u *url.URL) string {
	if u.Path == "" {
		return "/"
	}
	return u.EscapedPath()
}

func hexHash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

func mac(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}
