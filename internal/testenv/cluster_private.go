package testenv

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"k8s.io/client-go/rest"
)

// privateGrace is for how long a private cluster outlives the test process.
const privateGrace = "2s"

// Private is a cluster for one test, which may kill it and start it again. Its
// methods fail the test on error and are for the goroutine of the test.
type Private struct {
	t          testing.TB
	launch     launch
	kubeconfig string
	command    *exec.Cmd
	ended      chan struct{}
}

// PrivateCluster starts a cluster in a temporary directory. It is killed at the
// end of the test, or soon after the test process has died. It costs some 3
// seconds of processor time and 350 MB of memory: use Cluster where it will do.
// Flags of devcluster may be added, such as --bare for a cluster of half the size.
// Without a binary the test is skipped, or fails under SLIPWAY_REQUIRE_CLUSTER.
func PrivateCluster(t testing.TB, flags ...string) *Private {
	t.Helper()
	root, err := repositoryRoot()
	if err != nil {
		t.Fatal(err)
	}
	binary, err := findBinary(root)
	if err != nil {
		noCluster(t, err)
	}
	dir := t.TempDir()
	// While the cluster is dead, its port must go to no other process, and to no client that tries to reach it either.
	port, held, err := reservePort()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = held.Close() })
	p := &Private{t: t, launch: launch{
		binary: binary, data: filepath.Join(dir, "data"), use: filepath.Join(dir, "use.lock"),
		grace: privateGrace, output: filepath.Join(dir, "devcluster.out"), port: port, flags: flags,
	}}
	hold, err := lockFile(t.Context(), p.launch.use, syscall.LOCK_SH)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.Kill()
		_ = hold.Close()
	})
	p.start()
	return p
}

// Config returns how to reach the cluster as an administrator without
// client-side rate limits. It stays valid over restarts.
func (p *Private) Config() *rest.Config {
	p.t.Helper()
	return restConfig(p.t, p.kubeconfig)
}

// Kubeconfig returns the path of a kubeconfig, which stays valid over restarts.
func (p *Private) Kubeconfig() string { return p.kubeconfig }

// Kill ends the cluster without any warning, as a crash would, and returns when
// its process is gone. Killing a dead cluster does nothing.
func (p *Private) Kill() {
	p.t.Helper()
	if p.command == nil {
		return
	}
	if err := p.command.Process.Signal(os.Kill); err != nil {
		p.t.Logf("kill devcluster: %v", err)
	}
	<-p.ended
	p.command = nil
}

// Restart kills the cluster if it runs, starts it on the same data and returns
// when it is ready.
func (p *Private) Restart() {
	p.t.Helper()
	p.Kill()
	p.start()
}

func (p *Private) start() {
	p.t.Helper()
	command, err := p.launch.start()
	if err != nil {
		p.t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = command.Wait()
		close(ended)
	}()
	p.command, p.ended = command, ended
	ctx, cancel := context.WithTimeout(p.t.Context(), startLimit)
	defer cancel()
	p.kubeconfig, err = p.launch.awaitReady(ctx, func() (bool, error) {
		select {
		case <-ended:
			return true, nil
		default:
			return false, nil
		}
	})
	if err != nil {
		p.t.Fatal(err)
	}
}
