package cloud

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

// TestRequestsAreSignedAsTheDocumentationOfAWSShows has the example of its pages on Signature Version 4, and
// the same request signed in its address, whose signature was computed by another program.
func TestRequestsAreSignedAsTheDocumentationOfAWSShows(t *testing.T) {
	t.Parallel()
	at, err := url.Parse("https://iam.amazonaws.com/?Action=ListUsers&Version=2010-05-08")
	if err != nil {
		t.Fatal(err)
	}
	header := http.Header{"Content-Type": {"application/x-www-form-urlencoded; charset=utf-8"}}
	s := signed{
		method: http.MethodGet, at: at, header: header, region: "us-east-1", service: "iam", now: time.Date(2015, 8, 30, 12, 36, 0, 0, time.UTC),
	}
	by := keys{id: "AKIDEXAMPLE", secret: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"}
	s.sign(by)
	const want = "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/iam/aws4_request, SignedHeaders=content-type;host;x-amz-date, " +
		"Signature=5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7"
	if got := header.Get("Authorization"); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	by.session = "session/+"
	s.header = http.Header{"X-K8s-Aws-Id": {"shop"}}
	got := s.presign(by)
	for _, part := range []string{
		"https://iam.amazonaws.com/?Action=ListUsers&Version=2010-05-08&X-Amz-Algorithm=AWS4-HMAC-SHA256&", "X-Amz-Security-Token=session%2F%2B",
		"X-Amz-SignedHeaders=host%3Bx-k8s-aws-id", "X-Amz-Expires=60", "X-Amz-Date=20150830T123600Z",
		"X-Amz-Signature=687430beb6c9ddb8d9e1b35c9bfb53367b93d71aed3194b6c4f876a1a49925b6",
	} {
		if !strings.Contains(got, part) {
			t.Errorf("%s lacks %s", got, part)
		}
	}
	if at.RawQuery != "Action=ListUsers&Version=2010-05-08" {
		t.Errorf("the address that was given is changed: %s", at)
	}
}
