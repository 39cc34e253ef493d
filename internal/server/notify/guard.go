package notify

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
	"sync"

	"github.com/slipway-gitops/slipway/internal/legible"
	"github.com/slipway-gitops/slipway/internal/outward"
	"github.com/slipway-gitops/slipway/internal/redact"
)

// errRedirect says that a receiver wants the message to go elsewhere.
var errRedirect = errors.New("the receiver redirects elsewhere, which is not followed: give the address that it redirects to")

// maxAnswer is what is read of an answer.
const maxAnswer = 64 << 10

// transport speaks HTTP to what may be reached, and follows nothing.
func transport(p *outward.Policy) *unmoved {
	t := p.Transport()
	t.ResponseHeaderTimeout, t.MaxIdleConnsPerHost = sendTime, 1
	return &unmoved{Transport: t}
}

// pin checks a host and has all names lead to its addresses from now on: what is dialled by others is what was checked. It
// is for a process that reaches nothing else.
func pin(ctx context.Context, p *outward.Policy, host string) error {
	found, err := p.Resolve(ctx, host)
	if errors.Is(err, outward.ErrRefused) {
		return err
	}
	if err != nil {
		return fmt.Errorf("resolve the receiver: %w", err)
	}
	net.DefaultResolver = only(found)
	return nil
}

// only is a resolver that has every name lead to the same addresses.
func only(found []netip.Addr) *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		here, there := net.Pipe()
		go func() {
			defer there.Close()      //nolint:errcheck // nothing is lost
			_ = answer(there, found) // the caller sees that there is no answer
		}()
		return here, nil
	}}
}

// answer is a name server for one question, which knows one host only.
func answer(conn io.ReadWriter, found []netip.Addr) error {
	const header = 12
	var size [2]byte
	if _, err := io.ReadFull(conn, size[:]); err != nil {
		return err
	}
	message := make([]byte, binary.BigEndian.Uint16(size[:]))
	if _, err := io.ReadFull(conn, message); err != nil {
		return err
	}
	end := header
	for end < len(message) && message[end] != 0 {
		end += 1 + int(message[end])
	}
	if end += 5; end > len(message) {
		return errors.New("the question is cut off")
	}
	kind := binary.BigEndian.Uint16(message[end-4:])
	out := append([]byte{message[0], message[1], 0x81, 0x80, 0, 1, 0, 0, 0, 0, 0, 0}, message[header:end]...)
	for _, at := range found {
		if at.Is4() != (kind == 1) || at.Is6() != (kind == 28) {
			continue
		}
		raw := at.AsSlice()
		out = append(out, 0xc0, header, 0, byte(kind), 0, 1, 0, 0, 0, 0, 0, byte(len(raw)))
		out = append(out, raw...)
		out[7]++
	}
	_, err := conn.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(out))), out...)) //nolint:gosec // some hundred bytes
	return err
}

// unmoved takes a redirect for an error, and reads only so much of an answer.
type unmoved struct {
	*http.Transport
	mu     sync.Mutex
	status int   // of the last answer, where that was an error
	fault  error // of the last request, where it had no answer
}

// RoundTrip implements http.RoundTripper.
func (u *unmoved) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := u.Transport.RoundTrip(r)
	if err == nil && answer.StatusCode >= 300 && answer.StatusCode < 400 {
		err = errors.Join(errRedirect, answer.Body.Close())
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.fault, u.status = err, 0
	if err != nil {
		return nil, err
	}
	if answer.StatusCode >= 400 {
		u.status = answer.StatusCode
	}
	answer.Body = bounded{io.LimitReader(answer.Body, maxAnswer), answer.Body}
	return answer, nil
}

// mailCode is the code of an answer of a mail server.
var mailCode = regexp.MustCompile(`\b[45]\d\d\b`)

// outcome is why a message did not get to its receiver; nil where it did. Libraries put what the receiver answered into their
// errors, and a user who may choose the receiver must not read that. Some of them pass over a refusal, so the last answer counts
// too.
func (u *unmoved) outcome(err error, mail bool) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	switch {
	case u.fault != nil:
		return errors.New(outward.Reason(u.fault, errRedirect))
	case u.status != 0:
		return fmt.Errorf("the receiver answered with %s", outward.Status(u.status))
	case err == nil || errors.Is(err, errLibrary):
		return err
	}
	if code := mailCode.FindString(err.Error()); mail && code != "" {
		return fmt.Errorf("the mail server answered with code %s: check sender, receivers and password", code)
	}
	return errors.New(outward.Reason(err))
}

type bounded struct {
	io.Reader
	io.Closer
}

// maxMessage is how long an error is that people are shown.
const maxMessage = 500

// quiet takes a secret out of an error: as it is, its parts, and what encodings make of them.
func quiet(err error, secret string) string {
	text := redact.Addresses(redact.NewKnown(secretParts(secret)...).Text(err.Error()))
	return legible.Cut(strings.Join(strings.Fields(text), " "), maxMessage)
}

// secretParts are what of the address of a receiver must not be shown.
func secretParts(secret string) []string {
	parts := []string{secret}
	_, rest, found := strings.Cut(secret, "://")
	if !found {
		rest = secret
	}
	if u, err := url.Parse(secret); err == nil {
		password, _ := u.User.Password()
		parts = append(parts, u.User.Username(), password)
	}
	// A password is not always where it should be.
	if at := strings.LastIndexByte(rest, '@'); at > 0 {
		parts = append(parts, rest[:at])
	}
	return append(parts, strings.FieldsFunc(rest, func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9')
	})...)
}
