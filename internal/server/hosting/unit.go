package hosting

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/legible"
	"github.com/slipway-gitops/slipway/internal/redact"
)

const (
	// stopTime is how long an agent may take to end in order.
	stopTime = 8 * time.Second
	// firstPause and longestPause are before an agent that ended is started again; steady is how long it must have run for
	// the first one to count again.
	firstPause, longestPause, steady = time.Second, time.Minute, 2 * time.Minute
	// keepTime bounds the writing of a state.
	keepTime = 5 * time.Second
)

// unit is an agent that this server runs.
type unit struct {
	host    *Host
	agent   Agent
	claimed time.Time // when its claim was renewed; of Host.Run
	token   time.Time // when its token was made; of Host.Run
	cancel  context.CancelFunc
	done    chan struct{}
	changed chan struct{} // revoked is another
	revoked atomic.Bool
	heard   atomic.Int64 // unix nanoseconds
	user    atomic.Int64 // that its process runs as; 0 for the server's
	killed  sync.Once
	hard    chan struct{} // closed if it must not end in order, but immediately

	mu       sync.Mutex
	how      api.Hosting
	began    time.Time // of the process that runs
	out      *log      // of that process
	restarts int
}

// Files of an agent, in its directory of --hosted-data. The agent may write into the first one only.
func (u *unit) file(name string) string { return filepath.Join(u.host.cfg.Data, u.agent.UID, name) }

const (
	dataDir   = "data"
	tokenFile = "registration-token"
	logFile   = "agent.log"
)

// prepare makes the directories of an agent.
func (u *unit) prepare() error {
	mode := os.FileMode(0o700)
	if u.host.users.some() {
		mode = 0o711
	}
	if err := os.MkdirAll(u.file(""), mode); err != nil {
		return fmt.Errorf("make its directory: %w", err)
	}
	if err := os.Mkdir(u.file(dataDir), 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return fmt.Errorf("make its directory: %w", err)
	}
	u.host.owners.Lock()
	defer u.host.owners.Unlock()
	user, err := u.host.users.of(u.host.cfg.Data, u.file(dataDir))
	u.user.Store(int64(user))
	return err
}

// see takes in what is known of the agent now.
func (u *unit) see(ctx context.Context, a Agent) error {
	u.heard.Store(a.HeardAt.UnixNano())
	if off := a.Revoked && !a.Invited; u.revoked.Swap(off) != off {
		select {
		case u.changed <- struct{}{}:
		default:
		}
	}
	if a.Registered && !a.Invited {
		defer u.running(ctx) // a reader of its new state finds no token any more
		u.token = time.Time{}
		if err := os.Remove(u.file(tokenFile)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("remove its registration token: %w", err)
		}
		return nil
	}
	u.running(ctx)
	if a.Revoked && !a.Invited || time.Since(u.token) < renew || a.Registered && !u.token.IsZero() {
		return nil
	}
	token, err := u.host.cfg.Register(ctx, a.ID)
	if err != nil {
		return fmt.Errorf("make its registration token: %w", err)
	}
	if err := u.writeToken(token); err != nil {
		return fmt.Errorf("write its registration token: %w", err)
	}
	u.token = time.Now()
	return nil
}

// writeToken writes the token where the agent alone reads it, in a directory that the agent cannot change.
func (u *unit) writeToken(token string) error {
	if err := u.prepare(); err != nil {
		return err
	}
	fresh := u.file(tokenFile + ".new")
	if err := os.Remove(fresh); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := os.WriteFile(fresh, []byte(token), 0o600); err != nil {
		return err
	}
	if user := int(u.user.Load()); user != 0 {
		if err := os.Chown(fresh, user, user); err != nil {
			return err
		}
	}
	return os.Rename(fresh, u.file(tokenFile))
}

// run runs the agent again and again until ctx ends.
func (u *unit) run(ctx context.Context) {
	pause := firstPause
	for ctx.Err() == nil {
		if u.revoked.Load() {
			u.keep(ctx, api.HostStopped, "its key was revoked: slipway agent register "+u.agent.ID+" lets it in again")
			select {
			case <-ctx.Done():
			case <-u.changed:
			}
			continue
		}
		began := time.Now()
		said, err := u.process(ctx)
		if ctx.Err() != nil {
			return
		}
		if u.revoked.Load() {
			continue
		}
		if time.Since(began) > steady {
			pause = firstPause
		}
		wait := pause + rand.N(pause/4) //nolint:gosec // it spreads starts
		pause = min(2*pause, longestPause)
		u.mu.Lock()
		u.restarts++
		u.mu.Unlock()
		why := fmt.Sprintf("its process ended (%v)", err)
		if said != "" {
			why += ": " + said
		}
		u.host.cfg.Log.Warn("hosted agent ended", "agent", u.agent.ID, "err", err, "said", said, "again", wait.Round(time.Millisecond).String())
		u.keep(ctx, api.HostFailing, why)
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
		case <-u.changed:
		case <-timer.C:
		}
		timer.Stop()
	}
}

