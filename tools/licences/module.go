package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"

	classifier "github.com/google/licenseclassifier/v2"
	"github.com/google/licenseclassifier/v2/assets"
)

// licenceFile is what projects call the file with their licence.
var licenceFile = regexp.MustCompile(`(?i)^(un)?(licen[sc]e|copying)([.-].*)?$`)

// reviewed are texts that the classifier does not know and a person has read, by their SHA-256: a text that changes has to be
// read again. The value is what applies; "" is a text that is about nothing that is shipped.
func reviewed(sum string) (string, bool) {
	licence, ok := map[string]string{
		"5ae5bee3072a841376451b48d8cfcec7188e10543926d5870828d36c8a750dc5": "",           // modernc.org/memory: where its logo is from
		"8438c9c89b849131ead81d5435cb97fcf052df5b0b286dda8a2d4c29e6cb3fd0": "CC0-1.0",    // modernc.org/sqlite: SQLite is in the public domain
		"a1d1adec3ba691ef6e377a78bbe9e9e2501f2f4a1723d08857da1ac6564e4fed": "",           // opencontainers/go-digest: of its pages
		"6821faaddedf2d78c95bb6d98b127e9e616097afd2f6bcc34389f000d13ab12d": "Apache-2.0", // cyberphone/json-canonicalization
		"b5c26c8a2ad6dd7cac6646e470a32ee42d23c36124caac4e66c989b6545b2a44": "Apache-2.0", // in-toto/in-toto-golang: it refers to the licence
		"b3a6ac899861c2c28a1abd5c7ea8733fefaed6938d730e099c42671386032aeb": "Apache-2.0", // in-toto/attestation: it refers to the licence
	}[sum]
	return licence, ok
}

// listed is what `go list -json` prints of a package.
type listed struct {
	Dir    string
	Module *struct {
		Path, Version, Dir string
		Main               bool
	}
}

// modules are the Go modules whose packages the programs link. A directory between a module's root and a linked package can have
// a licence of its own, which then applies too.
func modules(repository string, programs []string) ([]part, error) {
	cmd := exec.Command("go", append([]string{"list", "-deps", "-json=Dir,Module"}, programs...)...)
	cmd.Dir, cmd.Stderr = repository, os.Stderr
	raw, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("list the packages of %v: %w", programs, err)
	}
	known, err := assets.DefaultClassifier()
	if err != nil {
		return nil, fmt.Errorf("load the texts of licences: %w", err)
	}
	var parts []part
	seen := map[string]int{} // directory to index in parts; of one without a licence of its own: -1
	for dec := json.NewDecoder(bytes.NewReader(raw)); ; {
		var p listed
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return parts, nil
		} else if err != nil {
			return nil, fmt.Errorf("read what go list printed: %w", err)
		}
		if p.Module == nil || p.Module.Main {
			continue
		}
		for dir := p.Dir; ; dir = filepath.Dir(dir) {
			root := dir == p.Module.Dir
			if _, ok := seen[dir]; !ok {
				licences, err := read(known, dir)
				if err != nil {
					return nil, err
				}
				seen[dir] = -1
				if root || len(licences) > 0 {
					seen[dir] = len(parts)
					name := p.Module.Path + "@" + p.Module.Version
					if rel, _ := filepath.Rel(p.Module.Dir, dir); rel != "." {
						name += "/" + rel
					}
					parts = append(parts, part{name, licences})
				}
			}
			if root || len(dir) <= len(p.Module.Dir) {
				break
			}
		}
	}
}

// read finds the licences in the files of a directory, sorted.
func read(known *classifier.Classifier, dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("look for the licence: %w", err)
	}
	var out []string
	for _, e := range entries {
		if !e.Type().IsRegular() || !licenceFile.MatchString(e.Name()) || filepath.Ext(e.Name()) == ".go" {
			continue
		}
		raw, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, fmt.Errorf("read the licence: %w", err)
		}
		if licence, ok := reviewed(fmt.Sprintf("%x", sha256.Sum256(raw))); ok {
			if licence != "" {
				out = append(out, licence)
			}
			continue
		}
		found := false
		for _, m := range known.Match(raw).Matches {
			if m.MatchType == "License" {
				out, found = append(out, m.Name), true
			}
		}
		if !found {
			out = append(out, "unknown ("+e.Name()+")")
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}
