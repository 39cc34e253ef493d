package integrity

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

const ann, bob = "Ann <ann@example.org>", "Bob <bob@example.org>"

func head(keys ...string) Policy   { return Policy{Mode: Head, Keys: keys} }
func strict(keys ...string) Policy { return Policy{Mode: Strict, Keys: keys} }

func TestACommitThatGitSignedWithGnuPGIsVerified(t *testing.T) {
	t.Parallel()
	key, other := pgpKey(t, ann, "ed25519", "sign", "never"), pgpKey(t, bob, "ed25519", "sign", "never")
	r := newRepo(t)
	plain := r.commit("", "plain")
	signed := r.commit(key, "signed")
	both := NewKeyring(export(t, key, other), "")
	if len(both.Faults()) > 0 {
		t.Fatal(both.Faults())
	}
	says(t, "signed", r.judge(head(id(key)), both, signed, ""))
	says(t, "by the whole fingerprint, in small letters", r.judge(head("0x"+strings.ToLower(key)), both, signed, ""))
	says(t, "unsigned", r.judge(head(id(key)), both, plain, ""), Unsigned)
	says(t, "a key of another project", r.judge(head(id(other)), both, signed, ""), UnallowedKey)
	says(t, "no key allowed", r.judge(head(), both, signed, ""), UnallowedKey)
	says(t, "a short id is no id", r.judge(head(key[len(key)-8:]), both, signed, ""), UnallowedKey)
	says(t, "a key that is not there", r.judge(head(id(key)), NewKeyring(export(t, other), ""), signed, ""), UnknownKey)
	v := r.judge(head(id(key)), both, signed, "")
	if v.Signer != (Signer{Method: OpenPGP, Key: id(key), Owner: ann}) {
		t.Errorf("%+v", v.Signer)
	}
	text := r.judge(head(id(key)), both, plain, "").Text()
	want := "GIT/GPG: Failed verifying revision " + plain + " by 'Ann <ann@example.org>': unsigned (key_id=); sign it"
	if !strings.HasPrefix(text, want) {
		t.Errorf("%s", text)
	}
}

func TestAKeyThatIsExpiredOrRevokedVerifiesNothing(t *testing.T) {
	t.Parallel()
	short, gone := pgpKey(t, ann, "ed25519", "sign", "1y"), pgpKey(t, ann, "ed25519", "sign", "never")
	r := newRepo(t)
	first, second := r.commit(short, "one"), r.commit(gone, "two")
	k := NewKeyring(export(t, short, gone), "")
	says(t, "while it is valid", r.judge(head(short), k, first, ""))
	says(t, "when it has expired", r.judgeAt(head(short), k, first, "", time.Now().AddDate(2, 0, 0)), ExpiredKey)
	says(t, "before it was made", r.judgeAt(head(short), k, first, "", time.Now().AddDate(-1, 0, 0)), ExpiredKey)
	says(t, "before it is revoked", r.judge(head(gone), k, second, ""))
	dir, _ := home()
	raw, err := os.ReadFile(filepath.Join(dir, "openpgp-revocs.d", gone+".rev"))
	if err != nil {
		t.Fatal(err)
	}
	gpg(t, strings.Replace(string(raw), ":-----BEGIN", "-----BEGIN", 1), "--import")
	says(t, "when it is revoked", r.judge(head(gone), NewKeyring(export(t, gone), ""), second, ""), RevokedKey)
}

func TestASubkeySignsForItsPrimaryKey(t *testing.T) {
	t.Parallel()
	key := pgpKey(t, ann, "ed25519", "cert", "never")
	gpg(t, "", "--quick-add-key", key, "ed25519", "sign", "never")
	gpg(t, "", "--quick-add-key", key, "cv25519", "encr", "never")
	var sub string
	for line := range strings.Lines(gpg(t, "", "--with-colons", "--list-keys", key)) {
		if f := strings.Split(line, ":"); f[0] == "sub" && strings.Contains(f[11], "s") {
			sub = f[4]
		}
	}
	r := newRepo(t)
	commit := r.commit(sub, "signed")
	k := NewKeyring(export(t, key), "")
	says(t, "the primary key is allowed", r.judge(head(id(key)), k, commit, ""))
	says(t, "the subkey is allowed", r.judge(head(sub), k, commit, ""))
	says(t, "neither is", r.judge(head("0123456789ABCDEF"), k, commit, ""), UnallowedKey)
	if s := r.judge(head(id(key)), k, commit, "").Signer; s.Key != sub || s.Under != id(key) {
		t.Errorf("%+v", s)
	}
	about, err := ReadKey(export(t, key)[id(key)], time.Now())
	if err != nil || about.ID != id(key) || about.Fingerprint != key || about.Owner != ann || about.Algorithm != "ed25519" ||
		len(about.Subkeys) != 1 || about.Subkeys[0] != sub {
		t.Errorf("%+v, %v", about, err)
	}
}

