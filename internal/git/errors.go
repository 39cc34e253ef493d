package git

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/slipway-gitops/slipway/internal/redact"
)

// What can go wrong, for errors.Is. The text of the error around one says what to do.
var (
	ErrNotFound     = errors.New("repository not found")
	ErrAuth         = errors.New("authentication failed")
	ErrDenied       = errors.New("access denied")
	ErrHostKey      = errors.New("unknown SSH host key")
	ErrTLS          = errors.New("certificate not trusted")
	ErrUnreachable  = errors.New("repository cannot be reached")
	ErrMoved        = errors.New("repository has moved")
	ErrNoRevision   = errors.New("revision not found")
	ErrRefGone      = errors.New("reference no longer exists")
	ErrAmbiguous    = errors.New("abbreviated commit id is ambiguous")
	ErrBadObjects   = errors.New("repository holds malformed objects")
	ErrCorrupt      = errors.New("local mirror is damaged")
	ErrMissing      = errors.New("object is not in the mirror")
	ErrObjectLarge  = errors.New("object is larger than the limit")
	ErrObjectFormat = errors.New("object format is not supported")
)

var errTimeout = errors.New("the time limit has passed")

// Error is a failure of a repository, fit to be shown to its user: it names the repository and what to do, and holds no
// secret. Use errors.Is with the sentinels of this package to tell them apart.
type Error struct {
	Kind   error  // one of the sentinels
	URL    string // without user information
	Detail string // what git or the server said, scrubbed; may be ""
	Hint   string // what to do
	cause  error
}

// Error says what failed and what to do.
func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s", e.URL, e.Kind)
	if e.Detail != "" {
		b.WriteString(" (" + e.Detail + ")")
	}
	if e.Hint != "" {
		b.WriteString(": " + e.Hint)
	}
	return b.String()
}

// Unwrap gives the kind, and the cause where there is one.
func (e *Error) Unwrap() []error {
	if e.cause != nil {
		return []error{e.Kind, e.cause}
	}
	return []error{e.Kind}
}

// rule maps what git says to a kind and a hint. The first that matches wins.
type rule struct {
	pattern *regexp.Regexp
	kind    error
	hint    string
}

