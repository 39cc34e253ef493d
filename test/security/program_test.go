package security

import (
	"os"
	"os/exec"
	"regexp"
	"syscall"
	"testing"

	"github.com/slipway-gitops/slipway/internal/testenv"
)

// newProgram starts a server as a program of its own, with more arguments and another environment than the others have. What
// it writes to its log is all that it writes.
func newProgram(t *testing.T, environment []string, args ...string) *world {
	t.Helper()
	w := &world{t: t, data: t.TempDir(), log: newRecord(), answers: newRecord()}
	command := exec.Command("slipway-server", append([]string{"--listen", "127.0.0.1:0", "--data", w.data, "--log-level", "debug"}, args...)...) //nolint:noctx // it is stopped in order
	command.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "SLIPWAY_ADMIN_PASSWORD=" + password, testenv.Outbound}, environment...)
	command.Stdout, command.Stderr = w.log, w.log
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	stopped := false
	w.stop = func() {
		if stopped {
			return
		}
		stopped = true
		_ = command.Process.Signal(syscall.SIGTERM) // it may have ended
		if err := command.Wait(); err != nil {
			t.Errorf("the server ended: %v", err)
		}
	}
	t.Cleanup(w.stop)
	w.log.until(t, `"msg":"listening"`)
	w.url = regexp.MustCompile(`"msg":"listening","url":"([^"]+)"`).FindStringSubmatch(w.log.String())[1]
	w.admin = w.signIn("admin", password)
	return w
}
