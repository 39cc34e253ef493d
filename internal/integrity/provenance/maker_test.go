package provenance_test

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/slipway-gitops/slipway/internal/integrity"
)

// home is the one GnuPG of the tests: starting its agent takes longer than all else.
var home = sync.OnceValues(func() (string, error) {
	if _, err := exec.LookPath("gpg"); err != nil {
		return "", err
	}
	return os.MkdirTemp("", "gpg") // short: the path of a socket has a limit
})

func TestMain(m *testing.M) {
	code := m.Run()
	if dir, err := home(); err == nil {
		cmd := exec.Command("gpgconf", "--homedir", dir, "--kill", "all")
		_ = cmd.Run()
		_ = os.RemoveAll(dir)
	}
	os.Exit(code)
}

// ring guards the key ring of GnuPG: it has no lock that holds while another process reads it.
var ring sync.Mutex

func gpg(t *testing.T, input string, args ...string) string {
	t.Helper()
	dir, err := home()
	if err != nil {
		t.Skip("gpg is not installed: install GnuPG 2.2 or newer")
	}
	ring.Lock()
	defer ring.Unlock()
	cmd := exec.CommandContext(t.Context(), "gpg", append([]string{"--batch", "--quiet", "--yes", "--passphrase", "", "--pinentry-mode", "loopback"}, args...)...)
	cmd.Env = append(os.Environ(), "GNUPGHOME="+dir, "LC_ALL=C", "TZ=UTC")
	cmd.Stdin = strings.NewReader(input)
	var out, wrong bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &wrong
	if err := cmd.Run(); err != nil {
		t.Fatalf("gpg %v: %v: %s", args, err, wrong.String())
	}
	return out.String()
}

// pgpKey makes a key, and returns its fingerprint. expire is as gpg takes it.
func pgpKey(t *testing.T, owner, expire string) string {
	t.Helper()
	for line := range strings.Lines(gpg(t, "", "--status-fd", "1", "--quick-gen-key", owner, "rsa2048", "sign", expire)) {
		if f := strings.Fields(line); len(f) == 4 && f[1] == "KEY_CREATED" {
			return f[3]
		}
	}
	t.Fatal("gpg made no key")
	return ""
}

// id is the last digits of a fingerprint.
func id(fingerprint string) string { return fingerprint[len(fingerprint)-16:] }

// keyring has the public parts of keys.
func keyring(t *testing.T, keys ...string) *integrity.Keyring {
	t.Helper()
	data := map[string]string{}
	for _, k := range keys {
		data[id(k)] = gpg(t, "", "--armor", "--export", k)
	}
	out := integrity.NewKeyring(data, "")
	if len(out.Faults()) > 0 {
		t.Fatal(out.Faults())
	}
	return out
}

// clear signs a text as gpg does.
func clearSigned(t *testing.T, text string, keys ...string) string {
	t.Helper()
	args := []string{"--clearsign"}
	for _, k := range keys {
		args = append(args, "--local-user", k)
	}
	return gpg(t, text, args...)
}
