package integrity

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

func by(signers ...string) Policy { return Policy{Mode: Head, Signers: signers} }

func TestACommitThatGitSignedWithOpenSSHIsVerified(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"ed25519", "ecdsa", "rsa"} {
		key, other := sshKey(t, kind), sshKey(t, kind)
		r := newRepo(t)
		commit := r.commit(key, "signed")
		r.tag(key, "v1")
		k := NewKeyring(nil, "# people\n\nann@example.org "+public(t, key)+"\nbob@example.org namespaces=\"git\" "+public(t, other)+"\n")
		if len(k.Faults()) > 0 {
			t.Fatal(k.Faults())
		}
		says(t, kind+" signed", r.judge(by("ann@example.org"), k, commit, ""))
		says(t, kind+" tag", r.judge(by("ann@example.org"), k, commit, "v1"))
		says(t, kind+" any signer", r.judge(by("*"), k, commit, ""))
		says(t, kind+" another signer", r.judge(by("bob@example.org"), k, commit, ""), UnallowedKey)
		says(t, kind+" a policy for OpenPGP alone", r.judge(head("0123456789ABCDEF"), k, commit, ""), UnallowedKey)
		says(t, kind+" an unknown key", r.judge(by("*"), NewKeyring(nil, "bob@example.org "+public(t, other)), commit, ""), UnknownKey)
		if s := r.judge(by("*"), k, commit, "").Signer; s.Method != SSH || !strings.HasPrefix(s.Key, "SHA256:") || s.Owner != "ann@example.org" {
			t.Errorf("%+v", s)
		}
		spoiled := strings.Replace(string(r.object("commit", commit)), "\n\nsigned", "\n\nspoiled", 1)
		says(t, kind+" spoiled", r.judge(by("*"), k, r.write("commit", []byte(spoiled)), ""), BadSignature)
	}
}

func TestTheOptionsOfAnAllowedSignerHold(t *testing.T) {
	t.Parallel()
	key := sshKey(t, "ed25519")
	r := newRepo(t)
	commit := r.commit(key, "signed")
	day := func(d int) string { return r.at.UTC().AddDate(0, 0, d).Format("20060102") }
	for _, c := range []struct {
		name, line string
		want       []Code
	}{
		{"a time that holds", "ann@example.org valid-after=\"" + day(-1) + "\",valid-before=\"" + day(2) + "\" ", nil},
		{"one with seconds", "ann@example.org valid-after=\"" + day(-1) + "101112Z\" ", nil},
		{"not valid yet", "ann@example.org valid-after=\"" + day(2) + "\" ", []Code{ExpiredKey}},
		{"not valid any more", "ann@example.org valid-before=\"" + day(-1) + "\" ", []Code{ExpiredKey}},
		{"for git", "ann@example.org namespaces=\"file,git\" ", nil},
		{"for files", "ann@example.org namespaces=\"file\" ", []Code{UnknownKey}},
		{"by a pattern", "*@example.org ", nil},
		{"all but one", "*@example.org,!ann@example.org ", []Code{UnallowedKey}},
		{"an authority", "ann@example.org cert-authority ", []Code{UnknownKey}},
		{"in quotes", "\"ann@example.org\" ", nil},
	} {
		k := NewKeyring(nil, c.line+public(t, key))
		if len(k.Faults()) > 0 {
			t.Errorf("%s: %v", c.name, k.Faults())
		}
		says(t, c.name, r.judge(by("ann@example.org"), k, commit, ""), c.want...)
	}
	for _, line := range []string{
		"ann@example.org", public(t, key), "ann@example.org verify-required " + public(t, key), "ann@example.org ssh-ed25519 AAAA",
		"ann@example.org valid-before=\"tomorrow\" " + public(t, key), "ann@example.org namespaces=\"\" " + public(t, key),
		"ann@example.org valid-after=\"20260102\",valid-before=\"20260101\" " + public(t, key),
	} {
		k := NewKeyring(nil, line)
		if len(k.signers) != 0 || len(k.Faults()) != 1 {
			t.Errorf("%s: %v", line, k.Faults())
		}
	}
}