// process runs the agent until it ends, or ctx does, or it is revoked, and returns what it complained about last.
func (u *unit) process(ctx context.Context) (said string, err error) {
	kubeconfig, err := u.host.clusters.Kubeconfig(u.agent.Cluster)
	if err != nil {
		return "", err
	}
	if err := u.prepare(); err != nil {
		return "", u.host.plain(err)
	}
	out, err := openLog(u.file(logFile))
	if err != nil {
		return "", fmt.Errorf("open its log: %w", err)
	}
	defer out.Close()                                                   //nolint:errcheck // nothing depends on it
	cmd := exec.Command(u.host.cfg.Program, u.arguments(kubeconfig)...) //nolint:gosec // the operator's
	cmd.Dir, cmd.Env, cmd.Stderr = "/", u.environment(), io.Writer(out)
	cmd.WaitDelay = time.Second // something that it started may hold its log open
	groups, err := u.host.users.groups(kubeconfig, int(u.user.Load()))
	if err != nil {
		return "", err
	}
	cmd.SysProcAttr = attributes(int(u.user.Load()), groups)
	u.mu.Lock()
	u.began, u.out = time.Now(), out
	u.mu.Unlock()
	u.keep(ctx, api.HostStarting, "")
	started, ended := make(chan error, 1), make(chan error, 1)
	go func() {
		// The kernel ends the process when the thread ends that started it.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			ended <- cmd.Wait()
		}
	}()
	if err := <-started; err != nil {
		return "", u.host.plain(err)
	}
	u.host.cfg.Log.Info("hosted agent started", "agent", u.agent.ID, "cluster", u.agent.Cluster, "pid", cmd.Process.Pid,
		"log", u.file(logFile))
	for {
		select {
		case err := <-ended:
			return u.host.clean(out.complaint()), err
		case <-u.changed:
			if !u.revoked.Load() {
				continue
			}
		case <-ctx.Done():
		}
		return "", u.finish(cmd, ended)
	}
}

// finish ends a process in order, and by force where that takes too long or nothing may wait.
func (u *unit) finish(cmd *exec.Cmd, ended <-chan error) error {
	timer := time.NewTimer(stopTime)
	defer timer.Stop()
	_ = cmd.Process.Signal(syscall.SIGTERM) // it has ended where that fails
	select {
	case err := <-ended:
		return err
	case <-u.hard:
	case <-timer.C:
		u.host.cfg.Log.Warn("hosted agent does not end: it is killed", "agent", u.agent.ID)
	}
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	return <-ended
}

// kill has the process ended by force.
func (u *unit) kill() { u.killed.Do(func() { close(u.hard) }) }

func (u *unit) arguments(kubeconfig string) []string {
	o := u.host.cfg.Options
	args := []string{
		"--server", o.Server, "--kubeconfig", kubeconfig, "--namespace", u.agent.Namespace, "--installation-id", u.agent.Namespace,
		"--data", u.file(dataDir), "--registration-token-file", u.file(tokenFile),
	}
	if o.CA != "" {
		args = append(args, "--server-ca", o.CA)
	}
	return args
}

// environment is that of the agent: nothing of the server's own but what the operator names.
func (u *unit) environment() []string {
	home := u.file(dataDir)
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "TMPDIR=" + home, "GOMEMLIMIT=" + u.host.cfg.Memory}
	env = append(env, u.host.cfg.Outbound...)
	for _, name := range u.host.cfg.Environment {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// quiet is how long an agent may take to be heard before its complaints are reported.
const quiet = 10 * time.Second

// running keeps that the agent is heard, once it is, and what keeps it from that.
func (u *unit) running(ctx context.Context) {
	u.mu.Lock()
	how, began, out := u.how, u.began, u.out
	u.mu.Unlock()
	if how.State != api.HostStarting {
		return
	}
	if u.heard.Load() > began.UnixNano() {
		u.keep(ctx, api.HostRunning, "")
		return
	}
	if said := u.host.clean(out.complaint()); time.Since(began) > quiet && said != how.Message {
		u.keep(ctx, api.HostStarting, said)
	}
}

// keep keeps how the agent is, and notifies watchers.
func (u *unit) keep(ctx context.Context, state, message string) {
	u.mu.Lock()
	u.how = api.Hosting{State: state, Since: time.Now().UTC(), Message: message, Server: u.host.machine, Restarts: u.restarts}
	how := u.how
	u.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, keepTime)
	defer cancel()
	if err := u.host.cfg.Storage.KeepHosted(ctx, u.agent.UID, u.host.cfg.Holder, how); err != nil {
		if ctx.Err() == nil {
			u.host.cfg.Log.Warn("keep the state of a hosted agent", "agent", u.agent.ID, "err", err)
		}
		return
	}
	u.host.cfg.Changed(ctx, u.agent.UID)
}

// longestMessage bounds what people see of a log, in bytes.
const longestMessage = 400

// plain takes the path of the program out of an error.
func (h *Host) plain(err error) error { return errors.New(h.clean(err.Error())) }

// clean takes out of a line what people need not know: where files of the server are, and what looks like a secret.
func (h *Host) clean(line string) string {
	for _, dir := range []string{h.cfg.Data, h.cfg.Dir, filepath.Dir(h.cfg.Program)} {
		line = strings.ReplaceAll(line, strings.TrimSuffix(dir, "/")+"/", "")
	}
	line = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, redact.Addresses(line))
	return legible.Cut(opaque.ReplaceAllString(line, "…"), longestMessage)
}
