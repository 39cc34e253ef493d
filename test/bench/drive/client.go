// Package drive runs the workloads of the benchmark against a cluster and an engine, and measures them. It waits on
// watches only: a benchmark that lists in a loop would measure itself.
package drive

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/slipway-gitops/slipway/test/bench/meter"
)

const (
	jsonType  = "application/json"
	mergeType = "application/merge-patch+json"
	applyType = "application/apply-patch+yaml"
	// namesType asks for a list without anything but metadata.
	namesType = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"

	// maxBody bounds one answer of the API server: the metrics page and lists of all objects fit well.
	maxBody = 512 << 20
)

// client is the barest client of an API server: no rate limit, no types, no cache. It counts what it sends, so that
// it can be distinguished from what the engine sends.
type client struct {
	http *http.Client
	base *url.URL
	ca   []byte // PEM, of the API server

	mu   sync.Mutex
	sent meter.Requests
}

// newClient connects to the cluster that a kubeconfig names.
func newClient(kubeconfig string) (*client, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("read kubeconfig %s: %w", kubeconfig, err)
	}
	config.UserAgent = "slipway-bench"
	transport, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", config.Host, err)
	}
	base, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", config.Host, err)
	}
	if err := rest.LoadTLSFiles(config); err != nil {
		return nil, fmt.Errorf("read kubeconfig %s: %w", kubeconfig, err)
	}
	return &client{http: transport, base: base, ca: config.CAData, sent: meter.Requests{}}, nil
}

// status is an answer other than success.
type status struct {
	code int
	text string
}

func (s *status) Error() string { return fmt.Sprintf("the API server answers %d: %s", s.code, s.text) }

// answered says that an error is an answer with this code.
func answered(err error, code int) bool {
	var s *status
	return errors.As(err, &s) && s.code == code
}

// call is one request.
type call struct {
	method, path string
	query        url.Values
	// contentType is that of the body, accept that of the answer: JSON unless it says otherwise.
	contentType, accept string
	body                []byte
}

// do sends one request and returns the body of the answer.
func (c *client) do(ctx context.Context, r call) ([]byte, error) {
	answer, err := c.open(ctx, r)
	if err != nil {
		return nil, err
	}
	defer answer.Close()
	text, err := io.ReadAll(io.LimitReader(answer, maxBody))
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", r.method, r.path, err)
	}
	return text, nil
}

// open is do for an answer that is read as it comes. The caller closes it.
func (c *client) open(ctx context.Context, r call) (io.ReadCloser, error) {
	target := *c.base
	target.Path = strings.TrimSuffix(target.Path, "/") + r.path
	target.RawQuery = r.query.Encode()
	request, err := http.NewRequestWithContext(ctx, r.method, target.String(), bytes.NewReader(r.body))
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", r.method, r.path, err)
	}
	request.Header.Set("Accept", cmp.Or(r.accept, jsonType))
	if len(r.body) > 0 {
		request.Header.Set("Content-Type", cmp.Or(r.contentType, jsonType))
	}
	c.count(r.kind())
	answer, err := c.http.Do(request)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", r.method, r.path, err)
	}
	if answer.StatusCode >= 300 {
		defer answer.Body.Close()
		text, _ := io.ReadAll(io.LimitReader(answer.Body, 2000))
		return nil, fmt.Errorf("%s %s: %w", r.method, r.path, &status{code: answer.StatusCode, text: string(bytes.TrimSpace(text))})
	}
	return answer.Body, nil
}

// apply sends one server-side apply.
func (c *client) apply(ctx context.Context, path, manager string, body []byte) error {
	_, err := c.do(ctx, call{
		method: http.MethodPatch, path: path, contentType: applyType, body: body,
		query: url.Values{"fieldManager": {manager}, "force": {"true"}},
	})
	return err
}

func (c *client) count(kind meter.Request) {
	c.mu.Lock()
	c.sent[kind]++
	c.mu.Unlock()
}

// sentSoFar is a copy of the counts.
func (c *client) sentSoFar() meter.Requests {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.sent)
}

// served reads what the API server has counted; nil when we may not read its metrics.
func (c *client) served(ctx context.Context) (meter.Requests, error) {
	page, err := c.open(ctx, call{method: http.MethodGet, path: "/metrics", accept: "text/plain"})
	if answered(err, http.StatusForbidden) || answered(err, http.StatusNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer page.Close()
	counts, err := meter.ServerRequests(page)
	if err != nil {
		return nil, fmt.Errorf("read metrics of the API server: %w", err)
	}
	return counts, nil
}

// kind names the request as the API server will count it.
func (r call) kind() meter.Request {
	parts := strings.Split(strings.Trim(r.path, "/"), "/")
	group := ""
	switch {
	case len(parts) >= 2 && parts[0] == "api":
		parts = parts[2:]
	case len(parts) >= 3 && parts[0] == "apis":
		group, parts = parts[1], parts[3:]
	default:
		parts = nil
	}
	if len(parts) >= 3 && parts[0] == "namespaces" {
		parts = parts[2:]
	}
	kind := meter.Request{Verb: r.method}
	if len(parts) > 0 {
		kind.Resource = parts[0]
		if group != "" {
			kind.Resource += "." + group
		}
	}
	if len(parts) > 2 {
		kind.Resource += "/" + parts[2]
	}
	switch {
	case r.method == http.MethodGet && r.query.Get("watch") != "":
		kind.Verb = "WATCH"
	case r.method == http.MethodGet && len(parts) == 1:
		kind.Verb = "LIST"
	case r.method == http.MethodDelete && len(parts) == 1:
		kind.Verb = "DELETECOLLECTION"
	case r.method == http.MethodPatch && r.contentType == applyType:
		kind.Verb = "APPLY"
	}
	return kind
}
