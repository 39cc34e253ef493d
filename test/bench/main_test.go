package main

import (
	"bytes"
	"strings"
	"testing"
)

func TestWrongUsageEndsWithTwoAndSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name      string
		arguments []string
		want      string
	}{
		{"unknown flag", []string{"--nonsense"}, "nonsense"},
		{"unknown workload", []string{"--workloads", "cold,hot"}, `"hot"`},
		{"unknown engine", []string{"--engine", "x"}, `"x"`},
		{"external without processes", []string{"--engine", "external", "--kubeconfig", "f"}, "--pids"},
		{"external with a link", []string{"--engine", "external", "--pids", "1", "--kubeconfig", "f", "--workloads", "cold,linked-idle"}, "linked-idle"},
		{"external without cluster", []string{"--engine", "external", "--pids", "1"}, "--kubeconfig"},
		{"process id that is none", []string{"--pids", "1,x"}, `"x"`},
		{"record without file", []string{"--record"}, "--baseline"},
		{"record of a profiled run", []string{"--record", "--baseline", "f", "--profile", "d"}, "--profile"},
		{"no applications", []string{"--apps", "0"}, "applications"},
		{"more hooks than there is room for", []string{"--workloads", "waves", "--waves", "2", "--hooks", "9"}, "hooks"},
		{"stray argument", []string{"cold"}, `"cold"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var out, talk bytes.Buffer
			if code := run(t.Context(), test.arguments, &out, &talk); code != exitUsage {
				t.Errorf("the exit code is %d", code)
			}
			if !strings.Contains(talk.String(), test.want) {
				t.Errorf("it says %q, which does not name %s", talk.String(), test.want)
			}
		})
	}
}

func TestHelpShowsExamplesAndFlags(t *testing.T) {
	t.Parallel()
	var out, talk bytes.Buffer
	if code := run(t.Context(), []string{"--help"}, &out, &talk); code != exitOK {
		t.Errorf("the exit code is %d", code)
	}
	for _, want := range []string{"Examples:", "--engine external", "-workloads"} {
		if !strings.Contains(talk.String(), want) {
			t.Errorf("the help does not show %q", want)
		}
	}
}
