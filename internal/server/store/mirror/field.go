package mirror

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/legible"
	"github.com/slipway-gitops/slipway/internal/project"
	"github.com/slipway-gitops/slipway/internal/server/store/db"
	"github.com/slipway-gitops/slipway/internal/strict"
)

// fields are what lists of items are filtered, sorted and shown by, taken from
// the body. A body that cannot be read gives none: it is still kept.
type fields struct {
	labels               map[string]string
	argoProject          string
	sync, health, phase  string
	message, revision    string
	repoURL, path        string
	repos                string // all repositories, each between line breaks
	destination          string
	destinationNamespace string
	autoSync             bool
	conditions           []string
	finishedAt           int64
	title                string // name of a cluster
	deployed             deployed
	firstDeployed        int64
	ready, total         int
	held                 bool
	driftSince           int64 // since when it is out of sync
}

const (
	// longestField is how long a field may be that a list shows.
	longestField = 1000
	// longestName, longestState and longestWords are for fields that indices hold, of which PostgreSQL takes entries of
	// 2,700 bytes. No name in Kubernetes is longer.
	longestName, longestState, longestWords = 253, 64, 700
	// mostPods bounds what an agent can say of one application.
	mostPods = 1_000_000
	// defaultProject is that of an Application which names none.
	defaultProject = "default"
	// mostConditions bounds what is taken from a resource.
	mostConditions = 50
)

// argoSource is one source of an Application.
type argoSource struct {
	RepoURL string `json:"repoURL"`
	Path    string `json:"path"`
	Chart   string `json:"chart"`
}

// argoResource is what is read of Argo CD's resources.
type argoResource struct {
	Metadata struct {
		Labels      map[string]string `json:"labels"`
		Annotations map[string]string `json:"annotations"`
	} `json:"metadata"`
	Spec struct {
		Project     string       `json:"project"`
		Source      argoSource   `json:"source"`
		Sources     []argoSource `json:"sources"`
		Destination struct {
			Server    string `json:"server"`
			Name      string `json:"name"`
			Namespace string `json:"namespace"`
		} `json:"destination"`
		SyncPolicy struct {
			Automated *struct {
				Enabled *bool `json:"enabled"`
			} `json:"automated"`
		} `json:"syncPolicy"`
	} `json:"spec"`
	Status struct {
		Sync struct {
			Status   string `json:"status"`
			Revision string `json:"revision"`
			// Revisions are those of several sources.
			Revisions []string `json:"revisions"`
		} `json:"sync"`
		Health struct {
			Status             string `json:"status"`
			LastTransitionTime string `json:"lastTransitionTime"`
		} `json:"health"`
		History []argoHistory `json:"history"`
		Summary struct {
			Images []string `json:"images"`
		} `json:"summary"`
		OperationState struct {
			Phase      string `json:"phase"`
			Message    string `json:"message"`
			FinishedAt string `json:"finishedAt"`
		} `json:"operationState"`
		Conditions []struct {
			Type    string `json:"type"`
			Message string `json:"message"`
		} `json:"conditions"`
	} `json:"status"`
}

// readFields reads the fields of an item.
func readFields(kind agentapi.ItemKind, name string, body json.RawMessage) fields {
	switch kind {
	case agentapi.ItemApplication, agentapi.ItemApplicationSet, agentapi.ItemArgoProject:
		var r argoResource
		// What has a wrong type is passed over, the rest is read.
		_ = strict.Decode(body, &r, strict.Foreign)
		f := r.fields()
		switch kind {
		case agentapi.ItemApplication:
			f.deployed, f.firstDeployed = r.deployed(), r.firstDeployed()
		case agentapi.ItemArgoProject:
			f.argoProject = name
		case agentapi.ItemApplicationSet:
			f.argoProject = setProject(body)
		}
		return f.bounded()
	case agentapi.ItemInstances:
		var in agentapi.Instances
		_ = strict.Decode(body, &in, strict.Foreign)
		return fields{ready: min(max(in.Ready, 0), mostPods), total: min(max(in.Total, 0), mostPods)}
	}
	var s agentapi.Setting
	_ = strict.Decode(body, &s, strict.Foreign)
	f := fields{labels: s.Labels, argoProject: s.Fields["project"], repoURL: s.Fields["url"], destination: s.Fields["server"]}
	if kind == agentapi.ItemCluster {
		f.title = s.Fields["name"]
	}
	if s.Connection != nil {
		f.health, f.message = s.Connection.Status, s.Connection.Message
	}
	return f.bounded()
}

