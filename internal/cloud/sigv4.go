package cloud

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

const sigv4 = "AWS4-HMAC-SHA256"

// sign adds what signs a request to its header. All of the header is signed.
func (s signed) sign(by keys) {
	s.header.Set("X-Amz-Date", s.stamp())
	if by.session != "" {
		s.header.Set("X-Amz-Security-Token", by.session)
	}
	_, names := s.headers()
	s.header.Set("Authorization", sigv4+" Credential="+by.id+"/"+s.scope()+", SignedHeaders="+names+", Signature="+s.signature(by))
}

// presign is the address of a request that its holder may send for a minute, with the header of this one.
func (s signed) presign(by keys) string {
	_, names := s.headers()
	query := s.at.Query()
	for name, value := range map[string]string{
		"Algorithm": sigv4, "Credential": by.id + "/" + s.scope(), "Date": s.stamp(), "Expires": "60", "SignedHeaders": names,
		"Security-Token": by.session,
	} {
		if value != "" {
			query.Set("X-Amz-"+name, value)
		}
	}
	at := *s.at
	at.RawQuery = strings.ReplaceAll(query.Encode(), "+", "%20")
	s.at = &at
	signature := s.signature(by)
	at.RawQuery += "&X-Amz-Signature=" + signature
	return at.String()
}

func (s signed) stamp() string { return s.now.UTC().Format("20060102T150405Z") }

func (s signed) scope() string {
	return s.stamp()[:8] + "/" + s.region + "/" + s.service + "/aws4_request"
}

// headers are the lines that are signed, and their names.
func (s signed) headers() (lines, names string) {
	all := map[string]string{"host": s.at.Host}
	for name, values := range s.header {
		all[strings.ToLower(name)] = strings.Join(strings.Fields(strings.Join(values, ",")), " ")
	}
	sorted := slices.Sorted(maps.Keys(all))
	for _, name := range sorted {
		lines += name + ":" + all[name] + "\n"
	}
	return lines, strings.Join(sorted, ";")
}

// signature is that of the request in canonical form.
func (s signed) signature(by keys) string {
	path := s.at.EscapedPath()
	if path == "" {
		path = "/"
	}
	lines, names := s.headers()
	request := strings.Join([]string{s.method, path, s.at.RawQuery, lines, names, hexHash(s.body)}, "\n")
	key := []byte("AWS4" + by.secret)
	for part := range strings.SplitSeq(s.scope(), "/") {
		key = mac(key, part)
	}
	return hex.EncodeToString(mac(key, strings.Join([]string{sigv4, s.stamp(), s.scope(), hexHash(request)}, "\n")))
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
