package git

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/slipway-gitops/slipway/internal/legible"
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
	ErrTooLarge     = errors.New("repository is larger than the limit")
	ErrMemory       = errors.New("repository takes more memory than the limit")
)

var (
	errTimeout  = errors.New("the time limit has passed")
	errTooLarge = errors.New("the mirror has reached its limit")
)

// Error is a failure of a repository, fit to be shown to its user: it names the repository and what to do, and holds no
// secret. Use errors.Is with the sentinels of this package to distinguish them.
type Error struct {
	Kind   error  // one of the sentinels
	URL    string // without user information
	Detail string // more about it, in words of ours: it contains no output of a server; may be ""
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
	theirs  bool // the pattern is also looked for in the output of the server
}

// damagedThere is the way out where a server cannot read its own repository, or sends what cannot be read.
const damagedThere = "what the server has or sends is damaged: run git fsck in the repository there, and push again what it lacks"

// rules is an immutable table. Patterns hold for git 2.38 and newer with LC_ALL=C, libcurl and OpenSSH.
var rules = []rule{ //nolint:gochecknoglobals // compiled once

	{
		pattern: re(`(?i)out of memory|malloc failed|realloc failed|cannot allocate memory|unable to create thread`), kind: ErrMemory,
		hint: "remove its very large files, or have the operator raise --repository-memory of the agent",
	},
	{pattern: re(`couldn't find remote ref`), kind: ErrRefGone, hint: "choose a branch or tag that exists"},
	{
		pattern: re(`not our ref|does not allow request for unadvertised object|remote error: .*unadvertised`), kind: ErrNoRevision, theirs: true,
		hint: "the server does not have or does not hand out this commit: follow a branch or tag that contains it",
	},
	{
		pattern: re(`REMOTE HOST IDENTIFICATION HAS CHANGED`), kind: ErrHostKey,
		hint: "the server's key differs from the known one: check it with the server's owner, then replace it in the known hosts",
	},
	{pattern: re(`Host key verification failed|No \S+ host key is known`), kind: ErrHostKey, hint: "add the server's key to the known hosts"},
	{
		pattern: re(`Load key .*(invalid format|libcrypto|passphrase)`), kind: ErrAuth,
		hint: "the SSH private key cannot be read: store an unencrypted private key in PEM or OpenSSH form",
	},
	{pattern: re(`Permission denied \(`), kind: ErrAuth, hint: "check the SSH key and that the server knows its public half"},
	{
		pattern: re(`could not read (Username|Password)`), kind: ErrAuth,
		hint: "the repository is private or does not exist: check the address and add a credential",
	},
	{
		pattern: re(`Authentication failed|returned error: 401`), kind: ErrAuth,
		hint: "check user name, password or token of the repository credential",
	},
	{pattern: re(`returned error: 403`), kind: ErrDenied, hint: "the credential may not read this repository: grant it read access"},
	{
		pattern: re(`returned error: 30[1278]`), kind: ErrMoved,
		hint: "the server redirects to another address: use that address (some servers want it to end in .git)",
	},
	{
		pattern: re(`returned error: 429`), kind: ErrUnreachable,
		hint: "the server limits the rate of requests: poll less often or use a webhook",
	},
	{pattern: re(`returned error: 5\d\d`), kind: ErrUnreachable, hint: "the server answers with an error: try again later"},
	{
		pattern: re(`(?i)certificate verif|certificate problem|self.signed certificate|unable to get local issuer|certificate has expired|CERT_|does not match target host`),
		kind:    ErrTLS, hint: "add the certificate authority of the server, or mark the repository insecure",
	},
	{
		pattern: re(`repository '.*' not found|(?i)repository not found|does not appear to be a git repository|not valid: is this a git repository|returned error: (404|410)|project you were looking for could not be found`),
		kind:    ErrNotFound, hint: "check the address, and that the credential may read the repository", theirs: true,
	},
	{
		pattern: re(`(?i)could not resolve (host|proxy)|connection refused|failed to connect|couldn't connect|connection timed out|operation timed out|timed out after|too slow|empty reply|connection reset|network is unreachable|no route to host|connect to host|connection closed|kex_exchange`),
		kind:    ErrUnreachable, hint: "check the address, the network and the proxy",
	},
	{
		pattern: re(`(?i)mismatched (algorithms|object format)|unsupported object format|unknown object format`), kind: ErrObjectFormat,
		hint: "only SHA-1 repositories can be read",
	},
	{
		pattern: re(`fsck error|bad object type|: error in object: |object [0-9a-f]{40}: `), kind: ErrBadObjects,
		hint: "the repository holds objects that git fsck refuses: repair it and push again",
	},
	{pattern: re(`possible repository corruption on the remote side`), kind: ErrBadObjects, theirs: true, hint: damagedThere},
	{pattern: re(`(?i)bad pack header|pack signature`), kind: ErrBadObjects, hint: damagedThere},
	{
		pattern: re(`(?i)unexpected disconnect|early EOF|the remote end hung up|RPC failed|connection to the server|protocol error|expected flush|bad line length|pack has bad|inflate|invalid pkt-line|unexpected end of file|transfer closed|invalid server response|expected '?(packfile|acknowledgments)`),
		kind:    ErrUnreachable, hint: "the server broke off, or its answer is not what git expects: look into its log, " +
			"and run git fsck in the repository there; a proxy in between can be why, too",
	},
	{
		pattern: re(`index-pack failed|unpack-objects.*error`), kind: ErrBadObjects,
		hint: "what the server sends is no sound pack: repair the repository and push again",
	},
	{pattern: re(`transport '.*' not allowed`), kind: ErrDenied, hint: "use an https:// or ssh:// address"},
	{pattern: damage, kind: ErrCorrupt, hint: "it is fetched again"},
}

