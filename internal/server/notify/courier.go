package notify

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/nicholas-fedor/shoutrrr/pkg/router"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/chat/mattermost"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/push/gotify"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/push/ntfy"
	"github.com/nicholas-fedor/shoutrrr/pkg/types"

	"github.com/slipway-gitops/slipway/internal/outward"
)

// CourierArgument makes the server's program a courier: a process that sends one message and ends. The library takes no
// context and some of its services no client, so a receiver that hangs, an address that is not to be reached and a fault
// of the library end with a process of their own.
const CourierArgument = "notify-courier"

// parcel is what a courier is handed.
type parcel struct {
	URL     string            `json:"url"`
	Title   string            `json:"title,omitempty"`
	Text    string            `json:"text"`
	Options map[string]string `json:"options,omitempty"`
	Outward outward.Policy    `json:"outward"`
}

// receipt is what it says.
type receipt struct {
	Sent  bool   `json:"sent"`
	Error string `json:"error,omitempty"`
}

// maxParcel bounds what a courier reads.
const maxParcel = 256 << 10

// Courier sends the message that it reads and says what came of it. It is all that its process does: the guard is put in
// the place of what all of its HTTP goes through.
func Courier(ctx context.Context, in io.Reader, out io.Writer) error {
	var p parcel
	if err := json.NewDecoder(io.LimitReader(in, maxParcel)).Decode(&p); err != nil {
		return fmt.Errorf("read what is to be sent: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, sendTime)
	defer cancel()
	r := receipt{Sent: true}
	if err := p.send(ctx); err != nil {
		r = receipt{Error: quiet(err, p.URL)}
	}
	return json.NewEncoder(out).Encode(r)
}

// errLibrary says that the library panicked: it does where a receiver answers with what it did not expect.
var errLibrary = errors.New("the library for this kind of channel broke down")

// unbroken turns a panic of the library into an error.
func unbroken(do func() error) (err error) {
	defer func() {
		if recover() != nil {
			err = errLibrary
		}
	}()
	return do()
}

// send sends through the library.
func (p *parcel) send(ctx context.Context) error {
	over := transport(&p.Outward)
	client := &http.Client{Transport: over, Timeout: sendTime}
	http.DefaultTransport = client.Transport //nolint:forbidigo // services of the library use it; nothing else runs in this process
	http.DefaultClient = client              //nolint:forbidigo // the same
	address, err := url.Parse(p.URL)
	if err != nil {
		return errSecret
	}
	if address.Scheme == "smtp" { // it is no HTTP
		if err := pin(ctx, &p.Outward, address.Hostname()); err != nil {
			return err
		}
	}
	var service types.Service
	if err := unbroken(func() (err error) { service, err = (&router.ServiceRouter{}).Locate(p.URL); return err }); err != nil {
		return fmt.Errorf("%w (%w)", errSecret, err)
	}
	switch s := service.(type) { // they bring a client of their own
	case *gotify.Service:
		s.GetHTTPClient().Transport = client.Transport
	case *mattermost.Service:
		s.GetHTTPClient().Transport = client.Transport
	case *ntfy.Service:
		s.SetHTTPClient(client)
	}
	params := types.Params{}
	maps.Copy(params, p.Options)
	if p.Title != "" {
		params.SetTitle(p.Title)
	}
	done := make(chan error, 1)
	go func() { done <- unbroken(func() error { return service.Send(p.Text, &params) }) }()
	select {
	case err := <-done:
		return over.outcome(err, address.Scheme == "smtp")
	case <-ctx.Done():
		return errTime
	}
}

// errTime says that a receiver does not answer.
var errTime = fmt.Errorf("the receiver did not answer within %s", sendTime)

// couriers starts processes that send.
type couriers struct {
	// command is the program with its argument.
	command []string
	outward outward.Policy
}

// inherited is what of the environment a courier gets: how to reach others, and whom to trust.
func inherited() []string {
	var out []string
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR"} {
		if value := cmp.Or(os.Getenv(name), os.Getenv(strings.ToLower(name))); value != "" {
			out = append(out, name+"="+value)
		}
	}
	return out
}

// send hands a message to a courier and waits for it.
func (c *couriers) send(ctx context.Context, p parcel) error {
	p.Outward = c.outward
	in, err := json.Marshal(p)
	if err != nil {
		return fmt.Errorf("write what is to be sent: %w", err)
	}
	// Beyond its own limit it is killed.
	ctx, cancel := context.WithTimeout(ctx, sendTime+5*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, c.command[0], slices.Clone(c.command[1:])...)
	var out bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Env, cmd.Dir, cmd.WaitDelay = bytes.NewReader(in), &limited{
		&out, maxAnswer,
	}, inherited(), os.TempDir(), time.Second
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return errTime
		}
		return fmt.Errorf("the process that sends broke down: %w", err)
	}
	var r receipt
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		return errors.New("the process that sends returned nothing that can be read")
	}
	if !r.Sent {
		return errors.New(cmp.Or(r.Error, "the receiver did not take it"))
	}
	return nil
}

// limited refuses what is too much.
type limited struct {
	to   *bytes.Buffer
	left int
}

// Write implements io.Writer.
func (l *limited) Write(p []byte) (int, error) {
	if len(p) > l.left {
		return 0, errors.New("too much was written")
	}
	l.left -= len(p)
	return l.to.Write(p)
}
