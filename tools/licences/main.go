// Command licences checks the licences of everything that Slipway ships: the Go modules that its programs link and the
// packages of npm that its pages contain. It fails, and names the module, where a licence is not on the list of those
// that Apache-2.0 software may include, or where it finds no licence at all.
//
// Usage: licences <repository> <program>...
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "licences:", err)
		os.Exit(1)
	}
}

// allowed are the licences, by SPDX identifier, that a program under Apache-2.0 may include without a condition on its
// own source.
func allowed() []string {
	return []string{
		"0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "BlueOak-1.0.0", "CC0-1.0", "ISC", "MIT", "MIT-0", "MPL-2.0", "Unlicense", "Zlib",
		"OFL-1.1", // of typefaces: the pages ship its text beside them
	}
}

// part is one thing that is shipped: a Go module or a package of npm.
type part struct {
	name     string
	licences []string // SPDX identifiers; all of them apply
}

func run(args []string, out io.Writer) error {
	if len(args) < 2 {
		return errors.New("want the directory of the repository and the programs that are shipped, such as ./cmd/slipway")
	}
	parts, err := modules(args[0], args[1:])
	if err != nil {
		return err
	}
	packages, err := packages(args[0])
	if err != nil {
		return err
	}
	parts = append(parts, packages...)
	if wrong := judge(parts, allowed()); len(wrong) > 0 {
		return errors.New(strings.Join(wrong, "\n") +
			"\nreplace it, or, where the licence allows it, add it to the list in tools/licences with a decision in docs/adr")
	}
	fmt.Fprintf(out, "licences: %d modules and packages, all with a licence that is allowed\n", len(parts))
	return nil
}

// judge returns a line for each part that has no licence, or one that is not allowed.
func judge(parts []part, allowed []string) []string {
	var wrong []string
	for _, p := range parts {
		if len(p.licences) == 0 {
			wrong = append(wrong, p.name+" has no licence that is recognised")
		}
		for _, licence := range p.licences {
			if !slices.Contains(allowed, licence) {
				wrong = append(wrong, p.name+" has the licence "+licence+", which is not allowed")
			}
		}
	}
	return wrong
}
