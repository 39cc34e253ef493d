package node

import (
	"bytes"
	"io"
	"net/http"
)

// lasting makes KWOK try again to change a pod or a node where the API server ended, or was not ready, in between. KWOK drops
// a change after all other errors than refused connections and a few statuses, and nothing looks at the pod again: it would be
// pending for ever.
type lasting struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper. An answer that another attempt can change is given as 503, which KWOK takes up again.
func (l lasting) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := l.next.RoundTrip(r)
	reads := r.Method == http.MethodGet || r.Method == http.MethodHead
	switch {
	case reads, r.Context().Err() != nil:
		return answer, err
	case err == nil && !passing(answer.StatusCode):
		return answer, nil
	case err == nil:
		_ = answer.Body.Close()
	}
	const status = `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"ServiceUnavailable","code":503}`
	return &http.Response{
		Status: "503 Service Unavailable", StatusCode: http.StatusServiceUnavailable, Request: r,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(bytes.NewReader([]byte(status))), ContentLength: int64(len(status)),
	}, nil
}

// passing reports whether a status may be another one soon: of an API server that starts, which knows no roles yet, or ends.
func passing(status int) bool {
	return status == http.StatusUnauthorized || status == http.StatusForbidden || status >= http.StatusInternalServerError
}
