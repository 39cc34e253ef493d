// Package parity runs the conformance data of an Argo-CD-compatible engine against this one. The data is not part of
// this repository: the environment variable SLIPWAY_CONFORMANCE names its folder, by default ../shared/conformance
// beside the repository. A test whose data is absent is skipped.
package parity

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"sigs.k8s.io/yaml"
)

// dir finds the folder of one data set, or skips the test.
func dir(t *testing.T, set string) string {
	t.Helper()
	root := os.Getenv("SLIPWAY_CONFORMANCE")
	if root == "" {
		root = filepath.Join("..", "..", "..", "shared", "conformance") // tests run in their own folder
	}
	path := filepath.Join(root, set)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		t.Skipf("no conformance data at %s: set SLIPWAY_CONFORMANCE to its folder", path)
	} else if err != nil {
		t.Fatal(err)
	}
	return path
}

// read returns the content of a file of the data.
func read(t *testing.T, path ...string) []byte {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// loadYAML decodes a YAML or JSON file of the data into v.
func loadYAML(t *testing.T, v any, path ...string) {
	t.Helper()
	if err := yaml.Unmarshal(read(t, path...), v); err != nil {
		t.Fatalf("decode %s: %v", filepath.Join(path...), err)
	}
}

// loadLines decodes a file with one JSON value a line.
func loadLines[T any](t *testing.T, path ...string) []T {
	t.Helper()
	var out []T
	lines := bufio.NewScanner(bytes.NewReader(read(t, path...)))
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		var v T
		if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
			t.Fatalf("decode %s: %v", filepath.Join(path...), err)
		}
		out = append(out, v)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}
