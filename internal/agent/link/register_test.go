package link

import (
	"bytes"
	"testing"
)

func TestATokenIsShownWithTheSameKeysUntilThereIsAnotherAlsoAfterAKill(t *testing.T) {
	t.Parallel()
	registered, err := newIdentity()
	if err != nil {
		t.Fatal(err)
	}
	registered.uid, registered.agent = "uid", "account.prod"
	keys := func(token string, wantNew bool) *identity {
		t.Helper()
		id, isNew, err := candidate(registered, token)
		if err != nil || isNew != wantNew {
			t.Fatalf("new %t, want %t: %v", isNew, wantNew, err)
		}
		return id
	}
	first := keys("one", true)
	// The agent is killed before it has the answer: all that is left is the Secret.
	if registered, err = decodeIdentity(registered.encode()); err != nil {
		t.Fatal(err)
	}
	if registered.agent != "account.prod" || bytes.Equal(registered.seed, first.seed) {
		t.Error("an identity that was not taken yet is in force")
	}
	again := keys("one", false)
	if !bytes.Equal(first.seed, again.seed) || first.seal[0] != again.seal[0] {
		t.Error("the server is shown another key: it takes the token for used by somebody else")
	}
	if other := keys("two", true); bytes.Equal(first.seed, other.seed) {
		t.Error("another token is shown with the same key")
	}
}

func TestKeysThatWereTriedAndCannotBeReadAreMadeAnew(t *testing.T) {
	t.Parallel()
	id, err := newIdentity()
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := candidate(id, "one"); err != nil {
		t.Fatal(err)
	}
	secret := id.encode()
	secret.Data[fieldTriedSeed] = []byte("cut")
	got, err := decodeIdentity(secret)
	if err != nil {
		t.Fatal(err)
	}
	if _, isNew, err := candidate(got, "one"); err != nil || !isNew {
		t.Errorf("new %t, %v", isNew, err)
	}
}
