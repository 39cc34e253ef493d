package testenv

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"

	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// sharedGrace is for how long the shared cluster waits for the next test
// process: packages may take a while to compile.
const sharedGrace = "2m"

// sharedCluster returns the path of the kubeconfig of the cluster of this run.
// It is a variable because the answer, and the lock that keeps the cluster
// alive, belong to the process as a whole: every package is tested by one.
var sharedCluster = sync.OnceValues(func() (string, error) { //nolint:gochecknoglobals // see above
	if path := os.Getenv("SLIPWAY_TEST_KUBECONFIG"); path != "" {
		if _, err := os.Stat(path); err != nil {
			return "", fmt.Errorf("use SLIPWAY_TEST_KUBECONFIG: %w", err)
		}
		return path, nil
	}
	root, err := repositoryRoot()
	if err != nil {
		return "", err
	}
	binary, err := findBinary(root)
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(context.Background(), startLimit)
	defer cancel()
	path, hold, err := joinShared(ctx, binary, filepath.Join(root, ".run", "testcluster"), sharedGrace)
	if err != nil {
		return "", err
	}
	sharedHold = hold
	return path, nil
})

// sharedHold is the lock that says that this process uses the shared cluster.
// It is never closed: the end of the process gives it up.
var sharedHold *os.File //nolint:gochecknoglobals,unused // see above

// joinShared makes this process a user of the cluster in dir and starts the
// cluster if it does not run. It returns the path of the kubeconfig and the
// lock that keeps the cluster alive until it is closed.
//
// The lock comes first: a cluster that is about to stop for want of users holds
// it until its process is gone, so what is found afterwards stays.
func joinShared(ctx context.Context, binary, dir, grace string) (kubeconfig string, hold *os.File, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", nil, fmt.Errorf("make directory for test cluster: %w", err)
	}
	l := launch{
		binary: binary, data: filepath.Join(dir, "data"), use: filepath.Join(dir, "use.lock"),
		grace: grace, output: filepath.Join(dir, "devcluster.out"), session: true,
	}
	hold, err = lockFile(ctx, l.use, syscall.LOCK_SH)
	if err != nil {
		return "", nil, err
	}
	defer func() {
		if err != nil {
			_ = hold.Close()
		}
	}()
	// One process starts; the others wait here until it has.
	starting, err := lockFile(ctx, filepath.Join(dir, "start.lock"), syscall.LOCK_EX)
	if err != nil {
		return "", nil, err
	}
	defer func() { _ = starting.Close() }()

	kubeconfig, err = l.joinOrStart(ctx)
	return kubeconfig, hold, err
}

// joinOrStart returns the kubeconfig of the cluster that runs, or of a new one.
// A cluster that was killed a moment ago may still look alive: it counts only
// once it answers, and is looked at again until it does or its lock is free.
func (l launch) joinOrStart(ctx context.Context) (kubeconfig string, err error) {
	taken := filepath.Join(l.data, "lock")
	var last error
	err = wait.PollUntilContextCancel(ctx, probeEvery, true, func(ctx context.Context) (bool, error) {
		running, err := locked(taken)
		if err != nil {
			return false, err
		}
		if !running {
			kubeconfig, err = l.startFresh(ctx)
			return err == nil, err
		}
		kubeconfig, last = l.awaitReady(ctx, func() (bool, error) {
			running, err := locked(taken)
			return !running, err
		})
		if last == nil {
			last = answers(ctx, kubeconfig)
		}
		return last == nil, nil
	})
	if err != nil {
		return "", errors.Join(err, last)
	}
	return kubeconfig, nil
}

// answers returns an error unless the API server says that it is ready.
func answers(ctx context.Context, kubeconfig string) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return fmt.Errorf("read kubeconfig: %w", err)
	}
	config.Timeout = requestLimit
	transport, err := rest.TransportFor(config)
	if err != nil {
		return fmt.Errorf("make transport: %w", err)
	}
	defer utilnet.CloseIdleConnectionsFor(transport)
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("make client: %w", err)
	}
	if err := client.Discovery().RESTClient().Get().AbsPath("/readyz").Do(ctx).Error(); err != nil {
		return fmt.Errorf("ask test cluster whether it is ready: %w", err)
	}
	return nil
}

// startFresh starts a cluster without any data and lets go of its process.
func (l launch) startFresh(ctx context.Context) (string, error) {
	if err := os.RemoveAll(l.data); err != nil {
		return "", fmt.Errorf("remove old test cluster: %w", err)
	}
	command, err := l.start()
	if err != nil {
		return "", err
	}
	pid := command.Process.Pid
	kubeconfig, err := l.awaitReady(ctx, func() (bool, error) {
		// Not command.Wait: that would take a goroutine for as long as the
		// cluster lives, longer than tests that look for leaks allow.
		var status syscall.WaitStatus
		got, err := syscall.Wait4(pid, &status, syscall.WNOHANG, nil)
		if errors.Is(err, syscall.EINTR) {
			return false, nil
		}
		return got == pid, err
	})
	if err != nil {
		_ = command.Process.Kill()
	}
	return kubeconfig, errors.Join(err, command.Process.Release())
}
