package jsonnet

import (
	"strings"
	"testing"
	"time"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
)

// A file of anybody reads nothing outside of its tree. What loops is left to the limits of the process that renders.
func FuzzJsonnet(f *testing.F) {
	f.Add(one, "lib")
	f.Add("["+one+", null] + (import '../shared/x.libsonnet')", "../lib")
	f.Add("importstr '/etc/hostname'", "/")
	f.Add("importbin \"../../../../etc/hostname\"", "a/../../..")
	f.Add("{a: $.b, b: self.a}", "\x00")
	f.Fuzz(func(t *testing.T, code, library string) {
		for _, loops := range []string{"std", "for", "function", "local", "self", "$", "super"} {
			if len(code) > 1<<10 || strings.Contains(code, loops) && code != "{a: $.b, b: self.a}" {
				return
			}
		}
		begun := time.Now()
		names, err := run(t, v1alpha1.JsonnetSource{Libs: []string{library}}, map[string]string{"app/a.jsonnet": code, "lib/x.libsonnet": one})
		if d := time.Since(begun); d > 10*time.Second {
			t.Errorf("it took %v", d)
		}
		for _, name := range names {
			if err == nil && !strings.Contains(name, " ") {
				t.Errorf("an object is called %q", name)
			}
		}
	})
}
