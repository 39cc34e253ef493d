package seal

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"strings"
	"testing"

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
	return Purpose{Agent: "abcdefghijklmnopqrstuvwxyz", Type: "repository", Name: "shop"}
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
	for name, what := range map[string]Purpose{
		"another name":  {Agent: shop().Agent, Type: shop().Type, Name: "other"},
		"another type":  {Agent: shop().Agent, Type: "cluster", Name: "shop"},
		"another agent": {Agent: "b", Type: shop().Type, Name: "shop"},
		"none":          {},
	} {
		if got, err := Open(&key, sealed, what); err == nil || got != nil || strings.Contains(err.Error(), "planted") {
			t.Errorf("%s opens it: %v, %v", name, got, err)
		}
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
	for _, inside := range []string{"", "null", "[]", `{"agent":1}`, `{"agent":"a","type":"b","name":"c","fields":{},"more":1}`, "{}{}", "planted"} {
		sealed, err := box.SealAnonymous(nil, []byte(inside), &mine, rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := Open(&key, sealed, shop()); err == nil || strings.Contains(err.Error(), "planted") {
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
