package helm

import (
	"errors"
	"strings"
	"testing"
)

// TestAMessageKeepsThePathsOfItsTemplates takes messages of Helm, with values that are words of their paths.
func TestAMessageKeepsThePathsOfItsTemplates(t *testing.T) {
	t.Parallel()
	var s scrubber
	s.addValues(map[string]any{
		"auth":              map[string]any{"user": "kube", "admin": "prometheus", "existingSecret": "stack"},
		"connection":        "templates",
		"token":             "prometheus",
		"grafana":           map[string]any{"adminPassword": "prometheus-operator"},
		"certManager":       map[string]any{"namespace": "kube"},
		"rules":             "kube\nprometheus\n",
		"serviceAccountKey": map[string]any{"path": "charts"},
	})
	for _, text := range []string{
		"template: kube-prometheus-stack/templates/prometheus/rules.yaml:12:3: executing \"kube-prometheus-stack/templates/prometheus/rules.yaml\" at <.Values.kube>: nil pointer evaluating interface {}.prometheus",
		"kube-prometheus-stack/charts/kube-state-metrics/templates/deployment.yaml: error converting YAML to JSON: yaml: line 12: did not find expected key",
		"found in Chart.yaml, but missing in charts/ directory: prometheus, kube-state-metrics",
		"no matches for kind Prometheus in version monitoring.coreos.com/v1",
	} {
		if got := s.err(errors.New(text)).Error(); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}

func TestAMessageLosesSecretValues(t *testing.T) {
	t.Parallel()
	key := "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n-----END PRIVATE KEY-----\n"
	for name, values := range map[string]map[string]any{
		"kX9vQ2tr0ub":                      {"db": map[string]any{"password": "kX9vQ2tr0ub"}},
		"hunter2":                          {"auth": map[string]any{"admin": "hunter2"}},
		"correcthorsebatterystaple":        {"tokens": []any{"correcthorsebatterystaple"}},
		"MIIEvQIBADANBgkqhkiG9w0BAQEFAASC": {"tls": map[string]any{"key": key}},
		"s3cr3t":                           {"dbCredentials": map[string]any{"primary": map[string]any{"a": "s3cr3t"}}},
		"pa/ss":                            {"dsn": "postgres://u:pa/ss@db.example.org/x"},
	} {
		var s scrubber
		s.addValues(values)
		for _, message := range []string{"the value " + name + " is bad", "bad value \"" + name + "\"", "x=" + name + ",", "parse postgres://u:" + name + "@db.example.org/x: bad"} {
			if name == "pa/ss" && !strings.Contains(message, "://") {
				continue // a part of a secret stands in no message but that of the address
			}
			if got := s.err(errors.New(message)).Error(); strings.Contains(got, name) {
				t.Errorf("%q became %q", message, got)
			}
		}
	}
}
