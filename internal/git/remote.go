package git

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/slipway-gitops/slipway/internal/address"
)

// Remote is the address of a repository in a form that is safe to show and to use as a key: without user information
// for http(s), and spelled one way.
type Remote struct {
	URL    string // what git is given
	scheme string // https, http, ssh or file
	host   string
}

// ParseRemote reads https://, http://, ssh:// and scp-like addresses (git@host:path), and file:// or absolute paths
// where allowFile is set. A user name and password in an http(s) address are returned as a credential and are not in
// the result. Two spellings of one address give the same URL, as address.ParseGit says.
func ParseRemote(raw string, allowFile bool) (Remote, Credential, error) {
	var cred Credential
	at, err := address.ParseGit(raw)
	if err != nil {
		return Remote{}, cred, err
	}
	if at.Scheme == "file" && !allowFile {
		return Remote{}, cred, errors.New("repositories in local directories are not allowed: use an https:// or ssh:// address")
	}
	if at.Login != nil {
		cred.Username = at.Login.Username()
		if cred.Password, _ = at.Login.Password(); cred.Password == "" {
			// https://<token>@host is the usual short form.
			cred.Username, cred.Password = "git", cred.Username
		}
	}
	return Remote{URL: at.URL, scheme: at.Scheme, host: at.Host}, cred, nil
}

// access is what git needs to reach one remote: configuration and environment, with the private files they name.
type access struct {
	config [][2]string
	env    []string
	dir    string // private files; "" where there are none
	relay  *relay // to a proxy, for ssh; nil where there is none
}

func (a *access) close() {
	a.relay.close()
	if a.dir != "" {
		// What is left behind goes with the private directory of the client.
		_ = os.RemoveAll(a.dir)
	}
}

// open turns a credential into an access. Secrets go by environment or by files of mode 0600 in a private directory.
func (c *Client) open(ctx context.Context, r Remote, cred Credential) (*access, error) {
	if err := cred.check(); err != nil {
		return nil, err
	}
	a := &access{config: [][2]string{{"remote.origin.url", r.URL}}}
	pins, err := c.pin(ctx, r, cred)
	if err != nil {
		return nil, err
	}
	switch r.scheme {
	case "https", "http":
		err = c.openHTTP(a, r, cred, pins)
	case "ssh":
		err = c.openSSH(ctx, a, r, cred, pins)
	}
	if err != nil {
		a.close()
		return nil, err
	}
	return a, nil
}

func (c *Client) openHTTP(a *access, r Remote, cred Credential, pins []pinned) error {
	for _, p := range pins {
		a.config = append(a.config, [2]string{"http.curloptResolve", p.curl()})
	}
	// The header is bound to the address, and redirects are not followed: it reaches no other host.
	header := "http." + r.scheme + "://" + r.host + "/.extraHeader"
	switch {
	case cred.Bearer != "" && (!cred.Basic || cred.Password == ""):
		a.config = append(a.config, [2]string{header, "Authorization: Bearer " + cred.Bearer})
	case cred.Password != "":
		a.config = append(a.config, [2]string{header, "Authorization: Basic " + basic(cred)})
	}
	if cred.Insecure {
		a.config = append(a.config, [2]string{"http.sslVerify", "false"})
	}
	if cred.Proxy != "" {
		a.config = append(a.config, [2]string{"http.proxy", cred.Proxy})
		a.env = append(a.env, "NO_PROXY="+cred.NoProxy, "no_proxy="+cred.NoProxy)
	}
	for key, pem := range map[string][]byte{"http.sslCAInfo": cred.CA, "http.sslCert": cred.ClientCert, "http.sslKey": cred.ClientKey} {
		if len(pem) == 0 {
			continue
		}
		file, err := c.secretFile(a, strings.TrimPrefix(key, "http."), pem)
		if err != nil {
			return err
		}
		a.config = append(a.config, [2]string{key, file})
	}
	return nil
}

func (c *Client) openSSH(ctx context.Context, a *access, r Remote, cred Credential, pins []pinned) error {
	known, strict := "/dev/null", "no"
	if !cred.Insecure {
		file, err := c.secretFile(a, "known_hosts", cred.KnownHosts)
		if err != nil {
			return err
		}
		known, strict = file, "yes"
	}
	args := []string{
		"ssh", "-F", "/dev/null", "-o", "BatchMode=yes", "-o", "IdentitiesOnly=yes", "-o", "IdentityAgent=none",
		"-o", "PasswordAuthentication=no", "-o", "KbdInteractiveAuthentication=no", "-o", "ForwardAgent=no",
		"-o", "StrictHostKeyChecking=" + strict, "-o", "UserKnownHostsFile=" + known, "-o", "GlobalKnownHostsFile=/dev/null",
		"-o", "UpdateHostKeys=no", "-o", "ControlPath=none", "-o", "ConnectTimeout=15", "-o", "ServerAliveInterval=15",
		"-o", "ServerAliveCountMax=2", "-o", "LogLevel=ERROR",
	}
	switch {
	case r.proxied(cred):
		relay, err := c.newRelay(ctx, r, cred)
		if err != nil {
			return err
		}
		a.relay = relay
		args = append(args, relay.ssh()...)
	case len(pins) > 0:
		args = append(args, pins[0].ssh()...)
	}
	if len(cred.SSHKey) > 0 {
		key := cred.SSHKey
		if key[len(key)-1] != '\n' {
			key = append(append([]byte{}, key...), '\n') // ssh refuses a key whose last line is not ended
		}
		file, err := c.secretFile(a, "key", key)
		if err != nil {
			return err
		}
		args = append(args, "-i", file)
	} else {
		args = append(args, "-i", "/dev/null")
	}
	for i, v := range args {
		args[i] = "'" + strings.ReplaceAll(v, "'", `'\''`) + "'"
	}
	a.env = append(a.env, "GIT_SSH_COMMAND="+strings.Join(args, " "), "GIT_SSH_VARIANT=ssh")
	return nil
}

func (c *Client) secretFile(a *access, name string, content []byte) (string, error) {
	if a.dir == "" {
		dir, err := os.MkdirTemp(c.private, "access-")
		if err != nil {
			return "", fmt.Errorf("create private directory: %w", err)
		}
		a.dir = dir
	}
	file := filepath.Join(a.dir, name)
	if err := os.WriteFile(file, content, 0o600); err != nil {
		return "", fmt.Errorf("write private file: %w", err)
	}
	return file, nil
}

// SSH reports whether the repository is reached over SSH.
func (r Remote) SSH() bool { return r.scheme == "ssh" }

// Owner is the first part of the path, which on forges is the user or the organization that the repository is of; "" where the
// path has one part only.
func (r Remote) Owner() string {
	u, err := url.Parse(r.URL)
	if err != nil {
		return ""
	}
	owner, _, more := strings.Cut(strings.TrimPrefix(u.Path, "/"), "/")
	if !more {
		return ""
	}
	return owner
}

// Same reports whether two addresses most likely name one repository: host and path are equal, whatever the scheme, the
// port, the user, the letter case and a ".git" at the end. Forges name a repository in more ways than one.
func (r Remote) Same(o Remote) bool { return r.place() == o.place() }

func (r Remote) place() string {
	u, err := url.Parse(r.URL)
	if err != nil {
		return r.URL
	}
	return strings.ToLower(u.Hostname() + "/" + strings.TrimSuffix(strings.Trim(u.Path, "/"), ".git"))
}
