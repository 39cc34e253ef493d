package corpus

import (
	"bytes"
	"encoding/json"
	"fmt"

	"sigs.k8s.io/yaml"
)

const (
	// GateLabel is on what a wave of the large application waits for, and on the first object of each wave.
	GateLabel = "slipway-bench-gate"
	// WavesName is the name of the large application, and its directory in the repository.
	WavesName = "waves"

	waveAnnotation = "argocd.argoproj.io/sync-wave"
	hookAnnotation = "argocd.argoproj.io/hook"
	// wavesEdge is how many hooks run before the first wave, and how many after the last one.
	wavesEdge = 2
)

// Waves says how large the one application of the workload waves is.
type Waves struct {
	// Objects without hooks: one Deployment in each wave, with one replica in every other one, and ConfigMaps of 1 KB.
	Objects int `json:"objects"`
	// Waves of the phase Sync, all of the same size.
	Waves int `json:"waves"`
	// Hooks are Jobs: two of the phase PreSync, two of PostSync, and the rest of Sync, in waves far apart.
	Hooks int `json:"hooks"`
}

// Validate says what is wrong with the sizes, if anything.
func (w Waves) Validate() error {
	switch {
	case w.Waves < 1 || w.Waves > 100:
		return fmt.Errorf("waves: %d is not between 1 and 100", w.Waves)
	case w.Objects < 2*w.Waves || w.Objects > 20_000:
		return fmt.Errorf("objects in waves: %d is not between 2 for each wave and 20000", w.Objects)
	case w.Hooks < 2*wavesEdge || w.Hooks > 2*wavesEdge+w.Waves:
		return fmt.Errorf("hooks: %d is not between %d and %d", w.Hooks, 2*wavesEdge, 2*wavesEdge+w.Waves)
	}
	return nil
}

// Wave returns the objects of one wave, counted from 0, without hooks. The first to be applied has the gate label, and
// so has the Deployment.
func (w Waves) Wave(n int) []Object {
	size := (n+1)*w.Objects/w.Waves - n*w.Objects/w.Waves
	name := fmt.Sprintf("wave-%02d", n)
	workload := Shape{Replicas: n % 2}.deployment(name)
	pod := workload.Body["spec"].(map[string]any)["template"].(map[string]any)["spec"].(map[string]any)
	delete(pod, "serviceAccountName") // there is none of that name
	out := []Object{workload}
	for i := range size - 1 {
		out = append(out, Object{
			Prefix: "/api/v1", Resource: "configmaps", Name: fmt.Sprintf("%s-config-%04d", name, i),
			Body: map[string]any{
				"apiVersion": "v1", "kind": "ConfigMap", "data": map[string]any{"filler.txt": filler(uint64(n)<<32 | uint64(i))},
			},
		})
	}
	for i, o := range out {
		w.decorate(o, n, i < 2)
	}
	return out
}

// Jobs returns the hooks. Which wave those of the phase Sync belong to is in the map, by name.
func (w Waves) Jobs() (jobs []Object, waves map[string]int) {
	waves = map[string]int{}
	add := func(phase string, wave, n int) {
		job := Object{
			Prefix: "/apis/batch/v1", Resource: "jobs", Name: fmt.Sprintf("hook-%02d", n),
			Body: map[string]any{"apiVersion": "batch/v1", "kind": "Job", "spec": map[string]any{
				"template": map[string]any{"spec": map[string]any{
					"restartPolicy": "Never",
					"containers":    []any{map[string]any{"name": "main", "image": "registry.k8s.io/pause:3.10"}},
				}},
			}},
		}
		w.decorate(job, wave, true)
		job.Body["metadata"].(map[string]any)["annotations"].(map[string]any)[hookAnnotation] = phase
		jobs = append(jobs, job)
		if phase == "Sync" {
			waves[job.Name] = wave
		}
	}
	inner := w.Hooks - 2*wavesEdge
	for n := range w.Hooks {
		switch {
		case n < wavesEdge:
			add("PreSync", n, n)
		case n < wavesEdge+inner:
			add("Sync", (n-wavesEdge)*w.Waves/inner, n)
		default:
			add("PostSync", n-wavesEdge-inner, n)
		}
	}
	return jobs, waves
}

func (w Waves) decorate(o Object, wave int, gate bool) {
	decorate(o.Body, o.Name, WavesName, false, "")
	metadata := o.Body["metadata"].(map[string]any)
	metadata["annotations"] = map[string]any{waveAnnotation: fmt.Sprint(wave)}
	if gate {
		metadata["labels"].(map[string]any)[GateLabel] = "yes"
	}
}

// Kinds lists path prefix and resource of all kinds of the large application.
func (w Waves) Kinds() []Object {
	return []Object{
		{Prefix: "/apis/batch/v1", Resource: "jobs"},
		{Prefix: "/apis/apps/v1", Resource: "deployments"},
		{Prefix: "/api/v1", Resource: "configmaps"},
	}
}

// Files returns the manifests: one file for each wave, one for the hooks.
func (w Waves) Files() ([]File, error) {
	jobs, _ := w.Jobs()
	files := make([]File, 0, w.Waves+1)
	file := func(name string, objects []Object) error {
		var text bytes.Buffer
		for _, o := range objects {
			data, err := yaml.Marshal(o.Body)
			if err != nil {
				return fmt.Errorf("write manifest of %s %s: %w", o.Resource, o.Name, err)
			}
			text.WriteString("---\n")
			text.Write(data)
		}
		files = append(files, File{Path: WavesName + "/" + name + ".yaml", Data: text.Bytes()})
		return nil
	}
	if err := file("hooks", jobs); err != nil {
		return nil, err
	}
	for n := range w.Waves {
		if err := file(fmt.Sprintf("wave-%02d", n), w.Wave(n)); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// Application returns the Argo CD resource of the large application, with automatic sync.
func (w Waves) Application(namespace, destination, repoURL string) ([]byte, error) {
	data, err := json.Marshal(map[string]any{
		"apiVersion": "argoproj.io/v1alpha1",
		"kind":       "Application",
		"metadata":   map[string]any{"name": WavesName, "namespace": namespace, "labels": map[string]any{AppLabel: WavesName}},
		"spec": map[string]any{
			"project":     "default",
			"source":      map[string]any{"repoURL": repoURL, "targetRevision": "main", "path": WavesName},
			"destination": map[string]any{"server": "https://kubernetes.default.svc", "namespace": destination},
			"syncPolicy":  map[string]any{"automated": map[string]any{"prune": true, "selfHeal": true}},
		},
	})
	if err != nil {
		return nil, fmt.Errorf("encode application %s: %w", WavesName, err)
	}
	return data, nil
}