func TestAWeakHashAndAWeakKeyDoNotCount(t *testing.T) {
	t.Parallel()
	key, small := pgpKey(t, ann, "rsa2048", "sign", "never"), pgpKey(t, ann, "rsa1024", "sign", "never")
	r := newRepo(t)
	unsigned := r.object("commit", r.commit("", "unsigned"))
	with := func(args ...string) string {
		sig := gpg(t, string(unsigned), append(args, "--armor", "--detach-sign")...)
		return r.write("commit", withSignature(unsigned, sig))
	}
	k := NewKeyring(export(t, key, small), "")
	says(t, "SHA-256", r.judge(head(key), k, with("-u", key, "--digest-algo", "SHA256"), ""))
	says(t, "SHA-1", r.judge(head(key), k, with("-u", key, "--digest-algo", "SHA1", "--allow-weak-digest-algos"), ""), Weak)
	says(t, "RSA with 1024 bits", r.judge(head(small), k, with("-u", small), ""), Weak)
}

// withSignature is a commit with a header for a signature.
func withSignature(commit []byte, sig string) []byte {
	before, after, _ := strings.Cut(string(commit), "\n\n")
	lines := strings.Split(strings.TrimRight(sig, "\n"), "\n")
	return []byte(before + "\ngpgsig " + strings.Join(lines, "\n ") + "\n\n" + after)
}

func TestWhatIsAddedToASignedCommitSpoilsIt(t *testing.T) {
	t.Parallel()
	key, other := pgpKey(t, ann, "ed25519", "sign", "never"), pgpKey(t, bob, "ed25519", "sign", "never")
	r := newRepo(t)
	r.commit("", "first")
	good := string(r.object("commit", r.commit(key, "signed")))
	evil := r.git("", "commit-tree", "-m", "evil", "HEAD^{tree}")
	k := NewKeyring(export(t, key, other), "")
	plain := strings.Split(good, "gpgsig")[0] + "\nsigned\n"
	twice := gpg(t, plain, "-u", key, "-u", other, "--armor", "--detach-sign")
	one := gpg(t, plain, "-u", key, "--armor", "--detach-sign")
	insert := func(before, text string) string { return strings.Replace(good, before, text+before, 1) }
	for _, c := range []struct {
		name, commit string
		want         []Code
	}{
		{"nothing", good, nil},
		{"another tree", insert("tree ", "tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904\n"), []Code{BadSignature}},
		{"another parent", insert("author ", "parent "+evil+"\n"), []Code{BadSignature}},
		{"another header", insert("gpgsig ", "evil header\n"), []Code{BadSignature}},
		{"lines in a header", insert("gpgsig ", "note a\n b\n gpgsig c\n"), []Code{BadSignature}},
		{"text of the message", good + "evil\n", []Code{BadSignature}},
		{"an empty line before the signature", insert("gpgsig ", "\n"), []Code{Unsigned}},
		{"a second signature", insert("gpgsig ", "gpgsig -----BEGIN PGP SIGNATURE-----\n abc\n -----END PGP SIGNATURE-----\n"), []Code{Several}},
		{"a signature of another kind of id", insert("gpgsig ", "gpgsig-sha256 abc\n"), []Code{Several}},
		{"text after the armor", strings.Replace(good, "-----END PGP SIGNATURE-----\n", "-----END PGP SIGNATURE-----\n tree x\n", 1), []Code{Unreadable}},
		{"a second block", strings.Replace(good, "-----END PGP SIGNATURE-----\n",
			"-----END PGP SIGNATURE-----\n -----BEGIN PGP SIGNATURE-----\n \n -----END PGP SIGNATURE-----\n", 1), []Code{Several}},
		{"two signatures in one block", string(withSignature([]byte(plain), twice)), []Code{Several}},
		{"one in one block", string(withSignature([]byte(plain), one)), nil},
		{"no armor", string(withSignature([]byte(plain), "abc")), []Code{Unreadable}},
		{"an empty armor", string(withSignature([]byte(plain), beginPGP+"\n"+endPGP)), []Code{Unreadable}},
		{"a message of OpenPGP", string(withSignature([]byte(plain), strings.ReplaceAll(one, "SIGNATURE", "MESSAGE"))), []Code{Unreadable}},
		{"X.509", string(withSignature([]byte(plain), "-----BEGIN SIGNED MESSAGE-----\n-----END SIGNED MESSAGE-----")), []Code{Unreadable}},
		{"nothing but a header", "gpgsig", []Code{Unreadable}},
		{"nothing at all", "", []Code{Unsigned}},
	} {
		says(t, c.name, r.judge(head(key, other), k, r.write("commit", []byte(c.commit)), ""), c.want...)
	}
}

