package node

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEveryStageIsReadAndBelongsToNodesOrPods(t *testing.T) {
	t.Parallel()
	byKind, err := stages()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string][]string{}
	for ref, list := range byKind {
		for _, stage := range list {
			got[ref.APIGroup+"/"+ref.Kind] = append(got[ref.APIGroup+"/"+ref.Kind], stage.Name)
		}
	}
	want := map[string][]string{
		"v1/Node": {"node-initialize", "node-heartbeat-with-lease"},
		"v1/Pod":  {"pod-ready", "pod-complete", "pod-delete", "pod-fail", "pod-restarted", "pod-unready"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
