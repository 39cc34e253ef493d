package e2e

import (
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"os/exec"
	"strings"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/armor"
	"github.com/ProtonMail/go-crypto/openpgp/packet"
	"github.com/hiddeco/sshsig"
	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/crypto/ssh"
)

// signer signs what Git signs. Its key is made when it is first used.
type signer struct {
	key, public string // id or fingerprint, and the public part as an operator stores it
	sign        func(message []byte) (string, error)
}

// newOpenPGP makes a signer with a key of OpenPGP.
func newOpenPGP(name string) (signer, error) {
	config := &packet.Config{Algorithm: packet.PubKeyAlgoEdDSA}
	entity, err := openpgp.NewEntity(name, "", name+"@example.org", config)
	if err != nil {
		return signer{}, err
	}
	var public bytes.Buffer
	w, err := armor.Encode(&public, openpgp.PublicKeyType, nil)
	if err != nil {
		return signer{}, err
	}
	if err := entity.Serialize(w); err != nil {
		return signer{}, err
	}
	if err := w.Close(); err != nil {
		return signer{}, err
	}
	return signer{entity.PrimaryKey.KeyIdString(), public.String() + "\n", func(message []byte) (string, error) {
		var out bytes.Buffer
		err := openpgp.ArmoredDetachSign(&out, entity, bytes.NewReader(message), config)
		return out.String(), err
	}}, nil
}

// newSSH makes a signer with a key of OpenSSH.
func newSSH() (signer, error) {
	_, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		return signer{}, err
	}
	key, err := ssh.NewSignerFromKey(private)
	if err != nil {
		return signer{}, err
	}
	public := strings.TrimSpace(string(ssh.MarshalAuthorizedKey(key.PublicKey())))
	return signer{ssh.FingerprintSHA256(key.PublicKey()), public, func(message []byte) (string, error) {
		sig, err := sshsig.Sign(bytes.NewReader(message), key, sshsig.HashSHA512, "git")
		if err != nil {
			return "", err
		}
		return string(sshsig.Armor(sig)), nil
	}}, nil
}

// signer returns the signer of a name, and sets $KEY_NAME and $PUBLIC_NAME.
func (s *story) signer(ts *testscript.TestScript, kind, name string) signer {
	if known, ok := s.signers[name]; ok {
		return known
	}
	made, err := newSSH()
	if kind == "openpgp" {
		made, err = newOpenPGP(name)
	}
	ts.Check(err)
	s.signers[name] = made
	quoted, err := json.Marshal(made.public)
	ts.Check(err)
	ts.Setenv("KEY_"+name, made.key)
	ts.Setenv("PUBLIC_"+name, strings.Trim(string(quoted), `"`))
	return made
}

// cmdSign signs the last commit of main, which is another one then: sign REPO openpgp|ssh NAME. The first use of a name makes its key:
// $KEY_NAME is its id, and $PUBLIC_NAME its public part, as it is written between double quotes. $COMMIT is the signed commit.
func cmdSign(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) == 3 && (args[1] == "openpgp" || args[1] == "ssh"), "sign REPO openpgp|ssh NAME")
	s := of(ts)
	repo, by := s.repo(ts, args[0]), s.signer(ts, args[1], args[2])
	git := func(input string, args ...string) string {
		cmd := exec.Command("git", append([]string{"--git-dir", repo.Dir()}, args...)...)
		cmd.Stdin = strings.NewReader(input)
		out, err := cmd.Output()
		ts.Check(err)
		return string(out)
	}
	commit := git("", "cat-file", "commit", repo.Head("main"))
	head, message, _ := strings.Cut(commit, "\n\n")
	if before, _, signed := strings.Cut(head, "\ngpgsig "); signed { // it is the last header
		head = before
	}
	signature, err := by.sign([]byte(head + "\n\n" + message))
	ts.Check(err)
	header := "\ngpgsig " + strings.ReplaceAll(strings.TrimSpace(signature), "\n", "\n ")
	id := strings.TrimSpace(git(head+header+"\n\n"+message, "hash-object", "-t", "commit", "-w", "--stdin"))
	repo.Branch("main", id)
	ts.Setenv("COMMIT", id)
}
