package place

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/transport"
)

// RefusedInShadow is the error of a write in shadow mode.
const RefusedInShadow = "shadow mode writes nothing"

// RefuseWrites lets requests pass that change nothing: reads and dry runs, and answers others with why. It stands between
// the agent and every API server, so that shadow mode does not depend on each place that could write.
func RefuseWrites(log *slog.Logger, why string) transport.WrapperFunc {
	return func(next http.RoundTripper) http.RoundTripper {
		return RoundTripper(func(req *http.Request) (*http.Response, error) {
			if harmless(req) {
				return next.RoundTrip(req)
			}
			log.Error("a request was refused", "method", req.Method, "path", req.URL.Path, "err", why)
			return refusal(req, why)
		})
	}
}

// harmless reports whether a request changes nothing in the cluster.
func harmless(req *http.Request) bool {
	switch req.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
		return true
	case http.MethodPatch, http.MethodPut:
		dry := req.URL.Query()["dryRun"]
		return len(dry) > 0 && !slices.ContainsFunc(dry, func(v string) bool { return v != metav1.DryRunAll })
	}
	return false
}

// refusal answers a request as an API server would that allows none of its kind.
func refusal(req *http.Request, why string) (*http.Response, error) {
	return answer(req, http.StatusMethodNotAllowed, metav1.StatusReasonMethodNotAllowed, why)
}

// answer answers a request with a Status of an API server.
func answer(req *http.Request, code int, reason metav1.StatusReason, why string) (*http.Response, error) {
	if req.Body != nil {
		req.Body.Close()
	}
	body, err := json.Marshal(metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusFailure,
		Code: int32(code), Reason: reason, Message: why, //nolint:gosec // a code of HTTP
	})
	if err != nil {
		return nil, fmt.Errorf("encode refusal: %w", err)
	}
	return &http.Response{
		Status: fmt.Sprintf("%d %s", code, http.StatusText(code)), StatusCode: code, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(bytes.NewReader(body)),
		ContentLength: int64(len(body)), Request: req,
	}, nil
}

// RoundTripper is a function as an http.RoundTripper.
type RoundTripper func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (f RoundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }
