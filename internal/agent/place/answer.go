package place

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"regexp"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/net"

	"github.com/slipway-gitops/slipway/internal/agent/credential"
	"github.com/slipway-gitops/slipway/internal/outward"
	"github.com/slipway-gitops/slipway/internal/strict"
)

// maxRefusal is what is read of an error of an API server.
const maxRefusal = 256 << 10

// errMoved says that a cluster redirects. No API server does that, and where it leads to is a word of what answers there.
var errMoved = errors.New("it redirects elsewhere, which is not followed: use the address of the API server itself")

// silenced is an error of a connection in words of ours. Its cause is for those who decide by it, and is not printed.
type silenced struct{ cause error }

// Error is the reason alone.
func (s *silenced) Error() string { return outward.Reason(s.cause, errMoved) }

// Unwrap gives the cause.
func (s *silenced) Unwrap() error { return s.cause }

// discreet passes on the errors of API servers, and takes the text out of all others: users choose the addresses of clusters,
// and must not read what other services answer there.
type discreet struct{ http.RoundTripper }

var _ net.RoundTripperWrapper = discreet{}

// RoundTrip implements http.RoundTripper.
func (d discreet) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := d.RoundTripper.RoundTrip(r)
	if err == nil && resp.StatusCode >= http.StatusMultipleChoices && resp.StatusCode < http.StatusBadRequest {
		err = errors.Join(errMoved, resp.Body.Close())
	}
	if own := (*credential.Error)(nil); errors.As(err, &own) {
		return nil, own // nothing was asked of the cluster
	}
	if err != nil {
		return nil, &silenced{err}
	}
	if resp.StatusCode < http.StatusBadRequest {
		return resp, nil
	}
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if kind == "application/vnd.kubernetes.protobuf" {
		return resp, nil
	}
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxRefusal))
	if closed := resp.Body.Close(); err == nil {
		err = closed
	}
	var status metav1.Status
	known := err == nil && kind == "application/json" && strict.Decode(raw, &status, strict.Foreign) == nil
	if !known || status.Kind != "Status" || status.APIVersion != "v1" {
		raw = nil
		resp.Header.Set("Content-Type", "application/json") // a text would be reported unchanged
	}
	resp.Status = outward.Status(resp.StatusCode)
	resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(raw)), int64(len(raw))
	return resp, nil
}

// WrappedRoundTripper implements net.RoundTripperWrapper.
func (d discreet) WrappedRoundTripper() http.RoundTripper { return d.RoundTripper }

// RefusalOf is why a cluster could not be used, without the words of what answered.
func RefusalOf(err error) error {
	var status apierrors.APIStatus
	if errors.As(err, &status) && status.Status().Code > 0 {
		return fmt.Errorf("it answers with %s", outward.Status(int(status.Status().Code)))
	}
	return errors.New(outward.Reason(err))
}

// VersionOf is the version of a cluster; "" for a text that is none.
func VersionOf(text string) string {
	return regexp.MustCompile(`^v?\d{1,3}\.\d{1,3}\.\d{1,4}`).FindString(text)
}
