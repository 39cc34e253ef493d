package server

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/strict"
)

// Names of what an Application says of a rollback, as agents write them.
const (
	rollbackMark    = "slipway.io/rollback"
	pinnedCondition = "Pinned"
	heldCondition   = "Held"
)

// progress is what is read of an Application to follow an operation, or a rollback that needs none.
type progress struct {
	Metadata struct {
		ResourceVersion string            `json:"resourceVersion"`
		Annotations     map[string]string `json:"annotations"`
	} `json:"metadata"`
	Operation *operation `json:"operation"`
	Status    struct {
		Sync struct {
			Status string `json:"status"`
			revisions
		} `json:"sync"`
		Conditions     []condition `json:"conditions"`
		OperationState struct {
			Phase      string     `json:"phase"`
			Message    string     `json:"message"`
			Operation  operation  `json:"operation"`
			SyncResult *revisions `json:"syncResult"`
		} `json:"operationState"`
	} `json:"status"`
}

type operation struct {
	Info []info `json:"info"`
}

type info struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type condition struct {
	Type    string `json:"type"`
	Message string `json:"message"`
}

type revisions struct {
	Revision  string   `json:"revision"`
	Revisions []string `json:"revisions"`
}

func (r *revisions) are(want []string) bool {
	if r == nil {
		return false
	}
	have := r.Revisions
	if len(have) == 0 && r.Revision != "" {
		have = []string{r.Revision}
	}
	return slices.Equal(have, want)
}

// condition is what an Application says of a kind; false where it says nothing.
func (p *progress) condition(kind string) (string, bool) {
	i := slices.IndexFunc(p.Status.Conditions, func(c condition) bool { return c.Type == kind })
	if i < 0 {
		return "", false
	}
	return p.Status.Conditions[i].Message, true
}

// ended reports whether the operation of the status is over, and whether it is good; there may have been none.
func (p *progress) ended() (over, good bool) {
	switch p.Status.OperationState.Phase {
	case "Succeeded", "":
		return true, true
	case "Failed", "Error":
		return true, false
	}
	return false, false
}

// looked says of an Application whether what is waited for is over, with a message or an error for people.
type looked func(*progress) (over bool, message string, err error)

// untilOver looks at an Application until it is over.
func (b *bulk) untilOver(ctx context.Context, application string, look looked) (string, error) {
	agent, namespace, name, err := api.ParseItemID(application)
	if err != nil {
		return "", err
	}
	ticker := time.NewTicker(followEvery)
	defer ticker.Stop()
	for {
		app, err := b.store.GetApplication(ctx, agent, namespace, name)
		if err != nil {
			return "", err
		}
		var p progress
		_ = strict.Decode(app.Resource, &p, strict.Foreign) // what cannot be read is not over
		if over, message, err := look(&p); over || err != nil {
			return message, err
		}
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-ticker.C:
		}
	}
}

// follow waits until an operation is over. version is that of the application with the request in it; "" where it is not known.
func (b *bulk) follow(ctx context.Context, application, request, version string) (string, error) {
	mine, seen := info{requestInfo, request}, false
	return b.untilOver(ctx, application, func(p *progress) (bool, string, error) {
		state := &p.Status.OperationState
		switch {
		case slices.Contains(state.Operation.Info, mine):
			seen = true
			over, good := p.ended()
			if over && !good {
				return true, "", endedAs("the operation", p)
			}
			return over && state.Phase != "", state.Message, nil
		case p.Operation != nil && slices.Contains(p.Operation.Info, mine):
		case seen || newer(p.Metadata.ResourceVersion, version):
			return true, "it is over, and another operation began: the history of the application shows what it deployed", nil
		}
		return false, "", nil
	})
}

// arrive waits until an application with auto-sync is at the deployment that it was pinned to.
func (b *bulk) arrive(ctx context.Context, application string, answer *api.OperationAnswer) (string, error) {
	var id int64 // an agent of another version may leave the first one out
	if answer.Deployment != nil {
		id = *answer.Deployment
	}
	pinned := fmt.Sprintf("(deployment %d)", id)
	return b.untilOver(ctx, application, func(p *progress) (bool, string, error) {
		if p.Metadata.Annotations[rollbackMark] == "" && newer(p.Metadata.ResourceVersion, answer.Version) {
			return true, "", api.Errorf(api.CodeConflict, "the rollback was ended before it was complete, by a user or because Git moved on: "+
				"the history of the application shows what it deployed")
		}
		if text, noticed := p.condition(pinnedCondition); !noticed || !strings.Contains(text, pinned) {
			return false, "", nil // its status is from before
		}
		if text, held := p.condition(heldCondition); held {
			return true, "", api.Errorf(api.CodeConflict, "it is pinned to deployment %d, but not there: %s", id, text)
		}
		over, good := p.ended()
		if over && !good && p.Status.OperationState.SyncResult.are(answer.Revisions) {
			return true, "", endedAs("going back", p)
		}
		there := p.Status.Sync.are(answer.Revisions) && p.Status.Sync.Status == "Synced"
		return there && over && p.Operation == nil, fmt.Sprintf("it is back at deployment %d", id), nil
	})
}

func endedAs(what string, p *progress) error {
	return api.Errorf(api.CodeConflict, "%s ended as %s: %s", what, p.Status.OperationState.Phase, p.Status.OperationState.Message)
}

// newer reports whether a copy is of a version or a later one, as far as that is known.
func newer(have, version string) bool {
	a, err := strconv.ParseUint(have, 10, 64)
	b, wrong := strconv.ParseUint(version, 10, 64)
	return err == nil && wrong == nil && a >= b
}
