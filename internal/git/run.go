package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"time"
)

const (
	maxOutput = 64 << 20 // of a command that is read whole: 64 MiB are about 900,000 references
	maxErrors = 64 << 10 // of what a command says on standard error
)

// command is one run of git.
type command struct {
	dir    string // git directory, "" for none
	args   []string
	config [][2]string // configuration beside the fixed one; may hold secrets, so it goes by environment
	env    []string
	stdin  io.Reader
	limits limits
}

// errOutput is returned when a command prints more than maxOutput.
var errOutput = errors.New("output is larger than the limit")

// fixedConfig holds for every command. It is the hygiene of the package in one place.
func (c *Client) fixedConfig() [][2]string {
	cfg := [][2]string{
		{"protocol.version", "2"},
		{"protocol.allow", "never"},
		{"protocol.https.allow", "always"},
		{"protocol.http.allow", "always"},
		{"protocol.ssh.allow", "always"},
		{"core.hooksPath", "/dev/null"},
		{"core.askPass", ""},
		{"credential.helper", ""},
		{"transfer.fsckObjects", "true"},
		// A credential that is sent as a header would follow a redirect to another host.
		{"http.followRedirects", "false"},
		// A dead connection is given up; a server that only says that it is still packing is not.
		{"http.lowSpeedLimit", "1"},
		{"http.lowSpeedTime", "60"},
		// Maintenance is ours; a mirror is a cache that is fetched again when it is damaged, so nothing is synced to disk.
		{"gc.auto", "0"},
		{"maintenance.auto", "false"},
		{"core.fsync", "none"},
		{"fetch.writeCommitGraph", "false"},
		{"fetch.recurseSubmodules", "false"},
		// One pack for each fetch, whatever its size: the limit on the size of a file is one on all that a fetch brings.
		{"fetch.unpackLimit", "1"},
		// What a server names is not fetched from elsewhere.
		{"transfer.bundleURI", "false"},
		{"fetch.uriProtocols", ""},
		// Nothing larger is read by us; such files go to disk in pieces, and not through memory.
		{"core.bigFileThreshold", "32m"},
		{"advice.fetchShowForcedUpdates", "false"},
	}
	if c.opts.AllowFile {
		cfg = append(cfg, [2]string{"protocol.file.allow", "always"})
	}
	return cfg
}

// environ is the whole environment of a command: nothing is inherited but what is named here.
func (c *Client) environ(cmd command) []string {
	env := []string{
		"PATH=" + os.Getenv("PATH"),
		"HOME=" + c.home(),
		"XDG_CONFIG_HOME=" + c.home(),
		"LC_ALL=C",
		"GIT_CONFIG_NOSYSTEM=1",
		"GIT_CONFIG_GLOBAL=/dev/null",
		"GIT_ATTR_NOSYSTEM=1",
		"GIT_TERMINAL_PROMPT=0",
		"GIT_ASKPASS=",
		"SSH_ASKPASS=",
		"GIT_OPTIONAL_LOCKS=0",
		"GIT_PAGER=cat",
		"GIT_CEILING_DIRECTORIES=" + c.private, // a command without a repository finds none by chance
		"GIT_NO_REPLACE_OBJECTS=1",
	}
	if cmd.dir != "" {
		env = append(env, "GIT_DIR="+cmd.dir)
	}
	// The process's settings of proxies and roots of trust apply to git too; a credential may say otherwise.
	for _, name := range []string{
		"HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "NO_PROXY", "https_proxy", "http_proxy", "all_proxy", "no_proxy",
		"SSL_CERT_FILE", "SSL_CERT_DIR", "TZ",
	} {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	cfg := append(c.fixedConfig(), cmd.config...)
	env = append(env, "GIT_CONFIG_COUNT="+strconv.Itoa(len(cfg)))
	for i, kv := range cfg {
		n := strconv.Itoa(i)
		env = append(env, "GIT_CONFIG_KEY_"+n+"="+kv[0], "GIT_CONFIG_VALUE_"+n+"="+kv[1])
	}
	return append(env, cmd.env...)
}

func (c *Client) prepare(ctx context.Context, cmd command) *exec.Cmd {
	p := exec.CommandContext(ctx, c.program, cmd.args...)
	p.Env = c.environ(cmd)
	p.Dir = c.home()
	p.Stdin = cmd.stdin
	p.SysProcAttr = ownGroup()
	p.Cancel = func() error { return killGroup(p.Process.Pid) }
	// A grandchild that survives must not keep Wait from returning.
	p.WaitDelay = 5 * time.Second
	return p
}

// run executes one command and returns its standard output. The error of a command that failed is a *runError.
func (c *Client) run(ctx context.Context, cmd command) ([]byte, error) {
	p := c.prepare(ctx, cmd)
	out := &capped{limit: maxOutput, full: errOutput}
	msg := &capped{limit: maxErrors}
	p.Stdout, p.Stderr = out, msg
	err := cmd.limits.run(p)
	switch {
	case out.over: // git itself may have ended because the reader stopped
		return nil, fmt.Errorf("git %s: %w", cmd.args[0], errOutput)
	case err == nil:
		return out.Bytes(), nil
	case ctx.Err() != nil:
		return nil, fmt.Errorf("git %s: %w", cmd.args[0], context.Cause(ctx))
	}
	return nil, &runError{verb: cmd.args[0], message: msg.String(), err: err}
}

// remote runs a command that talks to a remote: under a time limit, and not more of them together than allowed.
func (c *Client) remote(ctx context.Context, cmd command, limit time.Duration) ([]byte, error) {
	place, err := c.lanes.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer place.leave()
	ctx, cancel := context.WithTimeoutCause(ctx, limit, errTimeout)
	defer cancel()
	return c.run(ctx, cmd)
}

// runError is a command that failed, with its output.
type runError struct {
	verb    string
	message string
	err     error
}

func (e *runError) Error() string {
	return fmt.Sprintf("git %s: %s", e.verb, clean(e.message))
}

func (e *runError) Unwrap() error { return e.err }

// capped is a buffer that takes limit bytes. Beyond, it returns the error full, or drops where that is nil.
type capped struct {
	bytes.Buffer
	limit int
	full  error
	over  bool
}

func (b *capped) Write(p []byte) (int, error) {
	room := b.limit - b.Len()
	if len(p) <= room {
		return b.Buffer.Write(p)
	}
	b.over = true
	b.Buffer.Write(p[:max(room, 0)])
	if b.full != nil {
		return 0, b.full
	}
	return len(p), nil
}
