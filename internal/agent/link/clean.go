package link

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
)

// hidden is what stands for a value that is not told.
const hidden = "***"

// CleanText takes user information and tokens out of the URLs in a text.
func CleanText(s string) string {
	if !strings.Contains(s, "://") {
		return s
	}
	return string(cleanURLs([]byte(s)))
}

// cleanURLs takes user information and tokens out of the URLs in a text or in JSON, which stays JSON. Who only names a user
// to SSH keeps it: that is part of the address, and no secret.
func cleanURLs(b []byte) []byte {
	sep := []byte("://")
	at := bytes.Index(b, sep)
	if at < 0 {
		return b
	}
	out := make([]byte, 0, len(b))
	for at >= 0 {
		scheme := schemeBefore(b[:at])
		out = append(out, b[:at+len(sep)]...)
		b = b[at+len(sep):]
		end := bytes.IndexAny(b, " \t\r\n\"'<>\\`,;(){}|")
		if end < 0 {
			end = len(b)
		}
		url := b[:end]
		host := bytes.IndexAny(url, "/?#")
		if host < 0 {
			host = len(url)
		}
		if i := bytes.LastIndexByte(url[:host], '@'); i >= 0 {
			if scheme != "ssh" || bytes.IndexByte(url[:i], ':') >= 0 {
				url, host = url[i+1:], host-i-1
			}
		}
		out = append(out, cleanQuery(url, host)...)
		b = b[end:]
		at = bytes.Index(b, sep)
	}
	return append(out, b...)
}

// schemeBefore returns the letters at the end of a text, in lower case.
func schemeBefore(b []byte) string {
	i := len(b)
	for i > 0 && (b[i-1]|0x20 >= 'a' && b[i-1]|0x20 <= 'z') {
		i--
	}
	return strings.ToLower(string(b[i:]))
}

// cleanQuery hides the values of parameters whose names speak of secrets.
func cleanQuery(url []byte, from int) []byte {
	q := bytes.IndexByte(url[from:], '?')
	if q < 0 {
		return url
	}
	q += from + 1
	parts := bytes.Split(url[q:], []byte("&"))
	changed := false
	for i, p := range parts {
		name, value, _ := bytes.Cut(p, []byte("="))
		lower := strings.ToLower(string(name))
		if len(value) > 0 && slices.ContainsFunc([]string{"token", "password", "passwd", "secret", "signature", "apikey", "api_key", "credential"},
			func(word string) bool { return strings.Contains(lower, word) }) {
			parts[i] = append(append(slices.Clone(name), '='), hidden...)
			changed = true
		}
	}
	if !changed {
		return url
	}
	return append(slices.Clone(url[:q]), bytes.Join(parts, []byte("&"))...)
}

// marshal writes JSON in which URLs stand as they are, and cleans them.
func marshal(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("write an item: %w", err)
	}
	return cleanURLs(bytes.TrimSuffix(buf.Bytes(), []byte("\n"))), nil
}

// Application returns what the server is told of an Application.
func Application(app *v1alpha1.Application) ([]byte, error) {
	out := *app
	out.APIVersion, out.Kind = v1alpha1.GroupVersion().String(), v1alpha1.KindApplication
	out.ManagedFields = nil
	out.Annotations = cleanAnnotations(out.Annotations)
	out.Operation = cleanOperation(out.Operation)
	if state := out.Status.OperationState; state != nil {
		one := *state
		if op := cleanOperation(&one.Operation); op != nil {
			one.Operation = *op
		}
		out.Status.OperationState = &one
	}
	return marshal(&out)
}

// cleanOperation returns an operation without local manifests: they may hold anything.
func cleanOperation(op *v1alpha1.Operation) *v1alpha1.Operation {
	if op == nil || op.Sync == nil || len(op.Sync.Manifests) == 0 {
		return op
	}
	out, sync := *op, *op.Sync
	sync.Manifests = nil
	out.Sync = &sync
	return &out
}

func cleanAnnotations(in map[string]string) map[string]string {
	if _, there := in[corev1.LastAppliedConfigAnnotation]; !there {
		return in
	}
	out := maps.Clone(in)
	delete(out, corev1.LastAppliedConfigAnnotation)
	return out
}

// Project returns what the server is told of an AppProject.
func Project(p *v1alpha1.AppProject) ([]byte, error) {
	out := *p
	out.APIVersion, out.Kind = v1alpha1.GroupVersion().String(), v1alpha1.KindAppProject
	out.ManagedFields = nil
	out.Annotations = cleanAnnotations(out.Annotations)
	return marshal(&out)
}

// Object returns what the server is told of an object as the API server sends it.
func Object(obj map[string]any) ([]byte, error) {
	out := maps.Clone(obj)
	if meta, ok := out["metadata"].(map[string]any); ok {
		meta = maps.Clone(meta)
		delete(meta, "managedFields")
		if notes, ok := meta["annotations"].(map[string]any); ok {
			notes = maps.Clone(notes)
			delete(notes, corev1.LastAppliedConfigAnnotation)
			meta["annotations"] = notes
		}
		out["metadata"] = meta
	}
	return marshal(out)
}
