// Package apply carries a plan out: one server-side apply per changed object, deletions last, nothing for objects
// that are as wanted. Requests adapt to the API server's answers.
package apply

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/slipway-gitops/slipway/internal/engine/guard"
	"github.com/slipway-gitops/slipway/internal/engine/live"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// Client makes the engine's requests to one API server.
type Client struct {
	rest    rest.Interface
	limiter *Limiter
	now     func() time.Time
	ensured sync.Map // object.Key -> hash of the manifest that was applied by Ensure
}

// requestTimeout bounds one request, admission webhooks included (their own limit is 30 s).
const requestTimeout = 60 * time.Second

// NewClient makes a Client. The configuration's own rate limit is not used: the Limiter adapts instead.
func NewClient(cfg *rest.Config) (*Client, error) {
	c := rest.CopyConfig(cfg)
	c.QPS, c.Burst = -1, -1
	c.GroupVersion = &schema.GroupVersion{}
	c.NegotiatedSerializer = serializer.WithoutConversionCodecFactory{CodecFactory: serializer.NewCodecFactory(statusScheme())}
	c.AcceptContentTypes, c.ContentType = "application/json", "application/json"
	client, err := rest.UnversionedRESTClientFor(c)
	if err != nil {
		return nil, fmt.Errorf("make client for %s: %w", cfg.Host, err)
	}
	return &Client{rest: client, limiter: NewLimiter(), now: time.Now}, nil
}

// Limiter returns the limiter, for metrics.
func (c *Client) Limiter() *Limiter { return c.limiter }

// do runs one request within the limiter.
func (c *Client) do(ctx context.Context, build func() *rest.Request) ([]byte, error) {
	if err := c.limiter.Acquire(ctx); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	start := c.now()
	raw, err := build().Do(ctx).Raw()
	end := c.now()
	overloaded := apierrors.IsTooManyRequests(err) || apierrors.IsServerTimeout(err) || apierrors.IsTimeout(err) ||
		apierrors.IsServiceUnavailable(err)
	c.limiter.Release(end.Sub(start), overloaded, end)
	return raw, statusError(raw, err)
}

// statusError prefers the server's own words, which Raw leaves in the body.
func statusError(raw []byte, err error) error {
	if err == nil {
		return nil
	}
	var known apierrors.APIStatus
	var status metav1.Status
	if json.Unmarshal(raw, &status) == nil && status.Kind == "Status" && status.Message != "" {
		if !errors.As(err, &known) || known.Status().Message != status.Message {
			return &apierrors.StatusError{ErrStatus: status}
		}
	}
	return err
}

// Apply sends one manifest by server-side apply, taking over fields that others hold, and returns the object as the
// API server made it. With dryRun nothing is stored. A field that the kind does not have is refused; the API server is
// spared its own search for fields that come twice, which no manifest has.
func (c *Client) Apply(ctx context.Context, res live.Resource, m object.Manifest, dryRun bool) (map[string]any, error) {
	return c.object(ctx, dryRun, func() *rest.Request {
		return c.rest.Patch(types.ApplyPatchType).
			AbsPath(res.Path(m.Version, m.Key.Namespace, m.Key.Name)).
			Param("fieldManager", live.Manager).Param("force", "true").
			Param("fieldValidation", metav1.FieldValidationIgnore).
			Body(m.JSON)
	})
}

// create makes an object that is not there yet: what is there is refused as AlreadyExists, and left as it is.
func (c *Client) create(ctx context.Context, res live.Resource, m object.Manifest, validation string, dryRun bool) (map[string]any, error) {
	return c.object(ctx, dryRun, func() *rest.Request {
		return c.rest.Post().AbsPath(res.Path(m.Version, m.Key.Namespace, "")).
			Param("fieldManager", live.Replacer).Param("fieldValidation", validation).
			Body(m.JSON)
	})
}

// update writes the whole of an object that is there; body says at which resourceVersion.
func (c *Client) update(ctx context.Context, res live.Resource, m object.Manifest, body []byte, validation string,
	dryRun bool,
) (map[string]any, error) {
	return c.object(ctx, dryRun, func() *rest.Request {
		return c.rest.Put().AbsPath(res.Path(m.Version, m.Key.Namespace, m.Key.Name)).
			Param("fieldManager", live.Replacer).Param("fieldValidation", validation).
			Body(body)
	})
}

