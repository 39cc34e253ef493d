package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/licenseclassifier/v2/assets"
)

func TestALicenceIsReadFromTheFilesOfADirectory(t *testing.T) {
	t.Parallel()
	known, err := assets.DefaultClassifier()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ name, file, asset, want string }{
		{"MIT", "LICENSE", "License/MIT/pristine.txt", "MIT"},
		{"Apache", "LICENSE.txt", "License/Apache-2.0/pristine.txt", "Apache-2.0"},
		{"copyleft", "COPYING", "License/GPL-3.0/license.txt", "GPL-3.0"},
		{"a text of somebody's own", "LICENSE", "", "unknown (LICENSE)"},
		{"no licence", "README.md", "", ""},
		{"source about licences", "license.go", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			text := []byte("You may use this on Tuesdays.\n")
			if tt.asset != "" {
				var err error
				if text, err = assets.ReadLicenseFile(tt.asset); err != nil {
					t.Fatal(err)
				}
			}
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, tt.file), text, 0o600); err != nil {
				t.Fatal(err)
			}
			got, err := read(known, dir)
			if err != nil || strings.Join(got, " ") != tt.want {
				t.Errorf("got %q, %v; want %q", got, err, tt.want)
			}
		})
	}
}

func TestWhatIsNotAllowedIsNamed(t *testing.T) {
	t.Parallel()
	got := judge([]part{
		{"good", []string{"MIT", "Apache-2.0"}}, {"bare", nil}, {"copyleft", []string{"MIT", "GPL-3.0"}},
	}, allowed())
	want := []string{"bare has no licence that is recognised", "copyleft has the licence GPL-3.0, which is not allowed"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestAChoiceOfLicencesTakesOneThatIsAllowed(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"MIT": "MIT", "(GPL-3.0 OR MIT)": "MIT", "GPL-2.0 OR AGPL-3.0": "GPL-2.0", "MIT AND ISC": "MIT ISC", "MIT AND GPL-3.0": "MIT GPL-3.0", "": "",
	} {
		if got := strings.Join(choose(in, allowed()), " "); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
}

func TestEverythingThatIsShippedHasALicence(t *testing.T) {
	t.Parallel()
	parts, err := modules("../..", []string{"./cmd/slipway"})
	if err != nil {
		t.Fatal(err)
	}
	packages, err := packages("../..")
	if err != nil {
		t.Fatal(err)
	}
	if len(parts) < 20 || len(packages) < 20 {
		t.Errorf("only %d modules and %d packages were found", len(parts), len(packages))
	}
	if wrong := judge(append(parts, packages...), allowed()); len(wrong) > 0 {
		t.Error(strings.Join(wrong, "\n"))
	}
}
