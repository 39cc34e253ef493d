package v1alpha1_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
)

// TestShapesOfOurAnnotationsArePinned writes down, byte for byte, what agents and command lines of other versions read.
func TestShapesOfOurAnnotationsArePinned(t *testing.T) {
	t.Parallel()
	at := time.Date(2030, 5, 6, 7, 8, 9, 0, time.UTC)
	tests := []struct {
		name  string
		value any
		want  string
	}{
		{"the smallest pin", v1alpha1.Pin{Revisions: []string{"abc"}}, `{"id":0,"revisions":["abc"],"quarantine":{}}`},
		{
			"a pin",
			v1alpha1.Pin{
				ID: 3, Revisions: []string{"abc"}, Sources: []v1alpha1.ApplicationSource{{RepoURL: "https://git.example.com/a.git", Path: "web"}},
				By: "ann", Reason: "orders are lost", At: at, Quarantine: v1alpha1.Quarantine{Revisions: []string{"def"}},
			},
			`{"id":3,"revisions":["abc"],"sources":[{"repoURL":"https://git.example.com/a.git","path":"web"}],` +
				`"by":"ann","reason":"orders are lost","at":"2030-05-06T07:08:09Z","quarantine":{"revisions":["def"]}}`,
		},
		{
			"the smallest allowance",
			v1alpha1.Allowance{Kind: "Namespace", Name: "shop", Until: at},
			`{"kind":"Namespace","name":"shop","until":"2030-05-06T07:08:09Z"}`,
		},
		{
			"an allowance",
			v1alpha1.Allowance{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web", Until: at, By: "ann", Reason: "a sale"},
			`{"group":"apps","kind":"Deployment","namespace":"shop","name":"web","until":"2030-05-06T07:08:09Z","by":"ann","reason":"a sale"}`,
		},
		{"an empty note", v1alpha1.Note{}, `{}`},
		{
			"a note",
			v1alpha1.Note{By: "ann", Reason: "a sale", Author: "Bob", Subject: "web: scale up"},
			`{"by":"ann","reason":"a sale","author":"Bob","subject":"web: scale up"}`,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got, err := json.Marshal(test.value)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(test.want, string(got)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}