// damage is what git says of a mirror that cannot be read.
var damage = re(`not a git repository|is corrupt|bad object|loose object|packfile .* (cannot|does not)|unable to read|did not send all necessary objects|bad config|missing (blob|tree|commit)|inflate|object file .* is empty|cannot lock ref|broken ref|unable to resolve reference`) //nolint:gochecknoglobals // compiled once

// reasons are short words for what git and its libraries say, the first that matches. Only they are reported: a
// user who may choose an address must not read what is there (docs/security/classes.md).
var reasons = []struct { //nolint:gochecknoglobals // compiled once
	pattern *regexp.Regexp
	words   string
}{
	{re(`(?i)could not resolve proxy`), "the name of the proxy is not known"},
	{re(`(?i)could not resolve host`), "the name of the host is not known"},
	{re(`(?i)connection refused`), "connection refused"},
	{re(`(?i)timed out|too slow`), "no answer in time"},
	{re(`(?i)no route to host|network is unreachable`), "no route to the host"},
	{re(`(?i)empty reply|connection reset|connection closed|disconnect|early EOF|hung up|transfer closed`), "the connection was closed"},
	{re(`(?i)certificate has expired`), "the certificate has expired"},
	{re(`(?i)self.signed certificate`), "the certificate is self-signed or signed by an unknown authority"},
	{re(`(?i)local issuer`), "the authority of the certificate is not known"},
	{re(`(?i)does not match target host|no alternative certificate subject`), "the certificate is for another host"},
}

var (
	status  = regexp.MustCompile(`returned error: (\d{3})\b`)
	finding = regexp.MustCompile(`object ([0-9a-f]{40}): ([a-zA-Z]{1,40}):`) // of git fsck
)

// reason says why, in words of ours and figures.
func reason(said string) string {
	if m := status.FindStringSubmatch(said); m != nil {
		return "HTTP status " + m[1]
	}
	if m := finding.FindStringSubmatch(said); m != nil {
		return m[2] + " in object " + m[1]
	}
	for _, r := range reasons {
		if r.pattern.MatchString(said) {
			return r.words
		}
	}
	return ""
}

func re(s string) *regexp.Regexp { return regexp.MustCompile(s) }

// explain turns the failure of a command that talks to the remote into an *Error. It leaves an ended context as it is. The
// output of the server decides at most on the kind, and is not shown.
func (m *Mirror) explain(err error, cred Credential) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, errTimeout) || errors.Is(err, context.DeadlineExceeded):
		return &Error{
			Kind: ErrUnreachable, URL: m.URL(), Detail: "no answer in time",
			Hint: "check the network, or whether the repository is too large", cause: err,
		}
	case errors.Is(err, errTooLarge):
		return m.tooLarge()
	case errors.Is(err, errOutput):
		return &Error{
			Kind: ErrTooLarge, URL: m.URL(), Detail: fmt.Sprintf("its list of references has more than %d MiB", maxOutput>>20),
			Hint: "delete branches and tags",
		}
	}
	var run *runError
	if !errors.As(err, &run) {
		return err
	}
	own := ours(run.message)
	for _, r := range rules {
		if !r.pattern.MatchString(own) && !(r.theirs && r.pattern.MatchString(run.message)) {
			continue
		}
		switch {
		case errors.Is(r.kind, ErrMemory):
			return &Error{Kind: ErrMemory, URL: m.URL(), Detail: fmt.Sprintf("which is %d MiB", m.client.opts.MaxMemory>>20), Hint: r.hint}
		case errors.Is(r.kind, ErrAuth) && strings.Contains(own, "could not read ") && (cred.Password != "" || cred.Bearer != ""):
			// git asks for another credential when the one it was given was refused.
			return &Error{
				Kind: ErrAuth, URL: m.URL(),
				Hint: "the server refuses the credential: check user name, password or token, and that it has not expired",
			}
		}
		return &Error{Kind: r.kind, URL: m.URL(), Detail: reason(own), Hint: r.hint}
	}
	return &Error{
		Kind: ErrUnreachable, URL: m.URL(), Detail: reason(own),
		Hint: "what answers there does not speak as git expects: check the address and the credential",
	}
}

func (m *Mirror) tooLarge() error {
	return &Error{
		Kind: ErrTooLarge, URL: m.URL(), Detail: fmt.Sprintf("which is %d MiB on disk", m.client.opts.MaxSize>>20),
		Hint: "make it smaller, or have the operator raise --repository-size of the agent",
	}
}

// explainLocal turns the failure of a command that reads and writes the mirror alone into an *Error.
func (m *Mirror) explainLocal(err error) error {
	var run *runError
	if errors.As(err, &run) && damage.MatchString(run.message) {
		return &Error{Kind: ErrCorrupt, URL: m.URL(), Detail: clean(m.scrub(run.message)), Hint: "it is fetched again"}
	}
	if err != nil {
		return fmt.Errorf("%s: maintain mirror: %w", m.URL(), err)
	}
	return nil
}

// ours is git's own part of an output: without the lines that it passes on from the server.
func ours(message string) string {
	var out strings.Builder
	for line := range strings.Lines(strings.ReplaceAll(message, "\r", "\n")) {
		if !strings.HasPrefix(line, "remote:") && !strings.Contains(line, "remote error:") {
			out.WriteString(line)
		}
	}
	return out.String()
}

// scrub removes what is secret in addresses, the secrets of the credential and the names of private files.
func (m *Mirror) scrub(s string) string {
	s = redact.Addresses(redact.NewKnown(m.cred.Load().secrets()...).Text(s))
	return strings.ReplaceAll(s, m.client.private, "")
}

// clean puts the output of a program on one line of bounded length, without control characters.
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
	return legible.Cut(s, 500)
}
