// Package manifest reads the files that commands are given: one or more Kubernetes objects as YAML or JSON, with limits,
// since such files come from anywhere.
package manifest

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"k8s.io/apimachinery/pkg/util/yaml"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// Limits of one file.
const (
	maxBytes     = 64 << 20
	maxDocuments = 20000
)

// Read returns the objects in file, "-" for stdin, in their order: empty documents are dropped and Lists unpacked.
// Whole numbers are int64.
func Read(file string, stdin io.Reader) ([]map[string]any, error) {
	in := stdin
	if file != "-" {
		f, err := os.Open(file) //nolint:gosec // the file is the user's own choice
		if err != nil {
			return nil, fmt.Errorf("read manifest: %w", err)
		}
		defer func() { _ = f.Close() }()
		in = f
	}
	raw, err := io.ReadAll(io.LimitReader(in, maxBytes+1))
	if err != nil {
		return nil, fmt.Errorf("read manifest %s: %w", file, err)
	}
	if len(raw) > maxBytes {
		return nil, fmt.Errorf("manifest %s is larger than %d MiB; split it", file, maxBytes>>20)
	}
	docs, err := parse(raw)
	if err != nil {
		return nil, fmt.Errorf("read manifest %s: %w", file, err)
	}
	if len(docs) == 0 {
		return nil, fmt.Errorf("manifest %s holds no object", file)
	}
	return docs, nil
}

func parse(raw []byte) ([]map[string]any, error) {
	reader := yaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(raw)))
	var out []map[string]any
	for n := 1; ; n++ {
		doc, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, fmt.Errorf("document %d: %w", n, err)
		}
		asJSON, err := sigsyaml.YAMLToJSONStrict(doc)
		if err != nil {
			return nil, fmt.Errorf("document %d: %w", n, err)
		}
		if string(asJSON) == "null" {
			continue
		}
		obj, err := object.DecodeJSON(asJSON)
		if err != nil {
			return nil, fmt.Errorf("document %d: %w", n, err)
		}
		if out = appendObject(out, obj); len(out) > maxDocuments {
			return nil, fmt.Errorf("more than %d objects; split the file", maxDocuments)
		}
	}
}

// appendObject appends obj, or the items of a List.
func appendObject(out []map[string]any, obj map[string]any) []map[string]any {
	items, isList := obj["items"].([]any)
	meta, _ := obj["metadata"].(map[string]any)
	if _, named := meta["name"]; !isList || named {
		return append(out, obj)
	}
	for _, item := range items {
		if o, ok := item.(map[string]any); ok {
			out = append(out, o)
		}
	}
	return out
}
