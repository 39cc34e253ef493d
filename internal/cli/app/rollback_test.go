package app

import (
	"io"
	"strings"
	"testing"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/cli/connect"
	"github.com/slipway-gitops/slipway/internal/cli/iostream"
)

func attempt(revision string, phase v1alpha1.OperationPhase) *v1alpha1.OperationState {
	return &v1alpha1.OperationState{Phase: phase, SyncResult: &v1alpha1.SyncOperationResult{
		Revision: revision, Source: v1alpha1.ApplicationSource{RepoURL: "https://git.example.com/a.git", Path: "web"},
	}}
}

func TestFlagsOfARollbackThatMakeNoSenseAreSaid(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		o    rollbackOptions
		want string // "" for none
	}{
		{name: "none"},
		{name: "an id", o: rollbackOptions{id: "3"}},
		{name: "no number", o: rollbackOptions{id: "three"}, want: "app history"},
		{name: "below zero", o: rollbackOptions{id: "-1"}, want: "app history"},
		{name: "both", o: rollbackOptions{id: "3", revision: "abcdefg"}, want: "not both"},
		{name: "short", o: rollbackOptions{revision: "abc"}, want: "too short"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			req, err := c.o.request()
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
			if err == nil && c.o.id != "" && (req.ID == nil || *req.ID != 3) {
				t.Errorf("the request is %+v", req)
			}
		})
	}
}

func TestAConfirmationIsAskedForUnlessItIsGiven(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]bool{"y\n": true, "YES\n": true, "y": true, "n\n": false, "\n": false, "": false, strings.Repeat("y", 100): false} {
		o := confirmOptions{Common: &connect.Common{Streams: iostream.Streams{In: strings.NewReader(answer), Err: io.Discard}}}
		if err := o.ask(3); (err == nil) != want {
			t.Errorf("the answer %q gives %v", answer, err)
		}
	}
}
