package stream

import (
	"context"
	"fmt"
	"net/http"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	ktypes "k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/slipway-gitops/slipway/internal/strict"
)

// Client lists and watches on one API server.
type Client struct {
	rest rest.Interface
	lean bool // only metadata is asked for
}

// Metadata returns a Client that lists and watches the metadata of objects alone.
func (c *Client) Metadata() *Client {
	return &Client{rest: c.rest, lean: true}
}

// NewClient makes a Client that shares the connections of httpClient.
func NewClient(cfg *rest.Config, httpClient *http.Client) (*Client, error) {
	c := rest.CopyConfig(cfg)
	c.GroupVersion = &schema.GroupVersion{}
	c.NegotiatedSerializer = negotiated{}
	c.AcceptContentTypes, c.ContentType = runtime.ContentTypeJSON, runtime.ContentTypeJSON
	client, err := rest.UnversionedRESTClientForConfigAndClient(c, httpClient)
	if err != nil {
		return nil, fmt.Errorf("make client for %s: %w", cfg.Host, err)
	}
	return &Client{rest: client}, nil
}

// ListWatch reads the collection at an absolute path such as /apis/apps/v1/deployments. narrow may set selectors; note
// is called with the result of each request. Both may be nil.
func (c *Client) ListWatch(path string, narrow func(*metav1.ListOptions), note func(error)) *cache.ListWatch {
	request := func(o metav1.ListOptions, kind string) *rest.Request {
		if narrow != nil {
			narrow(&o)
		}
		r := c.rest.Get().AbsPath(path).SpecificallyVersionedParams(&o, metav1.ParameterCodec, schema.GroupVersion{Version: "v1"})
		if c.lean {
			r = r.SetHeader("Accept", "application/json;as="+kind+";g=meta.k8s.io;v=v1,application/json")
		}
		return r
	}
	told := func(err error) {
		if note != nil {
			note(err)
		}
	}
	return &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			list := &List{}
			obj, err := request(o, "PartialObjectMetadataList").Do(ctx).Get()
			told(err)
			if l, ok := obj.(*List); ok {
				list = l
			}
			return list, err
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			o.Watch = true
			w, err := request(o, "PartialObjectMetadata").Watch(ctx)
			told(err)
			return w, err
		},
	}
}

// negotiated offers the codec for JSON, which every API server speaks.
type negotiated struct{}

// SupportedMediaTypes returns JSON alone.
func (negotiated) SupportedMediaTypes() []runtime.SerializerInfo {
	return []runtime.SerializerInfo{{
		MediaType: runtime.ContentTypeJSON, MediaTypeType: "application", MediaTypeSubType: "json", EncodesAsText: true,
		Serializer: codec{}, PrettySerializer: codec{}, StrictSerializer: codec{},
		StreamSerializer: &runtime.StreamSerializerInfo{EncodesAsText: true, Serializer: codec{}, Framer: json.Framer},
	}}
}

// EncoderForVersion returns the encoder as it is.
func (negotiated) EncoderForVersion(e runtime.Encoder, _ runtime.GroupVersioner) runtime.Encoder {
	return e
}

// DecoderToVersion returns the decoder as it is.
func (negotiated) DecoderToVersion(d runtime.Decoder, _ runtime.GroupVersioner) runtime.Decoder {
	return d
}

func types(uid string) ktypes.UID { return ktypes.UID(uid) }

// Patch changes the object at path and returns it as it is then.
func (c *Client) Patch(ctx context.Context, path string, how ktypes.PatchType, body []byte, manager string) ([]byte, error) {
	res := c.rest.Patch(how).AbsPath(path).Param("fieldManager", manager).Body(body).Do(ctx)
	if err := res.Error(); err != nil {
		return nil, err // in the server's own words
	}
	return res.Raw()
}

// Get returns the object at path as JSON.
func (c *Client) Get(ctx context.Context, path string) ([]byte, error) {
	res := c.rest.Get().AbsPath(path).Do(ctx)
	if err := res.Error(); err != nil {
		return nil, err // in the server's own words
	}
	return res.Raw()
}

// Post creates what body describes at path, and returns the answer.
func (c *Client) Post(ctx context.Context, path string, body []byte) ([]byte, error) {
	res := c.rest.Post().AbsPath(path).Body(body).Do(ctx)
	if err := res.Error(); err != nil {
		return nil, err // in the server's own words
	}
	return res.Raw()
}

// Page returns the metadata of the first objects of a collection, and how many there are beyond these.
func (c *Client) Page(ctx context.Context, path string, limit int) (*metav1.PartialObjectMetadataList, error) {
	res := c.rest.Get().AbsPath(path).Param("limit", strconv.Itoa(limit)).
		SetHeader("Accept", "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json").Do(ctx)
	if err := res.Error(); err != nil {
		return nil, err // in the server's own words
	}
	raw, err := res.Raw()
	if err != nil {
		return nil, err
	}
	var list metav1.PartialObjectMetadataList
	if err := strict.Decode(raw, &list, strict.Foreign); err != nil {
		return nil, fmt.Errorf("read the list of %s: %w", path, err)
	}
	return &list, nil
}
