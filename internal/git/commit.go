package git

import (
	"bytes"
	"fmt"
	"strings"
	"time"
)

// Commit is what a commit object says. Signature verification needs Signature and Signed.
type Commit struct {
	ID        ID
	Tree      ID
	Parents   []ID
	Author    Person
	Committer Person
	Message   string
	Signature string // the raw gpgsig header, armoured; "" where unsigned
	Signed    []byte // the object without the signature: what was signed
}

// Person is an author or committer.
type Person struct {
	Name, Email string
	When        time.Time
}

// Commit reads a commit by its full id. An annotated tag is followed to its commit.
func (m *Mirror) Commit(id ID) (*Commit, error) {
	if !m.exists() {
		return nil, fmt.Errorf("read commit %s: %w", id, ErrMissing)
	}
	h, data, err := m.reader.contents(id.String()+"^{commit}", maxCommit)
	if err != nil {
		return nil, fmt.Errorf("read commit %s: %w", id, err)
	}
	c, err := parseCommit(data)
	if err != nil {
		return nil, fmt.Errorf("read commit %s: %w", id, err)
	}
	c.ID = h.id
	return c, nil
}

func parseCommit(data []byte) (*Commit, error) {
	head, message, _ := bytes.Cut(data, []byte("\n\n"))
	c := &Commit{Message: string(message)}
	signed := make([]byte, 0, len(data))
	inSig := false
	var sig strings.Builder
	for line := range bytes.Lines(head) {
		text := strings.TrimSuffix(string(line), "\n")
		if inSig && strings.HasPrefix(text, " ") {
			sig.WriteString(text[1:] + "\n")
			continue
		}
		inSig = false
		key, value, _ := strings.Cut(text, " ")
		if key == "gpgsig" {
			if sig.Len() > 0 {
				return nil, fmt.Errorf("%w: the commit has two signatures", ErrBadObjects)
			}
			inSig = true
			sig.WriteString(value + "\n")
			continue
		}
		signed = append(append(signed, text...), '\n')
		if err := c.header(key, value); err != nil {
			return nil, err
		}
	}
	c.Signature = sig.String()
	if i := bytes.Index(data, []byte("\n\n")); i >= 0 {
		signed = append(signed, data[i+1:]...)
	}
	c.Signed = signed
	return c, nil
}

func (c *Commit) header(key, value string) (err error) {
	switch key {
	case "tree":
		c.Tree, err = ParseID(value)
	case "parent":
		var p ID
		if p, err = ParseID(value); err == nil {
			c.Parents = append(c.Parents, p)
		}
	case "author":
		c.Author = parsePerson(value)
	case "committer":
		c.Committer = parsePerson(value)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrBadObjects, err)
	}
	return nil
}

// parsePerson reads "Name <email> seconds zone" and takes whatever is there: old tools wrote odd lines. A time or a zone
// that no calendar has is left out: it could not be written again.
func parsePerson(s string) Person {
	name, rest, _ := strings.Cut(s, "<")
	email, stamp, _ := strings.Cut(rest, ">")
	p := Person{Name: strings.TrimSpace(name), Email: email}
	var sec int64
	var zone int
	if n, _ := fmt.Sscanf(strings.TrimSpace(stamp), "%d %d", &sec, &zone); n > 0 && sec >= minTime && sec <= maxTime {
		sign := 1
		if zone < 0 {
			sign, zone = -1, -zone
		}
		if zone < 0 || zone/100 > 23 || zone%100 > 59 {
			zone = 0
		}
		p.When = time.Unix(sec, 0).In(time.FixedZone("", sign*(zone/100*3600+zone%100*60)))
	}
	return p
}

// The times that RFC 3339 can say, in every zone: from the year 1 to 9999, less a day.
const (
	minTime = -62135596800 + 86400
	maxTime = 253402300799 - 86400
)