// setProject is the project of all that an ApplicationSet makes; nothing where that can be several.
func setProject(body json.RawMessage) string {
	var set map[string]any
	if strict.Decode(body, &set, strict.Foreign) != nil {
		return ""
	}
	set["kind"] = v1alpha1.KindApplicationSet
	name, sole := project.Belongs(set)
	if !sole {
		return ""
	}
	return name
}

func (r *argoResource) fields() fields {
	f := fields{
		labels: r.Metadata.Labels, argoProject: r.Spec.Project,
		sync: r.Status.Sync.Status, health: r.Status.Health.Status, revision: r.Status.Sync.Revision,
		phase: r.Status.OperationState.Phase, message: r.Status.OperationState.Message,
		destination: r.Spec.Destination.Name, destinationNamespace: r.Spec.Destination.Namespace,
	}
	if f.destination == "" {
		f.destination = r.Spec.Destination.Server
	}
	if f.argoProject == "" && f.destination != "" {
		f.argoProject = defaultProject // what was too large to be reported has no destination either
	}
	sources := r.Spec.Sources
	if len(sources) == 0 && r.Spec.Source.RepoURL != "" {
		sources = []argoSource{r.Spec.Source}
	}
	for i, source := range sources {
		if i == 0 {
			f.repoURL, f.path = source.RepoURL, source.Path
			if f.path == "" {
				f.path = source.Chart
			}
		}
		if len(f.repos) < 10*longestField {
			f.repos += "\n" + sameRepo(source.RepoURL)
		}
	}
	if f.repos != "" {
		f.repos += "\n"
	}
	if f.revision == "" && len(r.Status.Sync.Revisions) > 0 {
		f.revision = r.Status.Sync.Revisions[0]
	}
	if auto := r.Spec.SyncPolicy.Automated; auto != nil {
		f.autoSync = auto.Enabled == nil || *auto.Enabled
	}
	for _, c := range r.Status.Conditions {
		if len(f.conditions) < mostConditions && !slices.Contains(f.conditions, c.Type) {
			f.conditions = append(f.conditions, c.Type)
		}
		f.held = f.held || c.Type == ConditionHeld || c.Type == ConditionDeletion && strings.HasPrefix(c.Message, heldPrefix)
	}
	if at, err := time.Parse(time.RFC3339, r.Status.OperationState.FinishedAt); err == nil {
		f.finishedAt = db.Micros(at)
	}
	return f
}

// bounded cuts what is too long for a list.
func (f fields) bounded() fields {
	for longest, texts := range map[int][]*string{
		longestName: {&f.argoProject}, longestState: {&f.sync, &f.health},
		longestField: {&f.phase, &f.message, &f.revision, &f.repoURL, &f.path, &f.destination, &f.destinationNamespace, &f.title},
	} {
		for _, text := range texts {
			*text = legible.Prefix(*text, longest)
		}
	}
	// Two names must not become one when they are written.
	for name := range f.labels {
		if db.Clean(name) != name {
			delete(f.labels, name)
		}
	}
	return f
}

// cutWords is how words end that were cut.
const cutWords = "..."

// words is what a search looks through. All repositories are in it, unless it was cut.
func (f *fields) words(key agentapi.Key) string {
	all := strings.ToLower(strings.Join([]string{key.Name, key.Namespace, f.repoURL, f.destination}, "\n")) + f.repos
	if len(all) <= longestWords {
		return all
	}
	return legible.Prefix(all, longestWords-len(cutWords)) + cutWords
}

// sameRepo writes the address of a repository in one way for all that mean the
// same: by it lists are filtered.
func sameRepo(address string) string {
	address = strings.ToLower(strings.TrimSpace(address))
	address = strings.TrimSuffix(strings.TrimRight(address, "/"), ".git")
	return strings.NewReplacer("\n", "", "\r", "").Replace(address)
}
