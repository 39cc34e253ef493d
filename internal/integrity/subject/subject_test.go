package subject_test

import (
	"crypto/x509/pkix"
	"encoding/asn1"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-gitops/slipway/internal/integrity/subject"
)

func TestANameIsReadAsItIsWritten(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]subject.Name{
		"C=US, ST=WA, O=Acme":                     {"C": "US", "ST": "WA", "O": "Acme"},
		" c = US,s=WA,O=Acme Rockets , CN=a b ":   {"C": "US", "ST": "WA", "O": "Acme Rockets", "CN": "a b"},
		`C=US,ST=WA,O=Acme\, Inc.\ `:              {"C": "US", "ST": "WA", "O": "Acme, Inc. "},
		`C=US,ST=WA,O=Caf\C3\A9 \+ \"Bar\" \= \#`: {"C": "US", "ST": "WA", "O": `Café + "Bar" = #`},
		"C=US,ST=WA,O=a=b,1.2.3=x":                {"C": "US", "ST": "WA", "O": "a=b", "1.2.3": "x"},
		"":                                        nil, ",": nil, "C": nil, "C=": nil, "C=US": nil, "C=US,O=Acme": nil, "C=US,ST=WA": nil,
		"C=US,ST=WA,O=Acme,": nil, "C=US,ST=WA,O=Acme,O=Evil": nil, "C=US,S=WA,ST=WB,O=Acme": nil, "C=US,ST=WA,O=Acme+OU=x": nil,
		"C=US,ST=WA,O=#0401": nil, `C=US,ST=WA,O=Acme\`: nil, `C=US,ST=WA,O=Acme\zz`: nil, `C=US,ST=WA,O="Acme"`: nil, "C=US;ST=WA;O=Acme": nil,
		"=US,ST=WA,O=Acme": nil, "C=US,ST=WA,O=\xff": nil, "C=US,ST=WA,O=" + strings.Repeat("x", 2000): nil,
	} {
		got, err := subject.Parse(text)
		if d := cmp.Diff(want, got); d != "" || (err == nil) != (want != nil) {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
}

func TestASubjectIsComparedByItsAttributes(t *testing.T) {
	t.Parallel()
	attributes := func(pairs ...string) pkix.Name {
		var out pkix.Name
		for i := 0; i < len(pairs); i += 2 {
			kind := map[string]asn1.ObjectIdentifier{"C": {2, 5, 4, 6}, "ST": {2, 5, 4, 8}, "O": {2, 5, 4, 10}, "OU": {2, 5, 4, 11}}[pairs[i]]
			out.Names = append(out.Names, pkix.AttributeTypeAndValue{Type: kind, Value: pairs[i+1]})
		}
		return out
	}
	trusted, err := subject.Parse("C=US, ST=WA, O=Acme")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		of     pkix.Name
		within bool
		wrong  bool
	}{
		"the same":           {attributes("C", "US", "ST", "WA", "O", "Acme"), true, false},
		"more":               {attributes("OU", "x", "O", "Acme", "C", "US", "ST", "WA"), true, false},
		"less":               {attributes("C", "US", "O", "Acme"), false, false},
		"another":            {attributes("C", "US", "ST", "WA", "O", "Acme Inc"), false, false},
		"other letters":      {attributes("C", "US", "ST", "WA", "O", "ACME"), false, false},
		"two organizations":  {attributes("C", "US", "ST", "WA", "O", "Acme", "O", "Evil"), false, true},
		"commas in a value":  {attributes("C", "US", "OU", "x,ST=WA,O=Acme"), false, false},
		"no attributes":      {attributes(), false, false},
		"a value of no text": {pkix.Name{Names: []pkix.AttributeTypeAndValue{{Type: asn1.ObjectIdentifier{2, 5, 4, 10}, Value: 7}}}, false, true},
	} {
		got, err := subject.Of(c.of)
		if (err != nil) != c.wrong || err == nil && trusted.Within(got) != c.within {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}

func FuzzSubject(f *testing.F) {
	f.Add("C=US, ST=WA, O=Acme")
	f.Add(`C=US,ST=WA,O=Caf\C3\A9 \+ \=`)
	f.Fuzz(func(t *testing.T, text string) {
		name, err := subject.Parse(text)
		if err == nil && (name["C"] == "" || name["ST"] == "" || name["O"] == "" || !name.Within(name)) {
			t.Errorf("%q: %v", text, name)
		}
	})
}