func TestAnAnnotatedTagIsVerifiedInPlaceOfItsCommit(t *testing.T) {
	t.Parallel()
	key := pgpKey(t, ann, "ed25519", "sign", "never")
	r := newRepo(t)
	commit := r.commit("", "unsigned")
	r.tag(key, "v1")
	r.tag("", "v2")
	k := NewKeyring(export(t, key), "")
	says(t, "a signed tag", r.judge(head(key), k, commit, "v1"))
	says(t, "an unsigned tag", r.judge(head(key), k, commit, "v2"), Unsigned)
	says(t, "strict: the commit as well", r.judge(strict(key), k, commit, "v1"), Unsigned)
	later := r.commit("", "later")
	says(t, "a tag of another commit", r.judge(head(key), k, later, "v1"), Misnamed)
	r.git("", "update-ref", "refs/tags/v3", r.git("", "rev-parse", "v1"))
	says(t, "a tag under another name", r.judge(head(key), k, commit, "v3"), Misnamed)
	r.git("", "tag", "--annotate", "--message", "outer", "v4", "v1")
	says(t, "a tag of a tag", r.judge(head(key), k, commit, "v4"), Misnamed)
	good := string(r.object("tag", "v1"))
	for _, c := range []struct {
		name, data, of string
		want           Code
	}{
		{"another object", strings.Replace(good, "object "+commit, "object "+later, 1), later, BadSignature},
		{"another text", strings.Replace(good, "release", "Release", 1), commit, BadSignature},
		{"two objects", "object " + later + "\n" + good, commit, Unreadable},
		{"a signature in the headers", "gpgsig abc\n" + good, commit, Several},
		{"nothing", "", commit, Misnamed},
	} {
		says(t, c.name, r.judgeTag(head(key), k, c.of, "v1", []byte(c.data), time.Now()), c.want)
	}
}

func TestStrictGoesBackToTheSeals(t *testing.T) {
	t.Parallel()
	key, other := pgpKey(t, ann, "ed25519", "sign", "never"), pgpKey(t, bob, "ed25519", "sign", "never")
	k := NewKeyring(export(t, key, other), "")
	r := newRepo(t)
	r.commit("", "root")
	one := r.commit(key, "one")
	says(t, "head", r.judge(head(key), k, one, ""))
	says(t, "strict: the root is unsigned", r.judge(strict(key), k, one, ""), Unsigned)
	r.commit(other, "fake\n\nArgocd-gpg-seal: trust me")
	fake := r.commit(key, "two")
	says(t, "a seal of another key", r.judge(strict(key), k, fake, ""), UnallowedKey, Unsigned)
	r.commit("", "fake\n\nArgocd-gpg-seal: trust me")
	quoted := r.commit(key, "Argocd-gpg-seal: quoted\n\nin a message, and not in its trailers")
	says(t, "an unsigned seal, and one that is quoted", r.judge(strict(key), k, quoted, ""), Unsigned, UnallowedKey, Unsigned)
	seal := r.commit(key, "reviewed", "--trailer", "ArgoCD-gpg-seal: all before is reviewed")
	says(t, "the seal", r.judge(strict(key), k, seal, ""))
	r.git("", "checkout", "--quiet", "-b", "side")
	r.commit("", "side, unsigned")
	r.git("", "checkout", "--quiet", "main")
	left := r.commit(key, "left")
	says(t, "after the seal", r.judge(strict(key), k, left, ""))
	r.git("", append(signing(key), "merge", "--quiet", "--no-ff", "--gpg-sign", "--message", "merge", "side")...)
	merge := r.git("", "rev-parse", "HEAD")
	says(t, "head: the merge", r.judge(head(key), k, merge, ""))
	says(t, "strict: what was merged", r.judge(strict(key), k, merge, ""), Unsigned)
	last := r.commit(key, "last")
	q := Question{Policy: strict(key), Keys: k, Commit: last, Now: time.Now(), Read: func(id string) ([]byte, error) {
		if id != last {
			t.Errorf("%s is read, and is known", id)
		}
		return r.object("commit", id), nil
	}, Known: func(id string) bool { return id == merge }}
	v, err := Judge(q)
	if err != nil || !v.Verified() || v.Commits != 1 {
		t.Errorf("%+v, %v", v, err)
	}
}