func TestACertificateOfAnAuthorityNamesTheSigner(t *testing.T) {
	t.Parallel()
	authority, other, key := sshKey(t, "ed25519"), sshKey(t, "ed25519"), sshKey(t, "ed25519")
	certify := func(by string, more ...string) string {
		run(t, "", nil, "ssh-keygen", append([]string{"-q", "-s", by, "-I", "ann"}, append(more, key+".pub")...)...)
		return key + "-cert.pub"
	}
	trusted := NewKeyring(nil, "*@example.org cert-authority,namespaces=\"git\" "+public(t, authority))
	for _, c := range []struct {
		name    string
		options []string
		by      string
		signers []string
		want    []Code
	}{
		{"of a user", []string{"-n", "ann@example.org"}, authority, []string{"ann@example.org"}, nil},
		{"of two users", []string{"-n", "root,ann@example.org"}, authority, []string{"ann@example.org"}, nil},
		{"any user", []string{"-n", "ann@example.org"}, authority, []string{"*"}, nil},
		{"another user", []string{"-n", "bob@example.org"}, authority, []string{"ann@example.org"}, []Code{UnallowedKey}},
		{"of another domain", []string{"-n", "ann@example.com"}, authority, []string{"*"}, []Code{UnallowedKey}},
		{"without a principal", nil, authority, []string{"*"}, []Code{ExpiredKey}},
		{"of a host", []string{"-h", "-n", "ann@example.org"}, authority, []string{"*"}, []Code{ExpiredKey}},
		{"with options", []string{"-n", "ann@example.org", "-O", "force-command=true"}, authority, []string{"*"}, []Code{ExpiredKey}},
		{"expired", []string{"-n", "ann@example.org", "-V", "20200101:20200201"}, authority, []string{"*"}, []Code{ExpiredKey}},
		{"of another authority", []string{"-n", "ann@example.org"}, other, []string{"*"}, []Code{UnknownKey}},
	} {
		r := newRepo(t)
		commit := r.commit(certify(c.by, c.options...), "signed")
		says(t, c.name, r.judge(by(c.signers...), trusted, commit, ""), c.want...)
	}
}

func TestASignatureForAnotherPurposeDoesNotCount(t *testing.T) {
	t.Parallel()
	key := sshKey(t, "ed25519")
	small := sshKey(t, "rsa", "-b", "1024")
	r := newRepo(t)
	plain := r.object("commit", r.commit("", "unsigned"))
	sign := func(key, namespace string) string {
		file := t.TempDir() + "/commit"
		if err := os.WriteFile(file, plain, 0o600); err != nil {
			t.Fatal(err)
		}
		run(t, "", nil, "ssh-keygen", "-q", "-Y", "sign", "-f", key, "-n", namespace, file)
		sig, err := os.ReadFile(file + ".sig")
		if err != nil {
			t.Fatal(err)
		}
		return r.write("commit", withSignature(plain, string(sig)))
	}
	k := NewKeyring(nil, fmt.Sprintf("ann %s\nann %s\n", public(t, key), public(t, small)))
	says(t, "git", r.judge(by("ann"), k, sign(key, "git"), ""))
	says(t, "file", r.judge(by("ann"), k, sign(key, "file"), ""), BadSignature)
	says(t, "a small key", r.judge(by("ann"), k, sign(small, "git"), ""), Weak)
	garbage := r.write("commit", withSignature(plain, beginSSH+"\nAAAA\n"+endSSH))
	says(t, "garbage", r.judge(by("ann"), k, garbage, ""), Unreadable)
}

func FuzzJudge(f *testing.F) {
	f.Add([]byte("tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904\nauthor A <a> 1 +0000\ngpgsig -----BEGIN SSH SIGNATURE-----\n U1NIU0lH\n -----END SSH SIGNATURE-----\n\nx\n"),
		[]byte("object x\ntype commit\ntag v1\n\nx\n-----BEGIN PGP SIGNATURE-----\n\nwsBc\n-----END PGP SIGNATURE-----\n"), "ann ssh-ed25519 AAAA")
	f.Fuzz(func(t *testing.T, commit, tag []byte, signers string) {
		k := NewKeyring(map[string]string{"k": signers}, signers)
		for _, mode := range []Mode{Head, Strict} {
			v, err := Judge(Question{
				Policy: Policy{Mode: mode, Keys: []string{"0123456789ABCDEF"}, Signers: []string{"*"}}, Keys: k, Commit: "c", Tag: tag, Name: "v1",
				Now: time.Unix(1700000000, 0), Read: func(string) ([]byte, error) { return commit, nil },
			})
			if err != nil || v.Verified() {
				t.Errorf("%v, %v", v, err)
			}
		}
	})
}
