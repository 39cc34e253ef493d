package mirror

import (
	"slices"
	"strings"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/legible"
	"github.com/slipway-gitops/slipway/internal/server/store/db"
)

// longestVersion is how long what makes a version may be: an index holds three
// of them, and what one row of it may hold is bounded.
const longestVersion = 250

// deployed is which version of an application runs: the columns deployed_….
type deployed struct {
	image, tag    string
	chart, commit string
	// at is when this version was healthy first, in microseconds; 0 for never.
	at int64
}

// same reports whether people would call both the same version.
func (d deployed) same(o deployed) bool { return d.version() == o.version() }

// version is what people know a version by.
func (d deployed) version() string {
	for _, v := range []string{d.tag, d.chart} {
		if v != "" {
			return v
		}
	}
	return d.commit
}

// told is a version as in the API.
func (d deployed) told() api.Deployed {
	return api.Deployed{Image: d.image, Tag: d.tag, Chart: d.chart, Commit: d.commit, Version: d.version(), Since: db.Moment(d.at)}
}

// argoHistory is one deployment of status.history.
type argoHistory struct {
	Revision   string       `json:"revision"`
	Revisions  []string     `json:"revisions"`
	DeployedAt string       `json:"deployedAt"`
	Source     argoSource   `json:"source"`
	Sources    []argoSource `json:"sources"`
}

// deployed reads what runs: the images that are in use, and what was deployed
// last. at is the time for a version that was not known before.
func (r *argoResource) deployed() deployed {
	var d deployed
	d.image, d.tag = versionImage(r.Status.Summary.Images, r.Metadata.Annotations[api.AnnotationVersionImage])
	var last argoHistory
	if n := len(r.Status.History); n > 0 {
		last = r.Status.History[n-1]
	} else if r.Status.Sync.Status == "Synced" {
		last = argoHistory{Revision: r.Status.Sync.Revision, Revisions: r.Status.Sync.Revisions}
	}
	if last.Source.RepoURL == "" && len(last.Sources) == 0 {
		last.Source, last.Sources = r.Spec.Source, r.Spec.Sources
	}
	sources, revisions := last.Sources, last.Revisions
	if len(sources) == 0 {
		sources, revisions = []argoSource{last.Source}, []string{last.Revision}
	}
	for i, source := range sources {
		switch {
		case i >= len(revisions):
		case source.Chart != "" && d.chart == "":
			d.chart = revisions[i]
		case source.Chart == "" && d.commit == "":
			d.commit = revisions[i]
		}
	}
	for _, text := range []*string{&d.image, &d.tag, &d.chart, &d.commit} {
		*text = legible.Prefix(*text, longestVersion)
	}
	if r.Status.Health.Status == "Healthy" && d.version() != "" {
		d.at = r.healthySince()
	}
	return d
}

// healthySince is when what was deployed last became healthy, of one that is.
func (r *argoResource) healthySince() int64 {
	since := microsOf(r.Status.Health.LastTransitionTime)
	if n := len(r.Status.History); n > 0 {
		since = max(since, microsOf(r.Status.History[n-1].DeployedAt))
	}
	return since
}

// firstDeployed is when the present revision was deployed first without another
// in between: good for an application that the server sees for the first time.
func (r *argoResource) firstDeployed() int64 {
	history := r.Status.History
	if len(history) == 0 {
		return 0
	}
	last := history[len(history)-1]
	var since int64
	for _, h := range slices.Backward(history) {
		if h.Revision != last.Revision || !slices.Equal(h.Revisions, last.Revisions) {
			break
		}
		since = microsOf(h.DeployedAt)
	}
	return since
}

// microsOf reads a time of Kubernetes; 0 for none.
func microsOf(text string) int64 {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return 0
	}
	return db.Micros(at)
}

// versionImage finds the image whose tag counts: the named one, else the first.
func versionImage(images []string, named string) (repository, tag string) {
	for _, image := range images {
		repository, tag = splitImage(image)
		if named == "" || repository == named || strings.HasSuffix(repository, "/"+named) {
			return repository, tag
		}
	}
	return "", ""
}

// splitImage takes an image apart. One without a tag has its digest, one without
// either is "latest".
func splitImage(image string) (repository, tag string) {
	image, digest, _ := strings.Cut(image, "@")
	repository = image
	if at := strings.LastIndexByte(image, ':'); at > strings.LastIndexByte(image, '/') {
		repository, tag = image[:at], image[at+1:]
	}
	switch {
	case tag != "":
	case digest != "":
		tag = digest
	default:
		tag = "latest"
	}
	return repository, tag
}

// after says since when a version is healthy that follows another one.
func (d deployed) after(was deployed, known bool, first, now int64) deployed {
	known = known && was.version() != ""
	switch {
	case known && d.same(was) && was.at != 0:
		d.at = was.at
	case d.at == 0: // it is not healthy
	case !known && first != 0:
		d.at = first
	case known && !d.same(was) && d.at <= was.at:
		// Neither a sync nor a change of health came with it, as after a manual change of an image.
		d.at = now
	}
	return d
}
