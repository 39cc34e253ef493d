// Package remote keeps the contexts of the command line: servers that the user has signed in to, with their tokens.
package remote

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/slipway-gitops/slipway/api/client"
	"github.com/slipway-gitops/slipway/internal/cli/iostream"
	"github.com/slipway-gitops/slipway/internal/strict"
)

// maxFile bounds the file of contexts.
const maxFile = 1 << 20

// Context is a server and the user there.
type Context struct {
	Name   string `json:"name"`
	Server string `json:"server"`
	// User is the user who signed in; for people, the token decides.
	User string `json:"user,omitempty"`
	// Token is a secret.
	Token     string    `json:"token,omitempty"`
	ExpiresAt time.Time `json:"expiresAt,omitzero"`
	// CA is PEM.
	CA       string `json:"ca,omitempty"`
	Insecure bool   `json:"insecure,omitempty"`
	// Data is the data directory of the `slipway up` that made the context; empty for one of `slipway login`.
	Data string `json:"data,omitempty"`
}

// String leaves the token out.
func (c Context) String() string { return c.Name + " (" + c.Server + ")" }

// Client makes a client for the server.
func (c Context) Client(version string) (*client.Client, error) {
	if version == "" {
		version = "devel"
	}
	return client.New(client.Config{
		Server: c.Server, Token: c.Token, CA: []byte(c.CA), Insecure: c.Insecure, UserAgent: "slipway/" + version,
	})
}

// Contexts are all contexts, and which one counts where none is named.
type Contexts struct {
	Current  string    `json:"current,omitempty"`
	Contexts []Context `json:"contexts"`
	// SealKeys are the keys that secrets were sealed to, by server and agent: a server that was broken into could hand out
	// one of its own.
	SealKeys map[string]string `json:"sealKeys,omitempty"`

	file string
}

// File is where contexts are kept: $SLIPWAY_CONFIG, else slipway/config.json below $XDG_CONFIG_HOME or ~/.config.
func File() (string, error) {
	if file := os.Getenv("SLIPWAY_CONFIG"); file != "" {
		return file, nil
	}
	if dir := os.Getenv("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "slipway", "config.json"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("find the contexts: %w; set XDG_CONFIG_HOME", err)
	}
	return filepath.Join(home, ".config", "slipway", "config.json"), nil
}

// Load reads the contexts; none where there is no file.
func Load() (*Contexts, error) {
	file, err := File()
	if err != nil {
		return nil, err
	}
	out := &Contexts{file: file}
	info, err := os.Stat(file)
	if errors.Is(err, fs.ErrNotExist) {
		return out, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read contexts: %w", err)
	}
	if info.Size() > maxFile {
		return nil, fmt.Errorf("read contexts: %s has more than %d bytes; remove it and sign in again", file, maxFile)
	}
	raw, err := os.ReadFile(file) //nolint:gosec // the user's own file
	if err != nil {
		return nil, fmt.Errorf("read contexts: %w", err)
	}
	if err := strict.Decode(raw, out, strict.Unknown); err != nil {
		return nil, fmt.Errorf("read contexts of %s: %w; correct the file, or remove it and sign in again", file, err)
	}
	return out, nil
}

// Update changes the contexts: it reads them, calls change and writes them, readable only for the user. Commands that run at
// the same time wait for each other, so that none loses what another one wrote. An error of change leaves the file as it is.
func Update(change func(*Contexts) error) error {
	file, err := File()
	if err != nil {
		return err
	}
	dir := filepath.Dir(file)
	_, missing := os.Stat(dir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("write contexts: %w", err)
	}
	lock, err := os.Open(dir) //nolint:gosec // the user's own directory
	if err != nil {
		return fmt.Errorf("lock contexts: %w", err)
	}
	defer func() { _ = lock.Close() }() // gives the lock up
	for {
		err := unix.Flock(int(lock.Fd()), unix.LOCK_EX)
		if err == nil {
			break
		}
		if !errors.Is(err, unix.EINTR) {
			return fmt.Errorf("lock contexts: %w", err)
		}
	}
	c, err := Load()
	if err != nil {
		return err
	}
	if err := change(c); err != nil {
		if missing != nil {
			_ = os.Remove(dir) // which is empty, unless another command wrote in the meantime
		}
		return err
	}
	return c.save()
}

// save replaces the file whole, so that a concurrent reader always finds a valid file.
func (c *Contexts) save() error {
	raw, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return fmt.Errorf("encode contexts: %w", err)
	}
	temp, err := os.CreateTemp(filepath.Dir(c.file), ".config-*") // 0600
	if err != nil {
		return fmt.Errorf("write contexts: %w", err)
	}
	_, err = temp.Write(append(raw, '\n'))
	if err = errors.Join(err, temp.Close()); err == nil {
		err = os.Rename(temp.Name(), c.file)
	}
	if err != nil {
		return fmt.Errorf("write contexts: %w", errors.Join(err, os.Remove(temp.Name())))
	}
	return nil
}

