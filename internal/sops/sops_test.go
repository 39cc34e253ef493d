package sops_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/slipway-gitops/slipway/internal/sops"
)

// ring takes private keys that test/sops/make.sh made.
func ring(t *testing.T, names ...string) *sops.Ring {
	t.Helper()
	r := &sops.Ring{}
	for _, name := range names {
		if err := r.Add(name, file(t, name)); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

func file(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// open decrypts a file that sops made.
func open(t *testing.T, name string, data []byte, r *sops.Ring) (sops.Plain, error) {
	t.Helper()
	f, err := sops.Read(name, data)
	if err != nil {
		return sops.Plain{}, err
	}
	if f == nil {
		t.Fatalf("%s is not recognised", name)
	}
	return f.Open(t.Context(), r, nil)
}

func TestWhatSopsEncryptedIsDecryptedAsSopsDoes(t *testing.T) {
	t.Parallel()
	all := ring(t, "one.agekey", "two.agekey", "quantum.agekey", "key.asc")
	entries, err := os.ReadDir("testdata/encrypted")
	if err != nil || len(entries) < 15 {
		t.Fatalf("%d files: %v", len(entries), err)
	}
	for _, e := range entries {
		t.Run(e.Name(), func(t *testing.T) {
			t.Parallel()
			got, err := open(t, e.Name(), file(t, "encrypted/"+e.Name()), all)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(file(t, "decrypted/"+e.Name())), string(got.Data)); diff != "" {
				t.Errorf("other than sops (-sops +ours):\n%s", diff)
			}
			if bytes.Contains(got.Data, []byte("ENC[")) {
				t.Error("something is still encrypted")
			}
		})
	}
}

func TestTheFormatIsFoundByContent(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]sops.Format{
		"secret.yaml": sops.YAML, "types.json": sops.JSON, "settings.env": sops.Dotenv, "settings.ini": sops.INI,
		"notes.txt": sops.Binary, "only-data.json": sops.JSON,
	} {
		for _, as := range []string{name, "without-extension" + map[bool]string{true: ".json"}[want == sops.JSON]} {
			f, err := sops.Read(as, file(t, "encrypted/"+name))
			if err != nil || f == nil || f.Format != want {
				t.Errorf("%s as %s: got %v and %v, want %s", name, as, f, err, want)
			}
		}
	}
}

func TestOtherFilesAreLeftAlone(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"plain":      "apiVersion: v1\nkind: Secret\n",
		"quoted":     "# sops lastmodified ENC[AES256_GCM,data:\nkind: Secret\n",
		"other sops": "kind: Policy\nsops: {text: 'lastmodified ENC[AES256_GCM,data:'}\n",
		"template":   "{{ if sops }} lastmodified ENC[AES256_GCM,data:{{ end }}",
		"json":       `{"sops": "lastmodified ENC[AES256_GCM,data:"}`,
		"empty":      "",
	} {
		if f, err := sops.Read(name, []byte(text)); f != nil || err != nil {
			t.Errorf("%s: got %v and %v", name, f, err)
		}
	}
}

func TestAnyOneKeyOfAGroupOpensAFile(t *testing.T) {
	t.Parallel()
	for name, keys := range map[string][]string{
		"whole.yaml": {"one.agekey", "two.agekey"}, "both.yaml": {"two.agekey", "key.asc"}, "pgp.env": {"key.asc"}, "quantum.yaml": {"quantum.agekey"},
	} {
		for _, key := range keys {
			if _, err := open(t, name, file(t, "encrypted/"+name), ring(t, key)); err != nil {
				t.Errorf("%s with %s: %v", name, key, err)
			}
		}
	}
}

