package corpus

import (
	"encoding/json"
	"fmt"
)

// The workload fair has one project whose charts burn processor time until their time limit, and one whose chart is quick.
const (
	BurnProject = "bench-burn"
	FairProject = "bench-fair"
	// FairName is the application of FairProject, and its one object.
	FairName = "fair"
)

// BurnName is the name of burner i, counted from 0.
func BurnName(i int) string { return fmt.Sprintf("burn-%02d", i) }

const chart = "apiVersion: v2\nname: %s\nversion: 1.0.0\n"

// BurnFiles are the charts of so many applications that come to no end.
func BurnFiles(burners int) []File {
	var out []File
	for i := range burners {
		name := BurnName(i)
		out = append(out,
			File{name + "/Chart.yaml", fmt.Appendf(nil, chart, name)},
			File{name + "/templates/burn.yaml", []byte("{{ range $i := 1000000000000 }}{{ end }}\n")})
	}
	return out
}

// FairFiles are a chart with one object, which holds a value.
func FairFiles(value string) []File {
	return []File{
		{FairName + "/Chart.yaml", fmt.Appendf(nil, chart, FairName)},
		{FairName + "/values.yaml", fmt.Appendf(nil, "value: %q\n", value)},
		{FairName + "/templates/probe.yaml", fmt.Appendf(nil,
			"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .Release.Name }}\n  labels: {%s: \"yes\", %s: {{ .Release.Name }}}\n"+
				"data:\n  %s: {{ .Values.value | quote }}\n", ProbeLabel, AppLabel, ValueKey)},
	}
}

// SiteApplication is an Application for the cluster and the namespace of its own name.
func SiteApplication(name, namespace, repoURL, path string) ([]byte, error) {
	data, err := json.Marshal(map[string]any{
		"apiVersion": "argoproj.io/v1alpha1",
		"kind":       "Application",
		"metadata":   map[string]any{"name": name, "namespace": namespace, "labels": map[string]any{AppLabel: name}},
		"spec": map[string]any{
			"project":     "default",
			"source":      map[string]any{"repoURL": repoURL, "targetRevision": "main", "path": path},
			"destination": map[string]any{"name": name, "namespace": name},
			"syncPolicy":  map[string]any{"automated": map[string]any{"prune": true, "selfHeal": true}},
		},
	})
	if err != nil {
		return nil, fmt.Errorf("encode application %s: %w", name, err)
	}
	return data, nil
}

// ChartApplication is an Application of a chart in the directory of its own name.
func ChartApplication(name, project, namespace, destination, repoURL string) ([]byte, error) {
	data, err := json.Marshal(map[string]any{
		"apiVersion": "argoproj.io/v1alpha1",
		"kind":       "Application",
		"metadata":   map[string]any{"name": name, "namespace": namespace, "labels": map[string]any{AppLabel: name}},
		"spec": map[string]any{
			"project":     project,
			"source":      map[string]any{"repoURL": repoURL, "targetRevision": "main", "path": name},
			"destination": map[string]any{"server": "https://kubernetes.default.svc", "namespace": destination},
			"syncPolicy":  map[string]any{"automated": map[string]any{"prune": true, "selfHeal": true}},
		},
	})
	if err != nil {
		return nil, fmt.Errorf("encode application %s: %w", name, err)
	}
	return data, nil
}
