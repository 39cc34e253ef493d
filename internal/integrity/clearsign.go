package integrity

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"time"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/clearsign"
	"github.com/ProtonMail/go-crypto/openpgp/packet"
)

// maxSignatures bounds the signatures of one text.
const maxSignatures = 10

const beginClear = "-----BEGIN PGP SIGNED MESSAGE-----"

// Clear is a text whose signature was verified.
type Clear struct {
	Text   []byte // what is signed and nothing else, with lines that end in CR LF
	Signer Signer
	Until  time.Time // when the signature, or the key that made it, expires; zero for never
}

// ClearSigned verifies a text that an OpenPGP key has signed in the clear. keys are the ids or fingerprints of those that may sign it.
// One good signature is enough. Of several faults it returns the one that is nearest to a good signature.
func (k *Keyring) ClearSigned(raw []byte, keys []string, now time.Time) (Clear, *Fault) {
	block, fault := oneClear(raw)
	if fault != nil {
		return Clear{}, fault
	}
	worst := Fault{Method: OpenPGP, Code: Unreadable, Detail: "it has no OpenPGP signature of a known version"}
	packets := packet.NewReader(block.ArmoredSignature.Body)
	for range maxSignatures {
		next, err := packets.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		sig, ok := next.(*packet.Signature)
		if err != nil || !ok || sig.IssuerKeyId == nil {
			break // what follows cannot be read
		}
		signer, fault := k.checkPGP(block.Bytes, sig, Policy{Keys: keys}, now)
		if fault == nil {
			return Clear{Text: block.Bytes, Signer: signer, Until: k.ends(sig)}, nil
		}
		if rank(fault.Code) > rank(worst.Code) {
			worst = *fault
		}
	}
	return Clear{}, &worst
}

// oneClear reads a text that is one signed block, with nothing before and behind it that a reader could take for a part of it.
func oneClear(raw []byte) (*clearsign.Block, *Fault) {
	unreadable := func(detail string) (*clearsign.Block, *Fault) {
		return nil, &Fault{Method: OpenPGP, Code: Unreadable, Detail: detail}
	}
	if len(raw) == 0 {
		return nil, &Fault{Code: Unsigned}
	}
	if !bytes.HasPrefix(raw, []byte(beginClear)) {
		return unreadable("it does not begin with " + beginClear)
	}
	block, rest := clearsign.Decode(raw)
	if block == nil || block.ArmoredSignature.Type != openpgp.SignatureType {
		return unreadable("it is no text that OpenPGP signed in the clear")
	}
	if len(bytes.TrimSpace(rest)) > 0 {
		return unreadable("it has text behind the signed part")
	}
	return block, nil
}

// rank orders the codes of a signature by how near they are to a good one.
func rank(c Code) int {
	return slices.Index([]Code{
		Unreadable, UnknownKey, BadSignature, Unsuitable, Weak, ExpiredSignature, ExpiredKey, RevokedKey, UnallowedKey,
	}, c)
}

// ends is when a signature ceases to count: the earliest of its own end and those of the keys with its id.
func (k *Keyring) ends(sig *packet.Signature) time.Time {
	var out time.Time
	end := func(from time.Time, seconds *uint32) {
		if seconds == nil || *seconds == 0 {
			return
		}
		if at := from.Add(time.Duration(*seconds) * time.Second); out.IsZero() || at.Before(out) {
			out = at
		}
	}
	end(sig.CreationTime, sig.SigLifetimeSecs)
	for _, key := range k.pgp.KeysById(*sig.IssuerKeyId) {
		for pub, self := range selfSigned(key) {
			if self != nil {
				end(pub.CreationTime, self.KeyLifetimeSecs)
				end(self.CreationTime, self.SigLifetimeSecs)
			}
		}
	}
	return out
}

// selfSigned are the keys that a signature depends on, with what their owner signed about each.
func selfSigned(key openpgp.Key) map[*packet.PublicKey]*packet.Signature {
	primary, _ := key.Entity.PrimarySelfSignature()
	return map[*packet.PublicKey]*packet.Signature{key.PublicKey: key.SelfSignature, key.Entity.PrimaryKey: primary}
}