func TestGroupsOfKeysNeedAsManyAsTheirThreshold(t *testing.T) {
	t.Parallel()
	raw := file(t, "encrypted/groups.yaml")
	for _, enough := range [][]string{
		{"one.agekey", "two.agekey"}, {"one.agekey", "key.asc"}, {"two.agekey", "key.asc"}, {"one.agekey", "two.agekey", "key.asc"},
	} {
		if _, err := open(t, "groups.yaml", raw, ring(t, enough...)); err != nil {
			t.Errorf("%v: %v", enough, err)
		}
	}
	_, err := open(t, "groups.yaml", raw, ring(t, "two.agekey"))
	var missing *sops.KeyError
	if !errors.As(err, &missing) || missing.Have != 1 || missing.Need != 2 {
		t.Errorf("one of two groups: %v", err)
	}
}

func TestAFileForOtherKeysSaysWhomItIsFor(t *testing.T) {
	t.Parallel()
	_, err := open(t, "other.yaml", file(t, "encrypted/other.yaml"), ring(t, "one.agekey", "key.asc"))
	want := ring(t, "two.agekey").Names()[0]
	if !errors.Is(err, sops.ErrNoKey) || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "no private key") {
		t.Errorf("got %v, want one that names %s", err, want)
	}
	if strings.Contains(err.Error(), "AGE-SECRET-KEY") || strings.Contains(err.Error(), "ENC[") {
		t.Errorf("the error shows too much: %v", err)
	}
	if _, err := open(t, "pgp.yaml", file(t, "encrypted/pgp.yaml"), nil); !errors.Is(err, sops.ErrNoKey) ||
		!strings.Contains(err.Error(), "PGP key "+ring(t, "key.asc").Names()[0]) {
		t.Errorf("without a ring: %v", err)
	}
}

// change replaces a text that must be there.
func change(t *testing.T, data []byte, old, with string) []byte {
	t.Helper()
	if !bytes.Contains(data, []byte(old)) {
		t.Fatalf("no %q in the file", old)
	}
	return bytes.Replace(data, []byte(old), []byte(with), 1)
}

// lineOf is the line that begins with a text.
func lineOf(t *testing.T, data []byte, begin string) string {
	t.Helper()
	for line := range strings.Lines(string(data)) {
		if strings.HasPrefix(strings.TrimSpace(line), begin) {
			return line
		}
	}
	t.Fatalf("no line %q", begin)
	return ""
}

func TestAnyChangeOfAFileIsRefused(t *testing.T) {
	t.Parallel()
	raw := file(t, "encrypted/secret.yaml")
	user, password := lineOf(t, raw, "user:"), lineOf(t, raw, "password:")
	_, userValue, _ := strings.Cut(user, ": ")
	_, passwordValue, _ := strings.Cut(password, ": ")
	swapped := change(t, change(t, raw, user, "    user: "+passwordValue), password, "    password: "+userValue)
	for name, data := range map[string][]byte{
		"two values swapped":        swapped,
		"a clear value changed":     change(t, raw, "name: database", "name: other"),
		"a clear value added":       change(t, raw, "type: Opaque", "type: Opaque\nimmutable: true"),
		"a clear value removed":     change(t, raw, "type: Opaque\n", ""),
		"a value removed":           change(t, raw, user, ""),
		"a value in clear":          change(t, raw, strings.TrimSpace(userValue), "shop"),
		"a value cut":               change(t, raw, ",type:str]", ",type:str"),
		"a value of another type":   change(t, raw, ",type:str]", ",type:int]"),
		"a value without a nonce":   change(t, raw, ",iv:", ",iv:AAAA,x:"),
		"the code changed":          change(t, raw, lineOf(t, raw, "mac:"), strings.Replace(lineOf(t, raw, "mac:"), "data:", "data:AA", 1)),
		"the code removed":          change(t, raw, lineOf(t, raw, "mac:"), ""),
		"the time changed":          change(t, raw, lineOf(t, raw, "lastmodified:"), "    lastmodified: \"2020-01-01T00:00:00Z\"\n"),
		"the time removed":          change(t, raw, lineOf(t, raw, "lastmodified:"), ""),
		"the rule changed":          change(t, raw, "encrypted_regex: ^(data|stringData)$", "encrypted_regex: ^(password)$"),
		"the rule removed":          change(t, raw, lineOf(t, raw, "encrypted_regex:"), ""),
		"a rule that is none":       change(t, raw, "^(data|stringData)$", "^(data"),
		"two rules":                 change(t, raw, "    encrypted_regex", "    unencrypted_suffix: _x\n    encrypted_regex"),
		"the code of less":          change(t, raw, "    encrypted_regex", "    mac_only_encrypted: true\n    encrypted_regex"),
		"an alias":                  change(t, raw, "type: Opaque", "type: &a Opaque\nother: *a"),
		"a key twice":               change(t, raw, "type: Opaque", "type: Opaque\ntype: Opaque"),
		"a data key that is none":   change(t, raw, "-----BEGIN AGE ENCRYPTED FILE-----", "-----BEGIN AGE ENCRYPTED FILE----"),
		"the recipients removed":    change(t, raw, "    age:", "    other:"),
		"the version changed twice": change(t, raw, "    version:", "    mac: x\n    version:"),
		"a document added":          append(bytes.Clone(raw), "---\nkind: ConfigMap\ndata: {a: b}\n"...),
		"a comment of another kind": change(t, raw, strings.TrimSpace(userValue), strings.Replace(strings.TrimSpace(userValue), "type:str", "type:comment", 1)),
	} {
		got, err := open(t, "secret.yaml", data, ring(t, "one.agekey"))
		if err == nil {
			t.Errorf("%s: it was taken", name)
			continue
		}
		if len(got.Data) > 0 || len(got.Values) > 0 {
			t.Errorf("%s: something was given out", name)
		}
		if !errors.Is(err, sops.ErrDamaged) && !errors.Is(err, sops.ErrNoKey) {
			t.Errorf("%s: %v", name, err)
		}
		for _, secret := range []string{"plum-Tree", "longer text", "ENC["} {
			if strings.Contains(err.Error(), secret) {
				t.Errorf("%s: the error shows %q: %v", name, secret, err)
			}
		}
	}
}

