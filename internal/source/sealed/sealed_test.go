package sealed_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/slipway-gitops/slipway/internal/sops"
	"github.com/slipway-gitops/slipway/internal/source"
	"github.com/slipway-gitops/slipway/internal/source/dirtree"
	"github.com/slipway-gitops/slipway/internal/source/sealed"
)

// made is where the files are that sops made.
const made = "../../sops/testdata/"

func read(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(made + name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// open makes a tree of files that are decrypted with keys.
func open(t *testing.T, files map[string][]byte, note func([]string), keys ...string) *sealed.Tree {
	t.Helper()
	root := t.TempDir()
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(root, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tree, err := dirtree.Open(root, "1")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tree.Close() })
	ring := &sops.Ring{}
	for _, name := range keys {
		if err := ring.Add(name, read(t, name)); err != nil {
			t.Fatal(err)
		}
	}
	return sealed.New(tree, sealed.Keys{Ring: ring, Holder: "project shop", Advice: "add the key", Note: note})
}

func TestAFileIsDecryptedAsItIsRead(t *testing.T) {
	t.Parallel()
	var noted []string
	tree := open(t, map[string][]byte{"secret.yaml": read(t, "encrypted/secret.yaml"), "plain.yaml": []byte("a: b\n")},
		func(values []string) { noted = append(noted, values...) }, "one.agekey")
	got, err := tree.ReadFile("secret.yaml")
	if err != nil || !strings.Contains(string(got), "plum-Tree-4711-lantern") {
		t.Fatalf("%s, %v", got, err)
	}
	if !strings.Contains(strings.Join(noted, " "), "plum-Tree-4711-lantern") {
		t.Errorf("noted %d values without the secret", len(noted))
	}
	if got, err := tree.ReadFile("plain.yaml"); err != nil || string(got) != "a: b\n" {
		t.Errorf("%s, %v", got, err)
	}
	sum, err := tree.Sum("secret.yaml")
	if want, _ := tree.Tree.Sum("secret.yaml"); err != nil || sum != want {
		t.Errorf("the sum is not that of what is stored: %s, %v", sum, err)
	}
}

func TestAFileThatCannotBeDecryptedIsAnError(t *testing.T) {
	t.Parallel()
	broken := []byte(strings.Replace(string(read(t, "encrypted/secret.yaml")), "name: database", "name: other", 1))
	tree := open(t, map[string][]byte{"other.yaml": read(t, "encrypted/other.yaml"), "broken.yaml": broken}, nil, "one.agekey")
	for name, want := range map[string]string{"other.yaml": "project shop has other keys: add the key", "broken.yaml": "not as SOPS wrote it"} {
		got, err := tree.ReadFile(name)
		if !errors.Is(err, source.ErrSealed) || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), want) || got != nil {
			t.Errorf("%s: %q and %v", name, got, err)
		}
	}
	if _, err := tree.ReadFile("none.yaml"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
}

func TestWhatAnOperatorDecryptsIsLeftAlone(t *testing.T) {
	t.Parallel()
	stored := []byte(strings.Replace(string(read(t, "encrypted/secret.yaml")), "kind: Secret", "kind: SopsSecret", 1))
	tree := open(t, map[string][]byte{"secret.yaml": stored}, nil, "one.agekey")
	if got, err := tree.ReadFile("secret.yaml"); err != nil || string(got) != string(stored) {
		t.Errorf("%s, %v", got, err)
	}
}

func TestASealedTreeGivesOutNoEncryptedFile(t *testing.T) {
	t.Parallel()
	tree := open(t, map[string][]byte{"secret.yaml": read(t, "encrypted/secret.yaml"), "plain.yaml": []byte("a: b\n")}, nil, "one.agekey").Sealed()
	if got, err := tree.ReadFile("secret.yaml"); !errors.Is(err, source.ErrSealed) || got != nil && strings.Contains(string(got), "plum") {
		t.Errorf("%s, %v", got, err)
	}
	if got, err := tree.ReadFile("plain.yaml"); err != nil || string(got) != "a: b\n" {
		t.Errorf("%s, %v", got, err)
	}
}
