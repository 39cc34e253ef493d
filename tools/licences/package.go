package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// either is how SPDX writes a choice between licences.
var either = regexp.MustCompile(`\s+OR\s+`)

// packages are the packages of npm that the pages contain, by web/package-lock.json. What only builds or tests them is not shipped.
func packages(repository string) ([]part, error) {
	raw, err := os.ReadFile(filepath.Join(repository, "web", "package-lock.json"))
	if err != nil {
		return nil, fmt.Errorf("list the packages of the pages: %w", err)
	}
	var lock struct {
		Packages map[string]struct {
			Version, License string
			Dev, DevOptional bool
		}
	}
	if err := json.Unmarshal(raw, &lock); err != nil {
		return nil, fmt.Errorf("read web/package-lock.json: %w", err)
	}
	var parts []part
	for path, p := range lock.Packages {
		if path == "" || p.Dev || p.DevOptional {
			continue
		}
		name := path[strings.LastIndex(path, "node_modules/")+len("node_modules/"):]
		parts = append(parts, part{"npm " + name + "@" + p.Version, choose(p.License, allowed())})
	}
	slices.SortFunc(parts, func(a, b part) int { return strings.Compare(a.name, b.name) })
	return parts, nil
}

// choose reads an SPDX expression. Of licences that are alternatives it takes one that is allowed; of AND it takes all.
func choose(expression string, allowed []string) []string {
	expression = strings.TrimSpace(expression)
	if inner, ok := strings.CutPrefix(expression, "("); ok && strings.HasSuffix(inner, ")") {
		expression = strings.TrimSuffix(inner, ")")
	}
	if expression == "" {
		return nil
	}
	alternatives := either.Split(expression, -1)
	for _, one := range alternatives {
		all := strings.Split(one, " AND ")
		if !slices.ContainsFunc(all, func(l string) bool { return !slices.Contains(allowed, l) }) {
			return all
		}
	}
	return strings.Split(alternatives[0], " AND ")
}
