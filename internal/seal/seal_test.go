package seal

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/crypto/nacl/box"
	"pgregory.net/rapid"
)

func newPair(t interface{ Fatal(args ...any) }) (PrivateKey, PublicKey) {
	key, err := NewKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	public, err := key.Public()
	if err != nil {
		t.Fatal(err)
	}
	return key, public
}

func shop() Purpose {
	return Purpose{
		Agent: "abcdefghijklmnopqrstuvwxyz", Verb: "settings.apply", Type: "repository", Name: "shop", Project: "team", Actor: "user:ada",
		Open: map[string]string{"url": "https://git.example.org/shop.git"}, Labels: map[string]string{"team": "shop"}, At: time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC),
	}
}

func TestOnlyItsPurposeOpensASecret(t *testing.T) {
	t.Parallel()
	key, public := newPair(t)
	other, _ := newPair(t)
	sealed, err := Seal(public, map[string]string{"password": "planted"}, shop())
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(sealed, []byte("planted")) {
		t.Error("the secret can be read in the blob")
	}
	got, err := Open(&key, sealed, shop())
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(map[string]string{"password": "planted"}, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	for name, change := range map[string]func(*Purpose){
		"another name":          func(p *Purpose) { p.Name = "other" },
		"another type":          func(p *Purpose) { p.Type = "cluster" },
		"another agent":         func(p *Purpose) { p.Agent = "b" },
		"another verb":          func(p *Purpose) { p.Verb = "settings.test" },
		"another project":       func(p *Purpose) { p.Project = "" },
		"another actor":         func(p *Purpose) { p.Actor = "serviceaccount:ada" },
		"another address":       func(p *Purpose) { p.Open = map[string]string{"url": "https://evil.example.org/shop.git"} },
		"other labels":          func(p *Purpose) { p.Labels = map[string]string{"team": "evil"} },
		"another label as well": func(p *Purpose) { p.Labels["tier"] = "all" },
		"no labels":             func(p *Purpose) { p.Labels = nil },
		"another field as well": func(p *Purpose) { p.Open["proxy"] = "http://evil.example.org" },
		"no open fields":        func(p *Purpose) { p.Open = nil },
		"much later":            func(p *Purpose) { p.At = p.At.Add(Lasts + time.Second) },
		"much earlier":          func(p *Purpose) { p.At = p.At.Add(-Lasts - time.Second) },
		"none":                  func(p *Purpose) { *p = Purpose{} },
	} {
		what := shop()
		change(&what)
		if got, err := Open(&key, sealed, what); err == nil || got != nil || strings.Contains(err.Error(), "planted") {
			t.Errorf("%s opens it: %v, %v", name, got, err)
		}
	}
	soon := shop()
	soon.At = soon.At.Add(Lasts - time.Minute)
	if _, err := Open(&key, sealed, soon); err != nil {
		t.Error(err)
	}
	if _, err := Open(&other, sealed, shop()); err == nil {
		t.Error("another key opens it")
	}
}

func TestAChangedBlobDoesNotOpen(t *testing.T) {
	t.Parallel()
	key, public := newPair(t)
	rapid.Check(t, func(t *rapid.T) {
		fields := rapid.MapOf(rapid.String(), rapid.String()).Draw(t, "fields")
		sealed, err := Seal(public, fields, shop())
		if err != nil {
			t.Fatal(err)
		}
		got, err := Open(&key, sealed, shop())
		if err != nil || len(got) != len(fields) {
			t.Fatalf("it does not open: %v, %v", got, err)
		}
		at := rapid.IntRange(0, len(sealed)-1).Draw(t, "at")
		sealed[at] ^= byte(1 << rapid.IntRange(0, 6).Draw(t, "bit"))
		if got, err := Open(&key, sealed, shop()); err == nil {
			t.Errorf("with byte %d changed, it opens: %v", at, got)
		}
	})
}

func TestWhatIsNoLetterDoesNotOpen(t *testing.T) {
	t.Parallel()
	key, public := newPair(t)
	mine := [KeySize]byte(public)
	sealAs := func(inside string) []byte {
		sealed, err := box.SealAnonymous(nil, []byte(inside), &mine, rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		return sealed
	}
	// What an earlier version sealed is named as such.
	if _, err := Open(&key, sealAs(`{"agent":"abcdefghijklmnopqrstuvwxyz","type":"repository","name":"shop","fields":{"password":"planted"}}`), shop()); err == nil ||
		!strings.Contains(err.Error(), "update the command line, or reload the page") {
		t.Errorf("the form of an earlier version: %v", err)
	}
	for _, inside := range []string{"", "null", `{"version":3,"agent":"a"}`, "[]", `{"agent":1}`, `{"agent":"a","type":"b","name":"c","fields":{},"more":1}`, "{}{}", "planted"} {
		if got, err := Open(&key, sealAs(inside), shop()); err == nil || strings.Contains(err.Error(), "planted") {
			t.Errorf("%s opens: %v, %v", inside, got, err)
		}
	}
	if _, err := Open(&key, make([]byte, MaxSize+1), shop()); err == nil {
		t.Error("a blob that is too large opens")
	}
}

func TestAKeyIsReadAsItIsWritten(t *testing.T) {
	t.Parallel()
	key, public := newPair(t)
	got, err := ParsePublicKey(public.String())
	if err != nil || got != public {
		t.Errorf("%s is read as %s, %v", public, got, err)
	}
	again, err := PrivateKeyFrom(key.Bytes())
	if err != nil || again != key {
		t.Errorf("the private key is another one, %v", err)
	}
	if text := fmt.Sprintf("%v %+v %#v %s", key, key, key, &key); strings.ContainsAny(text, "0123456789") {
		t.Errorf("the key is printed: %s", text)
	}
	for _, text := range []string{"", "AAAA", "?", strings.Repeat("A", 43) + "=", strings.Repeat("A", 100)} {
		if _, err := ParsePublicKey(text); err == nil {
			t.Errorf("%q is read as a key", text)
		}
	}
	if _, err := PrivateKeyFrom(nil); err == nil {
		t.Error("no bytes are a key")
	}
	if _, err := NewKey(strings.NewReader("short")); err == nil {
		t.Error("a key is made of too little chance")
	}
}

func TestNothingIsSealedForNobody(t *testing.T) {
	t.Parallel()
	_, public := newPair(t)
	if _, err := Seal(PublicKey{}, nil, shop()); err == nil {
		t.Error("it is sealed to no key")
	}
	if _, err := Seal(public, map[string]string{"a": "\xff"}, shop()); err == nil {
		t.Error("what JSON cannot hold is sealed as something else")
	}
	if _, err := Seal(public, nil, Purpose{Agent: "a"}); err == nil {
		t.Error("it is sealed for no setting")
	}
	if _, err := Seal(public, map[string]string{"a": strings.Repeat("x", MaxSize)}, shop()); err == nil {
		t.Error("too much is sealed")
	}
}

func FuzzOpen(f *testing.F) {
	key, public := newPair(f)
	sealed, err := Seal(public, map[string]string{"a": "b"}, shop())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(sealed)
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, blob []byte) {
		if got, err := Open(&key, blob, shop()); err == nil && !bytes.Equal(blob, sealed) {
			t.Errorf("a blob of nobody opens: %v", got)
		}
	})
}
