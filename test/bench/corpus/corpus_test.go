package corpus_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-gitops/slipway/test/bench/corpus"
)

func shape() corpus.Shape { return corpus.Shape{Apps: 3, Objects: 10, Namespaces: 2} }

func TestAnApplicationHasTheKindsOfItsShape(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name    string
		objects int
		want    map[string]int
	}{
		{"one object is the probe", 1, map[string]int{"configmaps": 1}},
		{"four objects", 4, map[string]int{"configmaps": 1, "deployments": 1, "services": 1, "serviceaccounts": 1}},
		{"ten objects", 10, map[string]int{
			"configmaps": 5, "deployments": 1, "services": 1, "serviceaccounts": 1, "roles": 1, "rolebindings": 1,
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := shape()
			s.Objects = test.objects
			got := map[string]int{}
			for _, o := range s.AppObjects(1, corpus.State{Value: "x"}) {
				got[o.Resource]++
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("kinds differ (-want +got):\n%s", diff)
			}
		})
	}
}

func TestANewValueChangesOneFileAndANewRoundChangesAll(t *testing.T) {
	t.Parallel()
	s := shape()
	changed := func(state corpus.State) (n int, size int) {
		before, err := s.Files(2, corpus.State{Value: "old"})
		if err != nil {
			t.Fatal(err)
		}
		after, err := s.Files(2, state)
		if err != nil {
			t.Fatal(err)
		}
		for i := range before {
			if before[i].Path != after[i].Path {
				t.Errorf("file %s became %s", before[i].Path, after[i].Path)
			}
			if string(before[i].Data) != string(after[i].Data) {
				n++
			}
		}
		return n, len(before)
	}
	if n, size := changed(corpus.State{Value: "new"}); n != 1 || size != 10 {
		t.Errorf("a new value changes %d of %d files", n, size)
	}
	if n, _ := changed(corpus.State{Value: "old", Round: "1"}); n != 10 {
		t.Errorf("a new round changes %d files", n)
	}
	probe, err := s.ProbeFile(2, corpus.State{Value: "new"})
	if err != nil || len(probe) != 1 || !strings.Contains(string(probe[0].Data), "value: new") {
		t.Errorf("the probe is %v, %v", probe, err)
	}
}

func TestNamesAreNeverSharedAndNamespacesAreReused(t *testing.T) {
	t.Parallel()
	s := shape()
	seen := map[string]bool{}
	for i := range s.Apps {
		for _, o := range s.AppObjects(i, corpus.State{}) {
			key := s.Namespace("bench", i) + "/" + o.Resource + "/" + o.Name
			if seen[key] {
				t.Errorf("two objects are called %s", key)
			}
			seen[key] = true
			if data, err := o.JSON("n"); err != nil || !strings.Contains(string(data), `"namespace":"n"`) {
				t.Errorf("encode %s: %s, %v", key, data, err)
			}
		}
	}
	if diff := cmp.Diff([]string{"bench-0", "bench-1"}, s.AllNamespaces("bench")); diff != "" {
		t.Errorf("namespaces differ (-want +got):\n%s", diff)
	}
}

func TestShapesOutOfBoundsAreRefused(t *testing.T) {
	t.Parallel()
	for i, s := range []corpus.Shape{
		{Apps: 0, Objects: 1, Namespaces: 1},
		{Apps: 1, Objects: 501, Namespaces: 1},
		{Apps: 1, Objects: 1, Namespaces: 0},
		{Apps: 1, Objects: 1, Namespaces: 1, Replicas: -1},
	} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			if err := s.Validate(); err == nil {
				t.Errorf("%+v was accepted", s)
			}
		})
	}
	if err := shape().Validate(); err != nil {
		t.Error(err)
	}
}