// patch changes an object by a JSON patch.
func (c *Client) patch(ctx context.Context, res live.Resource, key object.Key, operations []operation) error {
	_, err := c.patched(ctx, res, key, operations)
	return err
}

// patched changes an object by a JSON patch, and returns what came of it.
func (c *Client) patched(ctx context.Context, res live.Resource, key object.Key, operations []operation) (map[string]any, error) {
	body, err := json.Marshal(operations)
	if err != nil {
		return nil, fmt.Errorf("encode patch of %s: %w", key, err)
	}
	return c.object(ctx, false, func() *rest.Request {
		return c.rest.Patch(types.JSONPatchType).AbsPath(res.Path(res.Version, key.Namespace, key.Name)).
			Param("fieldManager", live.Manager).Body(body)
	})
}

// operation is one step of a JSON patch.
type operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value"`
}

// object runs a request that answers with an object.
func (c *Client) object(ctx context.Context, dryRun bool, build func() *rest.Request) (map[string]any, error) {
	raw, err := c.do(ctx, func() *rest.Request {
		r := build()
		if dryRun {
			r = r.Param("dryRun", metav1.DryRunAll)
		}
		return r
	})
	if err != nil {
		return nil, err
	}
	return object.DecodeJSON(raw)
}

// Get reads one object at the version that live state is read at.
func (c *Client) Get(ctx context.Context, res live.Resource, key object.Key) (map[string]any, error) {
	raw, err := c.do(ctx, func() *rest.Request {
		return c.rest.Get().AbsPath(res.Path(res.Version, key.Namespace, key.Name))
	})
	if err != nil {
		return nil, err
	}
	return object.DecodeJSON(raw)
}

// Delete deletes one object if it still is the one with uid, and the guard's leave covers it. An object that is gone already is
// no error.
func (c *Client) Delete(ctx context.Context, leave guard.Leave, res live.Resource, key object.Key, uid string,
	how metav1.DeletionPropagation,
) error {
	if err := leave.Check(key); err != nil {
		return err
	}
	id := types.UID(uid)
	options := metav1.DeleteOptions{PropagationPolicy: &how}
	if uid != "" {
		options.Preconditions = &metav1.Preconditions{UID: &id}
	}
	options.Kind, options.APIVersion = "DeleteOptions", "v1"
	body, err := json.Marshal(options)
	if err != nil {
		return fmt.Errorf("encode delete options: %w", err)
	}
	_, err = c.do(ctx, func() *rest.Request {
		return c.rest.Delete().AbsPath(res.Path(res.Version, key.Namespace, key.Name)).Body(body)
	})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// Retriable reports whether an error is temporary: the API server is away, overloaded, or raced with others.
func Retriable(err error) bool {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return err != nil && !errors.Is(err, context.Canceled)
	}
	if misfit(err) {
		return false
	}
	code := status.Status().Code
	return code == http.StatusTooManyRequests || code >= http.StatusInternalServerError || code == http.StatusConflict
}

// Ensure makes an object that only has to exist: it is applied once, and again only when the manifest changes.
func (c *Client) Ensure(ctx context.Context, res live.Resource, m object.Manifest) error {
	hash := m.Hash()
	if done, ok := c.ensured.Load(m.Key); ok && done == hash {
		return nil
	}
	if _, err := c.Apply(ctx, res, m, false); err != nil {
		return err
	}
	c.ensured.Store(m.Key, hash)
	return nil
}

// Found notes that an object is as Ensure would make it.
func (c *Client) Found(m object.Manifest) { c.ensured.Store(m.Key, m.Hash()) }

// Ensured reports whether an object was made by Ensure, from the same manifest.
func (c *Client) Ensured(m object.Manifest) bool {
	done, ok := c.ensured.Load(m.Key)
	return ok && done == m.Hash()
}

// Missed forgets that an object was ensured: the API server says that it does not exist.
func (c *Client) Missed(key object.Key) { c.ensured.Delete(key) }

// statusScheme knows the API server's answers about failures and nothing else: objects pass as bytes.
func statusScheme() *runtime.Scheme {
	s := runtime.NewScheme()
	metav1.AddToGroupVersion(s, schema.GroupVersion{Version: "v1"})
	return s
}