func TestACodeOfEncryptedValuesAloneIgnoresTheOthers(t *testing.T) {
	t.Parallel()
	raw := change(t, file(t, "encrypted/mac-only.yaml"), "name: database", "name: other")
	got, err := open(t, "mac-only.yaml", raw, ring(t, "one.agekey"))
	if err != nil || !bytes.Contains(got.Data, []byte("name: other")) {
		t.Errorf("%s, %v", got.Data, err)
	}
	raw = change(t, raw, lineOf(t, raw, "user:"), "")
	if _, err := open(t, "mac-only.yaml", raw, ring(t, "one.agekey")); !errors.Is(err, sops.ErrDamaged) {
		t.Errorf("a value is missing: %v", err)
	}
}

func TestValuesAreThoseThatWereEncrypted(t *testing.T) {
	t.Parallel()
	got, err := open(t, "secret.yaml", file(t, "encrypted/secret.yaml"), ring(t, "one.agekey"))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"shop", "plum-Tree-4711-lantern", "first line of a longer text\nsecond line of a longer text\n"}
	if diff := cmp.Diff(want, got.Values); diff != "" {
		t.Error(diff)
	}
}

func TestKeysThatCannotBeUsedAreRefusedWithTheReason(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, data, want string }{
		{"locked.asc", string(file(t, "locked.asc")), "passphrase"},
		{"yubikey.agekey", "AGE-PLUGIN-YUBIKEY-1QQQQQ", "plugin"},
		{"text.agekey", "not-a-key-but-a-Secret-1234", "no identity of age"},
		{"text.asc", "not-a-key-but-a-Secret-1234", "no armored key"},
		{"key.pem", "x", "rename"},
	} {
		err := (&sops.Ring{}).Add(tt.name, []byte(tt.data))
		if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "Secret-1234") {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

func TestARingPrintsNoPrivateKey(t *testing.T) {
	t.Parallel()
	r := ring(t, "one.agekey", "key.asc")
	for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
		if text := fmt.Sprintf(verb, r); strings.Contains(text, "SECRET") || !strings.Contains(text, r.Names()[0]) {
			t.Errorf("%s: %s", verb, text)
		}
	}
	if r.Identity() == ring(t, "one.agekey").Identity() || r.Identity() != ring(t, "key.asc", "one.agekey").Identity() {
		t.Error("the identity is not that of the keys")
	}
}

