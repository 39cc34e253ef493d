package agentapi_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/slipway-gitops/slipway/api/agentapi"
)

func TestADigestIsThatOfTheSetInWhateverOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		entries := rapid.SliceOfNDistinct(rapid.Custom(func(t *rapid.T) agentapi.Entry {
			return agentapi.Entry{Key: agentapi.Key{
				Kind: rapid.SampledFrom(agentapi.ItemKinds()).Draw(t, "kind"), Namespace: rapid.String().Draw(t, "namespace"),
				Name: rapid.String().Draw(t, "name"),
			}, Hash: "1"}
		}), 1, 20, func(e agentapi.Entry) agentapi.Key { return e.Key }).Draw(t, "entries")
		var one, other, less agentapi.Digest
		for i, e := range entries {
			one = one.Toggle(e.Key, e.Hash)
			if i > 0 {
				less = less.Toggle(e.Key, e.Hash)
			}
		}
		for _, e := range rapid.Permutation(entries).Draw(t, "order") {
			other = other.Toggle(e.Key, e.Hash)
		}
		if one != other {
			t.Errorf("digest %s in one order, %s in another", one, other)
		}
		if one == less {
			t.Error("the digest does not change with an item")
		}
		if one.Toggle(entries[0].Key, entries[0].Hash) != less {
			t.Error("an item that was put in cannot be taken out")
		}
		if one.Toggle(entries[0].Key, "1").Toggle(entries[0].Key, "2") == one {
			t.Error("the digest does not change with a hash")
		}
	})
}

func TestPartsOfADigestCannotBeMistakenForOneAnother(t *testing.T) {
	t.Parallel()
	a := agentapi.Digest(0).Toggle(agentapi.Key{Kind: "application", Namespace: "a", Name: "bc"}, "1")
	b := agentapi.Digest(0).Toggle(agentapi.Key{Kind: "application", Namespace: "ab", Name: "c"}, "1")
	if a == b {
		t.Error("a/bc and ab/c have the same digest")
	}
}

func TestAResultComesBackFromItsParts(t *testing.T) {
	t.Parallel()
	body, err := json.Marshal(string(bytes.Repeat([]byte("x"), 1_000_000)))
	if err != nil {
		t.Fatal(err)
	}
	want := agentapi.Result{ID: "c", Status: agentapi.StatusDone, Body: body}
	parts, err := agentapi.Split(7, want)
	if err != nil {
		t.Fatal(err)
	}
	if len(parts) != 3 {
		t.Fatalf("%d parts, want 3", len(parts))
	}
	var joiner agentapi.Joiner
	for i, part := range parts {
		if data, _ := json.Marshal(part); len(data) > agentapi.MaxMessage {
			t.Errorf("part %d has %d bytes", i, len(data))
		}
		got, err := joiner.Add(part)
		if err != nil {
			t.Fatal(err)
		}
		if i < len(parts)-1 && got != nil {
			t.Fatalf("a result after part %d", i)
		}
		if i == len(parts)-1 {
			if diff := cmp.Diff(&want, got); diff != "" {
				t.Error(diff)
			}
		}
	}
}

func TestPartsThatCannotBeAreRefused(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		parts []agentapi.Part
	}{
		{"out of order", []agentapi.Part{{Index: 1, Data: []byte("x")}}},
		{"twice", []agentapi.Part{{Index: 0, Data: []byte("x")}, {Index: 0, Data: []byte("x")}}},
		{"empty", []agentapi.Part{{Index: 0}}},
		{"no JSON", []agentapi.Part{{Index: 0, Last: true, Data: []byte("{")}}},
		{"too much", []agentapi.Part{{Index: 0, Data: make([]byte, agentapi.MaxReply)}, {Index: 1, Data: []byte("x")}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var joiner agentapi.Joiner
			var err error
			for _, part := range test.parts {
				_, err = joiner.Add(part)
			}
			if err == nil {
				t.Error("no error")
			}
		})
	}
	if _, err := agentapi.Split(1, agentapi.Result{Message: string(make([]byte, agentapi.MaxReply))}); err == nil {
		t.Error("a result that is too large is no error")
	}
}

func TestOnlyWhatTheServerSignedForThisAgentIsOpened(t *testing.T) {
	t.Parallel()
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	other, _, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	command := agentapi.Command{ID: "c", Kind: agentapi.KindSync}
	data, err := agentapi.Sign(private, agentapi.PurposeCommand, "u", command)
	if err != nil {
		t.Fatal(err)
	}
	var got agentapi.Command
	if err := agentapi.Open(public, agentapi.PurposeCommand, "u", data, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(command, got); diff != "" {
		t.Error(diff)
	}
	forged := bytes.Replace(data, []byte(`"payload":"e`), []byte(`"payload":"f`), 1)
	if bytes.Equal(forged, data) {
		t.Fatal("nothing was forged")
	}
	tests := []struct {
		name    string
		key     ed25519.PublicKey
		purpose agentapi.Purpose
		uid     string
		data    []byte
	}{
		{"another key", other, agentapi.PurposeCommand, "u", data},
		{"no key", nil, agentapi.PurposeCommand, "u", data},
		{"another purpose", public, agentapi.PurposeStream, "u", data},
		{"another agent", public, agentapi.PurposeCommand, "v", data},
		{"another text", public, agentapi.PurposeCommand, "u", forged},
		{"no signature", public, agentapi.PurposeCommand, "u", []byte(`{"payload":"e30="}`)},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var got agentapi.Command
			err := agentapi.Open(test.key, test.purpose, test.uid, test.data, &got)
			var refused *agentapi.Error
			if !errors.As(err, &refused) || refused.Code != agentapi.CodeSignature {
				t.Errorf("error %v, want %s", err, agentapi.CodeSignature)
			}
			if got.ID != "" {
				t.Error("it was read nevertheless")
			}
		})
	}
}

func TestEveryKindOfCommandHasANature(t *testing.T) {
	t.Parallel()
	for kind, want := range map[agentapi.Kind]agentapi.Nature{
		agentapi.KindSync: agentapi.Changes, agentapi.KindRotate: agentapi.Changes, agentapi.KindSettingsTest: agentapi.Reads,
		agentapi.KindManifests: agentapi.Reads, agentapi.KindResourceLogs: agentapi.Streams, "application.explode": agentapi.Unknown, "": agentapi.Unknown,
	} {
		if got := kind.Nature(); got != want {
			t.Errorf("%q is of nature %d, want %d", kind, got, want)
		}
	}
}

func FuzzOpen(f *testing.F) {
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		f.Fatal(err)
	}
	data, err := agentapi.Sign(private, agentapi.PurposeCommand, "u", agentapi.Command{ID: "c"})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte(`{"payload":null,"signature":""}`))
	f.Fuzz(func(_ *testing.T, data []byte) {
		var command agentapi.Command
		_ = agentapi.Open(public, agentapi.PurposeCommand, "u", data, &command)
	})
}
