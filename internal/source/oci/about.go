package oci

import (
	"strings"
	"time"

	"github.com/slipway-gitops/slipway/internal/legible"
	"github.com/slipway-gitops/slipway/internal/source"
	"github.com/slipway-gitops/slipway/internal/source/archive"
)

// about is what the author of an artifact wrote into its annotations.
type about struct {
	Author  string    `json:"author,omitempty"`
	Subject string    `json:"subject,omitempty"`
	At      time.Time `json:"at,omitzero"`
	Helm    bool      `json:"helm,omitempty"` // the archive has the chart in a directory
}

// Bounds of what is kept of annotations, in bytes.
const (
	maxAuthor  = 200
	maxPart    = 200
	maxSubject = 600
)

// aboutOf makes one line of the annotations that OCI names: "Title 1.2.3: description (revision 0123abc of https://…)".
func aboutOf(annotations map[string]string, helm bool) about {
	get := func(name string) string {
		return legible.Line(strings.TrimSpace(annotations["org.opencontainers.image."+name]), maxPart)
	}
	out := about{Author: legible.Line(strings.TrimSpace(annotations["org.opencontainers.image.authors"]), maxAuthor), Helm: helm}
	at, err := time.Parse(time.RFC3339, annotations["org.opencontainers.image.created"])
	if err == nil && at.Year() > 1970 && at.Year() < 10_000 {
		out.At = at.UTC()
	}
	subject := strings.TrimSpace(get("title") + " " + get("version"))
	if text := get("description"); text != "" && subject != "" {
		subject += ": " + text
	} else {
		subject += text
	}
	var from []string
	if revision := get("revision"); revision != "" {
		from = append(from, "revision "+revision)
	}
	if url := get("source"); url != "" {
		from = append(from, "source "+url)
	}
	if len(from) > 0 {
		subject = strings.TrimSpace(subject + " (" + strings.Join(from, ", ") + ")")
	}
	out.Subject = legible.Cut(subject, maxSubject)
	return out
}

// tree is the files of a version, with what its author wrote about it.
type tree struct {
	*archive.Tree
	about about
}

// Change returns the author and the description of the version.
func (t *tree) Change() (source.Change, error) {
	return source.Change{Author: t.about.Author, Subject: t.about.Subject, At: t.about.At}, nil
}