// cloud opens what a key service would.
type cloud struct{ key []byte }

func (c cloud) OpenKey(_ context.Context, to sops.Recipient) ([]byte, error) {
	if to.Kind == sops.KindAge {
		return bytes.Clone(c.key), nil
	}
	return nil, sops.ErrNoKey
}

func TestAnotherOpenerIsAskedForKeysThatTheRingLacks(t *testing.T) {
	t.Parallel()
	f, err := sops.Read("secret.yaml", file(t, "encrypted/secret.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Open(t.Context(), nil, cloud{key: bytes.Repeat([]byte{1}, 32)}); !errors.Is(err, sops.ErrDamaged) {
		t.Errorf("a wrong data key: %v", err)
	}
	if _, err := f.Open(t.Context(), nil, cloud{key: []byte("short")}); !errors.Is(err, sops.ErrDamaged) {
		t.Errorf("a short data key: %v", err)
	}
}

func TestALargeFileIsReadInTime(t *testing.T) {
	t.Parallel()
	raw := file(t, "encrypted/secret.yaml")
	clear := "huge: |\n" + strings.Repeat("    "+strings.Repeat("x", 96)+"\n", 100_000)
	large := change(t, raw, "type: Opaque\n", "type: Opaque\n"+clear)
	if _, err := open(t, "large.yaml", large, ring(t, "one.agekey")); !errors.Is(err, sops.ErrDamaged) {
		t.Errorf("10 MB that are not authenticated: %v", err)
	}
	if _, err := sops.Read("huge.yaml", append(large, large...)); !errors.Is(err, sops.ErrLimit) {
		t.Errorf("20 MB: %v", err)
	}
	deep := change(t, raw, "type: Opaque\n", "type: Opaque\ndeep: "+strings.Repeat("[", 500)+strings.Repeat("]", 500)+"\n")
	if _, err := open(t, "deep.yaml", deep, ring(t, "one.agekey")); !errors.Is(err, sops.ErrLimit) {
		t.Errorf("500 levels: %v", err)
	}
	wide := change(t, raw, "type: Opaque\n", "type: Opaque\nwide: ["+strings.Repeat("a,", 300_000)+"a]\n")
	if _, err := open(t, "wide.yaml", wide, ring(t, "one.agekey")); !errors.Is(err, sops.ErrLimit) {
		t.Errorf("300,000 values: %v", err)
	}
	notes := change(t, raw, "type: Opaque\n", strings.Repeat("#x\n", 5000)+"type: Opaque\n")
	if _, err := open(t, "notes.yaml", notes, ring(t, "one.agekey")); !errors.Is(err, sops.ErrLimit) {
		t.Errorf("5,000 comments: %v", err)
	}
}

func FuzzFile(f *testing.F) {
	entries, err := os.ReadDir("testdata/encrypted")
	if err != nil {
		f.Fatal(err)
	}
	for _, e := range entries {
		raw, err := os.ReadFile("testdata/encrypted/" + e.Name())
		if err != nil {
			f.Fatal(err)
		}
		f.Add(e.Name(), raw)
	}
	key, err := os.ReadFile("testdata/one.agekey")
	if err != nil {
		f.Fatal(err)
	}
	r := &sops.Ring{}
	if err := r.Add("one.agekey", key); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		file, err := sops.Read(name, data)
		if file == nil || err != nil {
			return
		}
		plain, err := file.Open(t.Context(), r, nil)
		if err != nil {
			if len(plain.Data) > 0 {
				t.Error("a refused file was given out")
			}
			return
		}
		switch file.Format {
		case sops.JSON:
			if !json.Valid(plain.Data) {
				t.Error("what was decrypted is no JSON")
			}
		case sops.YAML:
			var v any
			if err := yaml.Unmarshal(plain.Data, &v); err != nil && !reflect.ValueOf(v).IsValid() {
				t.Skip() // a document that YAML takes only as nodes
			}
		}
	})
}
