package sops

import "fmt"

// combine finds the data key of shares of it (Shamir's scheme over GF(2^8)): each is one byte for each byte of the key, and the
// place of the share, a byte, at its end.
func combine(shares [][]byte) ([]byte, error) {
	if len(shares) < 2 || len(shares[0]) < 2 {
		return nil, fmt.Errorf("%w: its data key is in shares, and there are too few", ErrDamaged)
	}
	size := len(shares[0]) - 1
	at := make([]byte, len(shares))
	for i, s := range shares {
		if len(s) != size+1 {
			return nil, fmt.Errorf("%w: the shares of its data key differ in length", ErrDamaged)
		}
		at[i] = s[size]
		for _, other := range at[:i] {
			if other == at[i] {
				return nil, fmt.Errorf("%w: a share of its data key is there twice", ErrDamaged)
			}
		}
	}
	// The key is the value at 0 of the polynomial through the shares, for each of its bytes.
	weights := make([]byte, len(shares))
	for i := range at {
		w := byte(1)
		for j := range at {
			if i != j {
				w = times(w, times(at[j], inverse(at[i]^at[j])))
			}
		}
		weights[i] = w
	}
	key := make([]byte, size)
	for n := range key {
		for i, s := range shares {
			key[n] ^= times(s[n], weights[i])
		}
	}
	return key, nil
}

// times multiplies in GF(2^8) modulo x^8+x^4+x^3+x+1. Its time does not depend on its arguments.
func times(a, b byte) byte {
	var product byte
	for range 8 {
		product ^= a & -(b & 1)
		a = a<<1 ^ 0x1b&-(a>>7)
		b >>= 1
	}
	return product
}

// inverse is a to the power of 254: the group has 255 elements.
func inverse(a byte) byte {
	out := byte(1)
	for range 7 {
		a = times(a, a)
		out = times(out, a)
	}
	return out
}
