package drive

import (
	"context"
	"fmt"
	"time"

	"github.com/slipway-gitops/slipway/test/bench/corpus"
	"github.com/slipway-gitops/slipway/test/bench/score"
)

// floor is what a bare client takes for the writes of each workload: no engine can be faster on this machine.
type floor struct {
	cold, all, drift float64
	one              []float64
}

// write is one prepared request of the bare client.
type write struct {
	path string
	body []byte
}

// raw applies all objects with 8, 16 and 32 requests at a time, each time from nothing, and keeps the best. Then it
// repeats with that number what the other workloads write.
func (b *bench) raw(ctx context.Context) (floor, error) {
	var best floor
	var sample score.Sample
	workers := 0
	for _, concurrency := range []int{8, 16, 32} {
		if err := b.empty(ctx, rawPrefix); err != nil {
			return floor{}, err
		}
		writes, err := b.writes(corpus.State{Value: "raw-0"}, false)
		if err != nil {
			return floor{}, err
		}
		took, err := b.send(ctx, writes, concurrency)
		if err != nil {
			return floor{}, err
		}
		sample.Notes = append(sample.Notes, fmt.Sprintf("%d at a time: %.2f s", concurrency, took))
		if workers == 0 || took < best.cold {
			best.cold, workers = took, concurrency
		}
	}
	changed, err := b.writes(corpus.State{Value: "raw-1"}, !b.AllObjects)
	if err != nil {
		return floor{}, err
	}
	if best.all, err = b.send(ctx, changed, workers); err != nil {
		return floor{}, err
	}
	probes, err := b.writes(corpus.State{Value: "raw-2"}, true)
	if err != nil {
		return floor{}, err
	}
	if best.drift, err = b.send(ctx, probes[:min(b.Drifted, len(probes))], workers); err != nil {
		return floor{}, err
	}
	single, err := b.writes(corpus.State{Value: "raw-3"}, true)
	if err != nil {
		return floor{}, err
	}
	for i := range b.Commits {
		took, err := b.send(ctx, single[i%len(single):][:1], 1)
		if err != nil {
			return floor{}, err
		}
		best.one = append(best.one, took)
	}
	sample.WallSeconds, sample.RawSeconds = best.cold, best.cold
	sample.Latencies = best.one
	b.samples[score.Raw] = append(b.samples[score.Raw], sample)
	b.Log.Info("raw finished", "seconds", best.cold, "concurrency", workers)
	return best, b.empty(ctx, rawPrefix)
}

// warm applies the objects of a few applications and deletes them again: an API server is slow at what it does for
// the first time, and that is neither the floor's doing nor the engine's.
func (b *bench) warm(ctx context.Context) error {
	writes, err := b.writes(corpus.State{Value: "warm"}, false)
	if err != nil {
		return err
	}
	if _, err := b.send(ctx, writes[:min(20*b.Shape.Objects, len(writes))], writers); err != nil {
		return fmt.Errorf("warm up the API server: %w", err)
	}
	return b.empty(ctx, rawPrefix)
}

// writes prepares the requests for all objects, or for the probes alone.
func (b *bench) writes(state corpus.State, probesOnly bool) ([]write, error) {
	var out []write
	for i := range b.Shape.Apps {
		objects := []corpus.Object{b.Shape.Probe(i, state)}
		if !probesOnly {
			objects = b.Shape.AppObjects(i, state)
		}
		namespace := b.Shape.Namespace(rawPrefix, i)
		for _, o := range objects {
			body, err := o.JSON(namespace)
			if err != nil {
				return nil, err
			}
			out = append(out, write{path: objectPath(o, namespace), body: body})
		}
	}
	return out, nil
}

// send applies objects and returns how many seconds that took.
func (b *bench) send(ctx context.Context, writes []write, workers int) (float64, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, b.Timeout, errTooLong)
	defer cancel()
	begin := time.Now()
	err := each(ctx, len(writes), workers, func(ctx context.Context, i int) error {
		return b.client.apply(ctx, writes[i].path, "slipway-bench-raw", writes[i].body)
	})
	took := time.Since(begin).Seconds()
	if err != nil && ctx.Err() != nil {
		err = fmt.Errorf("apply %d objects: %w", len(writes), context.Cause(ctx))
	}
	return took, err
}

func objectPath(o corpus.Object, namespace string) string {
	return o.Prefix + "/namespaces/" + namespace + "/" + o.Resource + "/" + o.Name
}
