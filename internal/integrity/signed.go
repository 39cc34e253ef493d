package integrity

import (
	"bytes"
	"strconv"
	"strings"
	"time"

	"github.com/slipway-gitops/slipway/internal/legible"
)

// The first lines of signatures that Git knows.
const (
	beginPGP    = "-----BEGIN PGP SIGNATURE-----"
	endPGP      = "-----END PGP SIGNATURE-----"
	beginSSH    = "-----BEGIN SSH SIGNATURE-----"
	endSSH      = "-----END SSH SIGNATURE-----"
	beginX509   = "-----BEGIN SIGNED MESSAGE-----"
	beginPGPOld = "-----BEGIN PGP MESSAGE-----"
)

// signed is a commit or tag, divided into its signature and what the signature is about.
type signed struct {
	payload   []byte
	signature string    // with its armor; "" for none
	author    string    // of a commit, or the tagger
	when      time.Time // of the committer or tagger
	message   string
	parents   []string

	kind, target, name string // of a tag: what it leads to, and its own name

	fault *Fault // why it cannot be read
}

// sealTrailer is the trailer of a commit whose signer vouches for all commits before it.
const sealTrailer = "argocd-gpg-seal:"

// sealed reports whether the last paragraph of the message has the trailer, with a reason.
func (s signed) sealed() bool {
	text := strings.TrimRight(strings.ReplaceAll(s.message, "\r\n", "\n"), "\n ")
	if i := strings.LastIndex(text, "\n\n"); i >= 0 {
		text = text[i+2:]
	}
	for line := range strings.Lines(text) {
		if len(line) > len(sealTrailer) && strings.EqualFold(line[:len(sealTrailer)], sealTrailer) &&
			strings.TrimSpace(line[len(sealTrailer):]) != "" {
			return true
		}
	}
	return false
}

// parseCommit takes the signature out of a commit as Git does: the header gpgsig, with its continuation lines.
func parseCommit(data []byte) signed {
	head, message, _ := bytes.Cut(data, []byte("\n\n"))
	s := signed{message: string(message), payload: make([]byte, 0, len(data))}
	var sig strings.Builder
	inside, found := false, false
	for line := range bytes.Lines(data[:min(len(head)+1, len(data))]) {
		if inside && line[0] == ' ' {
			sig.Write(line[1:])
			continue
		}
		key, value, _ := strings.Cut(strings.TrimSuffix(string(line), "\n"), " ")
		if inside = key == "gpgsig"; inside {
			if found {
				s.fault = &Fault{Code: Several}
			}
			found = true
			sig.WriteString(value + "\n")
			continue
		}
		s.header(key, value)
		s.payload = append(s.payload, line...)
	}
	s.payload = append(s.payload, data[min(len(head)+1, len(data)):]...)
	s.signature = sig.String()
	s.checkArmor(found)
	return s
}

// header reads what is needed of one header.
func (s *signed) header(key, value string) {
	switch {
	case strings.HasPrefix(key, "gpgsig"): // of another kind of id
		s.fault = &Fault{Code: Several, Detail: "it has a header " + legible.Line(key, maxOwner)}
	case key == "parent":
		if len(s.parents) <= maxParents { // one more than there may be is kept, to be seen
			s.parents = append(s.parents, value)
		}
	case key == "author":
		s.author, _ = person(value)
	case key == "committer":
		_, s.when = person(value)
	case key == "tagger":
		s.author, s.when = person(value)
	case key == "object":
		s.target = value
	case key == "type":
		s.kind = value
	case key == "tag":
		s.name = value
	}
}

// parseTag takes the signature off the end of a tag, as Git does: it begins at the last line that begins one.
func parseTag(data []byte) signed {
	head, message, _ := bytes.Cut(data, []byte("\n\n"))
	s := signed{message: string(message), payload: data}
	at := -1
	for pos := 0; pos < len(data); {
		for _, begin := range []string{beginPGP, beginSSH, beginX509, beginPGPOld} {
			if bytes.HasPrefix(data[pos:], []byte(begin)) {
				at = pos
			}
		}
		next := bytes.IndexByte(data[pos:], '\n')
		if next < 0 {
			break
		}
		pos += next + 1
	}
	if at >= 0 {
		s.payload, s.signature = data[:at], string(data[at:])
	}
	for line := range strings.Lines(string(head)) {
		key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		twice := key == "object" && s.target != "" || key == "type" && s.kind != "" || key == "tag" && s.name != ""
		if s.header(key, value); twice && s.fault == nil {
			s.fault = &Fault{Code: Unreadable, Detail: "the tag has a header twice"}
		}
	}
	s.checkArmor(at >= 0)
	return s
}

// checkArmor makes sure that a signature is one block and nothing else, so that no other reader sees another one.
func (s *signed) checkArmor(found bool) {
	if !found || s.fault != nil {
		return
	}
	text := strings.TrimRight(s.signature, "\n\r \t")
	begin, end := beginPGP, endPGP
	if strings.HasPrefix(text, beginSSH) {
		begin, end = beginSSH, endSSH
	}
	switch {
	case text == "":
		s.fault = &Fault{Code: Unreadable, Detail: "it is empty"}
	case !strings.HasPrefix(text, begin):
		s.fault = &Fault{Code: Unreadable, Detail: "it is neither an OpenPGP nor an SSH signature"}
	case strings.Count(text, "-----BEGIN ") > 1:
		s.fault = &Fault{Code: Several}
	case !strings.HasSuffix(text, end):
		s.fault = &Fault{Code: Unreadable, Detail: "its armor does not end"}
	}
	s.signature = text + "\n"
}

// person reads "Name <address> seconds zone".
func person(value string) (string, time.Time) {
	who, stamp := value, ""
	if i := strings.LastIndexByte(value, '>'); i >= 0 {
		who, stamp = value[:i+1], strings.TrimSpace(value[i+1:])
	}
	seconds, _, _ := strings.Cut(stamp, " ")
	n, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil || n < 0 || n > maxSeconds {
		return legible.Line(who, maxOwner), time.Time{}
	}
	return legible.Line(who, maxOwner), time.Unix(n, 0)
}

// maxSeconds is the end of the year 9999.
const maxSeconds = 253402300799
