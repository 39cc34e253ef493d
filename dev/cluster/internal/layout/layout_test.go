package layout

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/tools/clientcmd"
)

func opened(t *testing.T, path string) *Dir {
	t.Helper()
	d, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return d
}

func TestOnlyOneCanHaveADirectoryOpen(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "deep", "data")
	first := opened(t, path)
	if _, err := Open(path); !errors.Is(err, ErrInUse) {
		t.Fatalf("second open: %v, want ErrInUse", err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	opened(t, path)
}

func TestARefusedOpenLeavesTheMarkOfTheOwner(t *testing.T) {
	t.Parallel()
	path := t.TempDir()
	d := opened(t, path)
	if err := d.MarkReady(Ready{PID: 1}); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path); err == nil {
		t.Fatal("second open worked")
	}
	if _, err := os.Stat(filepath.Join(path, "ready")); err != nil {
		t.Error(err)
	}
}

func TestOpenRemovesTheMarkOfADeadProcess(t *testing.T) {
	t.Parallel()
	path := t.TempDir()
	mark := filepath.Join(path, "ready")
	if err := os.WriteFile(mark, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	opened(t, path)
	if _, err := os.Stat(mark); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the mark is still there: %v", err)
	}
}

func TestASocketPathIsShortAndFree(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), strings.Repeat("long/", 30))
	d := opened(t, path)
	for range 2 {
		socket, err := d.Socket("client.sock")
		if err != nil {
			t.Fatal(err)
		}
		listener, err := net.Listen("unix", socket)
		if err != nil {
			t.Fatal(err)
		}
		// A killed process leaves its socket behind.
		listener.(*net.UnixListener).SetUnlinkOnClose(false)
		_ = listener.Close()
		t.Cleanup(func() {
			if _, err := os.Stat(socket); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("socket is left behind: %v", err)
			}
		})
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
}

func listen(t *testing.T, d *Dir, port Port) int {
	t.Helper()
	listener, number, err := d.Listen(port)
	if err != nil {
		t.Fatal(err)
	}
	_ = listener.Close()
	return number
}

func TestAPortStaysTheSameOverRestarts(t *testing.T) {
	t.Parallel()
	path := t.TempDir()
	d := opened(t, path)
	first := listen(t, d, Port{Name: "apiserver"})
	other := listen(t, d, Port{Name: "kubelet"})
	_ = d.Close()

	d = opened(t, path)
	if again := listen(t, d, Port{Name: "apiserver"}); again != first {
		t.Errorf("port %d after a restart, want %d", again, first)
	}
	if again := listen(t, d, Port{Name: "kubelet"}); again != other {
		t.Errorf("other port %d after a restart, want %d", again, other)
	}
}

func TestAnAskedPortWinsAndIsKept(t *testing.T) {
	t.Parallel()
	d := opened(t, t.TempDir())
	listen(t, d, Port{Name: "apiserver"})
	free, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	want := free.Addr().(*net.TCPAddr).Port
	_ = free.Close()
	if got := listen(t, d, Port{Name: "apiserver", Want: want}); got != want {
		t.Errorf("port %d, want %d", got, want)
	}
	if got := listen(t, d, Port{Name: "apiserver"}); got != want {
		t.Errorf("port %d the next time, want %d", got, want)
	}
}

func TestAKnownPortThatIsTakenIsAnError(t *testing.T) {
	t.Parallel()
	d := opened(t, t.TempDir())
	listener, number, err := d.Listen(Port{Name: "apiserver"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	if _, _, err := d.Listen(Port{Name: "apiserver"}); err == nil {
		t.Errorf("port %d was given out twice", number)
	}
}

func TestAKnownPortThatIsTakenIsReplacedWhereNobodyKeepsIt(t *testing.T) {
	t.Parallel()
	d := opened(t, t.TempDir())
	listener, number, err := d.Listen(Port{Name: "kubelet", Movable: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	other := listen(t, d, Port{Name: "kubelet", Movable: true})
	if other == number {
		t.Errorf("port %d was given out twice", number)
	}
	if _, _, err := d.Listen(Port{Name: "kubelet", Movable: true, Want: number}); err == nil {
		t.Errorf("port %d, which was asked for, was replaced", number)
	}
}

func TestADamagedPortFileIsAnError(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "{", `{"apiserver": 70000}`, `{"apiserver": -1}`} {
		path := t.TempDir()
		if err := os.WriteFile(filepath.Join(path, "ports.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, _, err := opened(t, path).Listen(Port{Name: "apiserver"}); err == nil {
			t.Errorf("ports.json %q: no error", text)
		}
	}
}

func TestAKubeconfigIsCompleteInItself(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"ca", "cert", "key"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("the "+name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(dir, "kubeconfig")
	err := WriteKubeconfig(path, Access{
		Server: "https://127.0.0.1:1234", User: "admin",
		CAPath: filepath.Join(dir, "ca"), CertPath: filepath.Join(dir, "cert"), KeyPath: filepath.Join(dir, "key"),
	})
	if err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.BuildConfigFromFlags("", path)
	if err != nil {
		t.Fatal(err)
	}
	got := []string{config.Host, string(config.CAData), string(config.CertData), string(config.KeyData)}
	if diff := cmp.Diff([]string{"https://127.0.0.1:1234", "the ca", "the cert", "the key"}, got); diff != "" {
		t.Error(diff)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if mode := info.Mode().Perm(); mode != 0o600 {
		t.Errorf("mode %o, want 600", mode)
	}
	left, err := filepath.Glob(filepath.Join(dir, ".kubeconfig-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left over: %v, error %v", left, err)
	}
}
