package corpus_test

import (
	"testing"

	"github.com/slipway-gitops/slipway/test/bench/corpus"
)

func TestWavesTogetherHaveAllObjectsAndEveryNameOnce(t *testing.T) {
	t.Parallel()
	w := corpus.Waves{Objects: 5003, Waves: 20, Hooks: 10}
	names := map[string]bool{}
	for n := range w.Waves {
		for _, o := range w.Wave(n) {
			names[o.Resource+"/"+o.Name] = true
		}
	}
	if len(names) != w.Objects {
		t.Errorf("the waves have %d different objects, not %d", len(names), w.Objects)
	}
}

func TestHooksAreBeforeInAndAfterTheWaves(t *testing.T) {
	t.Parallel()
	w := corpus.Waves{Objects: 100, Waves: 20, Hooks: 10}
	jobs, within := w.Jobs()
	if len(jobs) != 10 || len(within) != 6 {
		t.Errorf("there are %d hooks, of which %d within the waves", len(jobs), len(within))
	}
	waves := map[int]bool{}
	for _, wave := range within {
		waves[wave] = true
	}
	if len(waves) != 6 {
		t.Errorf("the hooks are in %d different waves: %v", len(waves), within)
	}
}

func TestSizesOfWavesThatMakeNoSenseAreRefused(t *testing.T) {
	t.Parallel()
	for _, w := range []corpus.Waves{
		{Objects: 10, Waves: 0, Hooks: 10},
		{Objects: 30, Waves: 20, Hooks: 10},
		{Objects: 50_000, Waves: 20, Hooks: 10},
		{Objects: 100, Waves: 20, Hooks: 3},
		{Objects: 100, Waves: 5, Hooks: 10},
	} {
		if w.Validate() == nil {
			t.Errorf("%+v is taken", w)
		}
	}
}