// Get finds a context by its name.
func (c *Contexts) Get(name string) (Context, bool) {
	i := slices.IndexFunc(c.Contexts, func(x Context) bool { return x.Name == name })
	if i < 0 {
		return Context{}, false
	}
	return c.Contexts[i], true
}

// Use puts a context in and makes it the current one.
func (c *Contexts) Use(x Context) {
	c.Set(x)
	c.Current = x.Name
}

// Set puts a context in, in place of one of the same name. Which one is current stays.
func (c *Contexts) Set(x Context) {
	c.Contexts = slices.DeleteFunc(c.Contexts, func(y Context) bool { return y.Name == x.Name })
	c.Contexts = append(c.Contexts, x)
	slices.SortFunc(c.Contexts, func(a, b Context) int { return strings.Compare(a.Name, b.Name) })
}

// Delete takes a context out; false where there is none of that name.
func (c *Contexts) Delete(name string) bool {
	n := len(c.Contexts)
	c.Contexts = slices.DeleteFunc(c.Contexts, func(x Context) bool { return x.Name == name })
	if c.Current == name {
		c.Current = ""
	}
	return len(c.Contexts) < n
}

// Trust reports whether a key is the one that the agent had before; the first is taken as it is. With accept a new one is
// taken as well.
func (c *Contexts) Trust(server, agentUID, key string, accept bool) bool {
	place := server + " " + agentUID
	if have, ok := c.SealKeys[place]; ok && have != key && !accept {
		return false
	}
	if c.SealKeys == nil {
		c.SealKeys = map[string]string{}
	}
	c.SealKeys[place] = key
	return true
}

// Names are those of all contexts.
func (c *Contexts) Names() []string {
	out := make([]string, 0, len(c.Contexts))
	for _, x := range c.Contexts {
		out = append(out, x.Name)
	}
	return out
}

// Choose finds the context that a command is about: given is what --server says, a name or an address; "" for the current
// one. $SLIPWAY_TOKEN takes the place of the context's token, and makes an address usable without a sign-in.
func (c *Contexts) Choose(given string) (Context, error) {
	token := os.Getenv("SLIPWAY_TOKEN")
	if given == "" {
		given = os.Getenv("SLIPWAY_SERVER")
	}
	found, ok := c.find(given)
	switch {
	case !ok && given == "":
		return Context{},
			iostream.NotLoggedInf("no server to talk to: sign in with `slipway login URL` (`slipway up` starts a server), or give --server")
	case !ok && token == "":
		return Context{}, iostream.NotLoggedInf("you are not signed in to %s: use `slipway login %s`, or set SLIPWAY_TOKEN", given, given)
	case !ok:
		at, err := client.ParseServer(given)
		if err != nil {
			return Context{}, iostream.Usagef("--server: %w", err)
		}
		found = Context{Name: at.Host, Server: at.String()}
	}
	if token != "" {
		found.Token = token
	}
	return found, nil
}

// Overruled says which variables of the environment count more than the current context, and what to do about each.
func (c *Contexts) Overruled() (problems []string) {
	current, ok := c.Get(c.Current)
	if !ok {
		return nil
	}
	named := os.Getenv("SLIPWAY_SERVER")
	if found, ok := c.find(named); !ok || found.Name != current.Name {
		problems = append(problems, fmt.Sprintf("SLIPWAY_SERVER is %s, where commands go: unset it to use context %s", named, current.Name))
	}
	if named == "" && os.Getenv("KUBECONFIG") != "" {
		problems = append(problems,
			"KUBECONFIG is set, so commands on applications go to its cluster: unset it, or set SLIPWAY_SERVER="+current.Server)
	}
	if os.Getenv("SLIPWAY_TOKEN") != "" {
		problems = append(problems, "SLIPWAY_TOKEN is set, and counts more than the token of context "+current.Name+
			": unset it to use the signed-in user")
	}
	return problems
}

// find looks for a name first, then for an address, where the current context comes first.
func (c *Contexts) find(given string) (Context, bool) {
	if given == "" {
		if c.Current == "" {
			return Context{}, false
		}
		return c.Get(c.Current)
	}
	if found, ok := c.Get(given); ok {
		return found, true
	}
	at, err := client.ParseServer(given)
	if err != nil {
		return Context{}, false
	}
	if found, ok := c.Get(c.Current); ok && found.Server == at.String() {
		return found, true
	}
	i := slices.IndexFunc(c.Contexts, func(x Context) bool { return x.Server == at.String() })
	if i < 0 {
		return Context{}, false
	}
	return c.Contexts[i], true
}