func TestAHistoryOfAnUnknownKeyIsNotReadToItsEnd(t *testing.T) {
	t.Parallel()
	sig := gpg(t, "anything", "-u", pgpKey(t, bob, "ed25519", "sign", "never"), "--armor", "--detach-sign")
	commit := func(parents ...int) []byte {
		var text strings.Builder
		text.WriteString("tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904\n")
		for _, p := range parents {
			fmt.Fprintf(&text, "parent %040x\n", p)
		}
		text.WriteString("author " + bob + " 1700000000 +0000\ncommitter " + bob + " 1700000000 +0000\n\nchange\n")
		return withSignature([]byte(text.String()), sig)
	}
	ask := func(mode Mode, parents func(n int) []int) (Verdict, int) {
		t.Helper()
		read := 0
		v, err := Judge(Question{Policy: Policy{Mode: mode}, Keys: NewKeyring(nil, ""), Commit: fmt.Sprintf("%040x", 0), Now: time.Now(), Read: func(id string) ([]byte, error) {
			if read++; read > maxHistory {
				return nil, errors.New("it reads on")
			}
			n, err := strconv.ParseInt(id, 16, 64)
			return commit(parents(int(n))...), err
		}})
		if err != nil {
			t.Fatal(err)
		}
		return v, read
	}
	v, read := ask(Strict, func(n int) []int { return []int{n + 1} })
	if says(t, "a long history", v, UnknownKey, TooMany); read != maxHistory {
		t.Errorf("%d commits were read", read)
	}
	many := func(n int) []int {
		out := make([]int, maxParents+1)
		for i := range out {
			out[i] = n*(maxParents+1) + i + 1
		}
		return out
	}
	if v, read = ask(Strict, many); read != 1 || !strings.Contains(v.Text(), "more than 100 parents") {
		t.Errorf("%d commits were read: %s", read, v.Text())
	}
	v, _ = ask(Head, many)
	says(t, "head: parents do not count", v, UnknownKey)
}

func TestPrivateAndUnreadableKeysAreRefused(t *testing.T) {
	t.Parallel()
	key := pgpKey(t, ann, "ed25519", "sign", "never")
	private := gpg(t, "", "--armor", "--export-secret-keys", key)
	public := export(t, key)[id(key)]
	for name, text := range map[string]string{
		"private": private, "disguised": strings.ReplaceAll(private, "PRIVATE", "PUBLIC"), "two": public + public, "nothing": "",
		"no key": "abc", "cut off": public[:len(public)/2],
	} {
		k := NewKeyring(map[string]string{"k": text}, "")
		if len(k.pgp) != 0 || len(k.Faults()) != 1 || strings.Contains(k.Faults()[0], "abc") {
			t.Errorf("%s: %d keys, %v", name, len(k.pgp), k.Faults())
		}
		if _, err := ReadKey(text, time.Now()); err == nil {
			t.Errorf("%s is read", name)
		}
	}
	a, b := NewKeyring(export(t, key), ""), NewKeyring(export(t, key), "")
	if a.Edition() != b.Edition() || a.Edition() == NewKeyring(nil, "").Edition() {
		t.Error("the edition is not that of the keys")
	}
}
