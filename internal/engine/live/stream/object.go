// Package stream lists and watches objects of any kind as bytes: only their identity and version are read. The receiver
// decides whether its content is worth decoding; the echo of an own write, for example, is not.
package stream

import (
	"encoding/json"
	"errors"
	"io"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// errForeign is all that is shown of an answer that cannot be read: users choose the addresses of clusters, and errors of
// decoders quote what they read.
var errForeign = errors.New("what answers there is no API server, or its answer is cut off: check the address")

// Object is one object as the API server sent it. Of its metadata, only name, namespace, uid, resourceVersion, generation and
// the annotations of bookmarks are filled in.
type Object struct {
	metav1.TypeMeta
	metav1.ObjectMeta
	Raw []byte
}

// DeepCopyObject returns the object itself: it is never changed.
func (o *Object) DeepCopyObject() runtime.Object { return o }

// List is an answer to a list request.
type List struct {
	metav1.TypeMeta
	metav1.ListMeta
	Items []Object
}

// DeepCopyObject returns the list itself: it is never changed.
func (l *List) DeepCopyObject() runtime.Object { return l }

// head is what is read of every object.
type head struct {
	metav1.TypeMeta
	Metadata struct {
		Name            string            `json:"name"`
		Namespace       string            `json:"namespace"`
		UID             string            `json:"uid"`
		ResourceVersion string            `json:"resourceVersion"`
		Generation      int64             `json:"generation"`
		Continue        string            `json:"continue"`
		Remaining       *int64            `json:"remainingItemCount"`
		Annotations     map[string]string `json:"annotations"`
	} `json:"metadata"`
}

// parse reads the head of an object. Annotations are kept of bookmarks alone, which have no name.
func parse(raw []byte) (*Object, error) {
	var h head
	if err := json.Unmarshal(raw, &h); err != nil {
		return nil, errForeign
	}
	return h.object(raw), nil
}

func (h *head) object(raw []byte) *Object {
	o := &Object{TypeMeta: h.TypeMeta, Raw: raw}
	o.Name, o.Namespace, o.ResourceVersion = h.Metadata.Name, h.Metadata.Namespace, h.Metadata.ResourceVersion
	o.UID, o.Generation = types(h.Metadata.UID), h.Metadata.Generation
	if h.Metadata.Name == "" {
		o.Annotations = h.Metadata.Annotations
	}
	return o
}

// codec decodes what the API server sends into Object, List, Status and watch events. It encodes nothing.
type codec struct{}

var _ runtime.Serializer = codec{}

// Identifier names the codec, for caches of encoded objects; there are none.
func (codec) Identifier() runtime.Identifier { return "slipway-stream" }

// Encode always fails: the package only reads.
func (codec) Encode(runtime.Object, io.Writer) error { return errors.New("stream: nothing is encoded") }

// Decode reads one document.
func (codec) Decode(raw []byte, _ *schema.GroupVersionKind, into runtime.Object) (runtime.Object, *schema.GroupVersionKind, error) {
	if event, ok := into.(*metav1.WatchEvent); ok {
		if err := json.Unmarshal(raw, event); err != nil {
			return nil, nil, errForeign
		}
		return event, kindOf(metav1.TypeMeta{APIVersion: "v1", Kind: "WatchEvent"}), nil
	}
	var h struct {
		head
		Items []json.RawMessage `json:"items"`
	}
	if err := json.Unmarshal(raw, &h); err != nil {
		return nil, nil, errForeign
	}
	kind := kindOf(h.TypeMeta)
	switch {
	case h.Kind == "Status" && h.APIVersion == "v1":
		var status metav1.Status
		if err := json.Unmarshal(raw, &status); err != nil {
			return nil, nil, errForeign
		}
		return &status, kind, nil
	case strings.HasSuffix(h.Kind, "List") && h.Metadata.Name == "":
		list := &List{TypeMeta: h.TypeMeta, Items: make([]Object, 0, len(h.Items))}
		list.ResourceVersion, list.Continue, list.RemainingItemCount = h.Metadata.ResourceVersion, h.Metadata.Continue, h.Metadata.Remaining
		for _, item := range h.Items {
			o, err := parse(item)
			if err != nil {
				return nil, nil, err
			}
			list.Items = append(list.Items, *o)
		}
		return list, kind, nil
	}
	return h.object(raw), kind, nil
}

func kindOf(t metav1.TypeMeta) *schema.GroupVersionKind {
	kind := schema.FromAPIVersionAndKind(t.APIVersion, t.Kind)
	return &kind
}
