// Package need finds what a source needs besides its own tree: charts that a chart depends on, remote bases of kustomizations,
// and files by URL. It reads trees and nothing else. Who fetches what it finds hands the files to the renderers as further
// trees, so that these still read nothing but trees.
package need

import (
	"fmt"
	"strings"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/redact"
)

// Bounds of what one source may need. A remote base can name further ones.
const (
	MaxNeeds  = 100
	MaxRounds = 10 // of remote bases that name remote bases
	maxURL    = 2048
)

// FileName is the name of the one file in the tree of a File.
const FileName = "content"

// Kind says what a Need is.
type Kind string

// The kinds.
const (
	Chart Kind = "chart" // a chart of a Helm repository or an OCI registry
	Git   Kind = "git"   // a Git repository
	File  Kind = "file"  // what an http(s) URL gives
)

// Need is one thing that a source needs. Two that are equal but for By are the same.
type Need struct {
	Kind Kind
	// URL is the address of the repository or the file. "@name" and "alias:name" are the names of a configured Helm repository.
	URL      string
	Name     string // of the chart
	Revision string // version or range of the chart; branch, tag or commit in Git, "" for the default branch
	By       string // what names it, for people: "dependency redis of Chart.yaml"
}

// Key identifies a Need. It may hold what is secret in the address, so it is shown nowhere.
func (n Need) Key() string {
	return strings.Join([]string{string(n.Kind), n.URL, n.Name, n.Revision}, "\x00")
}

// Source is where to fetch a chart or a Git repository from, in the words of an Application.
func (n Need) Source() v1alpha1.ApplicationSource {
	return v1alpha1.ApplicationSource{RepoURL: n.URL, Chart: n.Name, TargetRevision: n.Revision, Path: "."}
}

// Alias returns the name of the configured repository that a chart is to come from, where its address is one.
func (n Need) Alias() (name string, ok bool) {
	if n.Kind != Chart {
		return "", false
	}
	if name, ok = strings.CutPrefix(n.URL, "@"); ok {
		return name, true
	}
	return strings.CutPrefix(n.URL, "alias:")
}

// Follows says whether a Need can come to stand for something else while the revision of the source stays.
func (n Need) Follows() bool { return n.Kind != Git || !isCommit(n.Revision) }

// String names the Need for people, without what is secret in its address.
func (n Need) String() string {
	at := redact.Addresses(n.URL)
	switch {
	case n.Kind == Chart && n.Revision != "":
		return fmt.Sprintf("chart %s %s of %s", n.Name, n.Revision, at)
	case n.Kind == Chart:
		return fmt.Sprintf("chart %s of %s", n.Name, at)
	case n.Revision != "":
		return at + " at " + n.Revision
	}
	return at
}

func isCommit(revision string) bool {
	return len(revision) == 40 && strings.Trim(strings.ToLower(revision), "0123456789abcdef") == ""
}

// list gathers needs, each once.
type list struct {
	needs []Need
	known map[string]bool
}

func (l *list) add(n Need) error {
	if l.known == nil {
		l.known = map[string]bool{}
	}
	key := n.Key()
	if l.known[key] {
		return nil
	}
	if len(l.needs) >= MaxNeeds {
		return fmt.Errorf("it needs more than %d charts, repositories and files from elsewhere; copy some of them into the repository", MaxNeeds)
	}
	l.known[key] = true
	l.needs = append(l.needs, n)
	return nil
}
