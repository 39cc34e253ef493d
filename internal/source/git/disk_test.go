package gitsource_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// destroy empties every pack and object below dir.
func destroy(t testing.TB, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.Contains(path, "/objects/") {
			return err
		}
		return os.Remove(path)
	})
	if err != nil {
		t.Fatal(err)
	}
}

func upper(s string) string { return strings.ToUpper(s) }