// rules is an immutable table. Patterns hold for git 2.38 and newer with LC_ALL=C, libcurl and OpenSSH.
var rules = []rule{ //nolint:gochecknoglobals // compiled once
	{re(`couldn't find remote ref`), ErrRefGone, "choose a branch or tag that exists"},
	{
		re(`not our ref|does not allow request for unadvertised object|remote error: .*unadvertised`), ErrNoRevision,
		"the server does not have or does not hand out this commit: follow a branch or tag that contains it",
	},
	{re(`REMOTE HOST IDENTIFICATION HAS CHANGED`), ErrHostKey, "the server's key differs from the known one: check it with the server's owner, then replace it in the known hosts"},
	{re(`Host key verification failed|No \S+ host key is known`), ErrHostKey, "add the server's key to the known hosts"},
	{re(`Load key .*(invalid format|libcrypto|passphrase)`), ErrAuth, "the SSH private key cannot be read: store an unencrypted private key in PEM or OpenSSH form"},
	{re(`Permission denied \(`), ErrAuth, "check the SSH key and that the server knows its public half"},
	{re(`could not read (Username|Password)`), ErrAuth, "the repository is private or does not exist: check the address and add a credential"},
	{re(`Authentication failed|returned error: 401|HTTP Basic: Access denied`), ErrAuth, "check user name, password or token of the repository credential"},
	{re(`returned error: 403`), ErrDenied, "the credential may not read this repository: grant it read access"},
	{re(`returned error: 30[1278]`), ErrMoved, "the server redirects to another address: use that address (some servers want it to end in .git)"},
	{re(`returned error: 429`), ErrUnreachable, "the server limits the rate of requests: poll less often or use a webhook"},
	{re(`returned error: 5\d\d`), ErrUnreachable, "the server answers with an error: try again later"},
	{
		re(`(?i)certificate verif|certificate problem|self.signed certificate|unable to get local issuer|certificate has expired|CERT_|does not match target host`), ErrTLS,
		"add the certificate authority of the server, or mark the repository insecure",
	},
	{
		re(`(?i)could not resolve (host|proxy)|connection refused|failed to connect|couldn't connect|connection timed out|operation timed out|timed out after|too slow|empty reply|connection reset|network is unreachable|no route to host|connect to host|connection closed|kex_exchange|unexpected disconnect|early EOF|the remote end hung up|RPC failed`),
		ErrUnreachable, "check the address, the network and the proxy",
	},
	{
		re(`repository '.*' not found|(?i)repository not found|does not appear to be a git repository|not valid: is this a git repository|returned error: (404|410)|project you were looking for could not be found`),
		ErrNotFound, "check the address, and that the credential may read the repository",
	},
	{re(`(?i)mismatched (algorithms|object format)|unsupported object format|unknown object format`), ErrObjectFormat, "only SHA-1 repositories can be read"},
	{re(`fsck error|bad object type|index-pack failed|unpack-objects.*error`), ErrBadObjects, "the repository holds objects that git fsck refuses: repair it and push again"},
	{re(`transport '.*' not allowed`), ErrDenied, "use an https:// or ssh:// address"},
	{
		re(`not a git repository|is corrupt|bad object|loose object|packfile .* (cannot|does not)|unable to read|did not send all necessary objects|bad config|missing (blob|tree|commit)|inflate|object file .* is empty|cannot lock ref|broken ref|unable to resolve reference`),
		ErrCorrupt, "it is fetched anew",
	},
}

func re(s string) *regexp.Regexp { return regexp.MustCompile(s) }

// explain turns the failure of a command into an *Error. It leaves an ended context as it is.
func (m *Mirror) explain(err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, errTimeout) || errors.Is(err, context.DeadlineExceeded) {
		return &Error{Kind: ErrUnreachable, URL: m.URL(), Detail: "no answer in time", Hint: "check the network, or whether the repository is too large", cause: err}
	}
	var run *runError
	if !errors.As(err, &run) {
		return err
	}
	message, cred := m.scrub(run.message), m.cred.Load()
	for _, r := range rules {
		if r.pattern.MatchString(message) {
			if errors.Is(r.kind, ErrAuth) && strings.Contains(message, "could not read ") && (cred.Password != "" || cred.Bearer != "") {
				// git asks for another credential when the one it was given was refused.
				return &Error{Kind: ErrAuth, URL: m.URL(), Hint: "the server refuses the credential: check user name, password or token, and that it has not expired"}
			}
			return &Error{Kind: r.kind, URL: m.URL(), Detail: clean(message), Hint: r.hint}
		}
	}
	return &Error{Kind: ErrUnreachable, URL: m.URL(), Detail: clean(message), Hint: "check the address and the credential"}
}

// scrub removes what is secret in addresses, the secrets of the credential and the names of private files.
func (m *Mirror) scrub(s string) string {
	s = redact.Addresses(redact.NewKnown(m.cred.Load().secrets()...).Text(s))
	return strings.ReplaceAll(s, m.client.private, "")
}

// clean puts what a program said on one line of bounded length, without control characters.
func clean(s string) string {
	var lines []string
	for line := range strings.Lines(s) {
		line = strings.TrimSpace(line)
		for _, p := range []string{"fatal: ", "error: ", "remote: ", "warning: "} {
			line = strings.TrimPrefix(line, p)
		}
		if line != "" && !strings.HasPrefix(line, "hint:") {
			lines = append(lines, line)
		}
	}
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, strings.Join(lines, "; "))
	if len(s) > 500 {
		s = strings.ToValidUTF8(s[:500], "") + "..."
	}
	return s
}
