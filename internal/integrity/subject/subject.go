// Package subject reads distinguished names as trust policies of the Notary Project write them, and compares them with the subjects of
// certificates.
package subject

import (
	"crypto/x509/pkix"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// maxText bounds a name, in bytes.
const maxText = 1000

// Name is the attributes of a distinguished name, by the short names of their types.
type Name map[string]string

// short are the names of types that RFC 4514 and Notation know.
func short() map[string]string {
	return map[string]string{
		"2.5.4.3": "CN", "2.5.4.5": "SERIALNUMBER", "2.5.4.6": "C", "2.5.4.7": "L", "2.5.4.8": "ST", "2.5.4.9": "STREET", "2.5.4.10": "O",
		"2.5.4.11": "OU", "2.5.4.17": "POSTALCODE",
	}
}

var (
	errTwice = errors.New("an attribute is there twice, so that it does not name one subject")
	errForm  = errors.New("it is no distinguished name: write C=…, ST=…, O=… and what else the subject has, with a comma between")
)

// Parse reads "C=US, ST=WA, O=Acme". Country, state and organization are needed, as in Notation: a name without them could be that of
// many.
func Parse(text string) (Name, error) {
	if len(text) > maxText || !utf8.ValidString(text) {
		return nil, errForm
	}
	out := Name{}
	for rest := text; ; {
		kind, value, more, err := attribute(rest)
		if err != nil {
			return nil, err
		}
		if err := out.add(kind, value); err != nil {
			return nil, err
		}
		if more == "" {
			break
		}
		rest = more[1:]
	}
	for _, needed := range []string{"C", "ST", "O"} {
		if out[needed] == "" {
			return nil, fmt.Errorf("it has no %s: country, state and organization (C, ST, O) are needed", needed)
		}
	}
	return out, nil
}

func (n Name) add(kind, value string) error {
	if kind = strings.ToUpper(kind); kind == "S" {
		kind = "ST"
	}
	if _, twice := n[kind]; twice {
		return errTwice
	}
	n[kind] = value
	return nil
}

// attribute reads "TYPE=VALUE" up to the next comma, with which more begins.
func attribute(text string) (kind, value, more string, err error) {
	kind, rest, ok := strings.Cut(text, "=")
	kind, rest = strings.TrimSpace(kind), strings.TrimLeft(rest, " ")
	if !ok || kind == "" || strings.Trim(kind, letters) != "" || strings.HasPrefix(rest, "#") {
		return "", "", "", errForm
	}
	var out strings.Builder
	kept := 0 // bytes of the value up to the last one that is no blank
	for i := 0; i < len(rest); i++ {
		switch c := rest[i]; {
		case c == ',':
			return kind, out.String()[:kept], rest[i:], valued(kept)
		case c == '\\':
			plain, size := escaped(rest[i+1:])
			if size == 0 {
				return "", "", "", errForm
			}
			out.WriteByte(plain)
			i, kept = i+size, out.Len()
		case strings.IndexByte(`"+;<>`, c) >= 0:
			return "", "", "", errForm // several values, or a form of old
		default:
			if out.WriteByte(c); c != ' ' {
				kept = out.Len()
			}
		}
	}
	return kind, out.String()[:kept], "", valued(kept)
}

const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.-"

func valued(length int) error {
	if length == 0 {
		return errForm
	}
	return nil
}

// escaped reads what follows a backslash: a sign that has a meaning, or two hexadecimal digits.
func escaped(text string) (plain byte, size int) {
	if text == "" {
		return 0, 0
	}
	if strings.IndexByte(`"+,;<>\ #=`, text[0]) >= 0 {
		return text[0], 1
	}
	if len(text) >= 2 {
		if raw, err := hex.DecodeString(text[:2]); err == nil {
			return raw[0], 2
		}
	}
	return 0, 0
}

// Of are the attributes of the subject of a certificate. One that is there twice is an error, as in Notation.
func Of(name pkix.Name) (Name, error) {
	out, known := Name{}, short()
	for _, a := range name.Names {
		value, ok := a.Value.(string)
		if !ok {
			return nil, errors.New("an attribute of it is no text")
		}
		kind := a.Type.String()
		if text := known[kind]; text != "" {
			kind = text
		}
		if err := out.add(kind, value); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Within reports whether another name has all attributes of this one.
func (n Name) Within(other Name) bool {
	for kind, value := range n {
		if other[kind] != value {
			return false
		}
	}
	return true
}
