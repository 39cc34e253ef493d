package sops

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// An encrypted value is ENC[AES256_GCM,data:…,iv:…,tag:…,type:…].
const prefix = "ENC[AES256_GCM,data:"

// sizeNonce is the length of the nonces of SOPS, sizeTag that of its tags, in bytes.
const (
	sizeNonce = 32
	sizeTag   = 16
)

// valueCipher decrypts values with the data key of a file.
type valueCipher struct{ aead cipher.AEAD }

func newCipher(key []byte) (valueCipher, error) {
	if len(key) != 32 {
		return valueCipher{}, aes.KeySizeError(len(key))
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return valueCipher{}, err
	}
	aead, err := cipher.NewGCMWithNonceSize(block, sizeNonce)
	return valueCipher{aead}, err
}

// sealed is an encrypted value in parts.
type sealed struct{ data, nonce, tag, kind string }

// parseSealed reads an encrypted value.
func parseSealed(text string) (sealed, bool) {
	rest, ok := strings.CutPrefix(text, prefix)
	if !ok {
		return sealed{}, false
	}
	var s sealed
	for _, part := range []struct {
		into *string
		end  string
	}{{&s.data, ",iv:"}, {&s.nonce, ",tag:"}, {&s.tag, ",type:"}, {&s.kind, "]"}} {
		if *part.into, rest, ok = strings.Cut(rest, part.end); !ok {
			return sealed{}, false
		}
	}
	return s, rest == ""
}

// open decrypts a value that stands at a place, which the value is bound to. The error says nothing of the content.
func (c valueCipher) open(text, place string) (any, error) {
	if text == "" {
		return "", nil // SOPS leaves an empty text empty
	}
	s, ok := parseSealed(text)
	if !ok {
		return nil, fmt.Errorf("%w: a value that must be encrypted is not", ErrDamaged)
	}
	data, errData := base64.StdEncoding.DecodeString(s.data)
	nonce, errNonce := base64.StdEncoding.DecodeString(s.nonce)
	tag, errTag := base64.StdEncoding.DecodeString(s.tag)
	if errData != nil || errNonce != nil || errTag != nil || len(nonce) != sizeNonce || len(tag) != sizeTag {
		return nil, fmt.Errorf("%w: an encrypted value is malformed", ErrDamaged)
	}
	plain, err := c.aead.Open(nil, nonce, append(data, tag...), []byte(place))
	if err != nil {
		return nil, fmt.Errorf("%w: a value was changed, or moved here from another place", ErrDamaged)
	}
	return typed(string(plain), s.kind)
}

// typed gives a decrypted text the type that it had.
func typed(text, kind string) (value any, err error) {
	switch kind {
	case "str", "bytes":
		return text, nil
	case "int":
		value, err = strconv.Atoi(text)
	case "float":
		value, err = strconv.ParseFloat(text, 64)
	case "bool":
		value, err = strconv.ParseBool(text)
	case "time":
		var t time.Time
		err = t.UnmarshalText([]byte(text))
		value = t
	case "comment":
		return comment(text), nil
	default:
		err = strconv.ErrSyntax
	}
	if err != nil {
		return nil, fmt.Errorf("%w: an encrypted value is not of its type", ErrDamaged)
	}
	return value, nil
}
