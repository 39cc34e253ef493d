package declared

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/gobwas/glob"

	"github.com/slipway-gitops/slipway/internal/source"
)

// Bounds of a search for files.
const (
	maxListed  = 100_000 // names
	maxParts   = 50      // of a pattern
	maxSubDirs = 50      // below each other
)

// finder looks for a file whose path matches a pattern: its parts are those of a path, and ** stands for any directories.
type finder struct {
	tree  source.Tree
	parts []*glob.Pattern // nil for **
	seen  int
}

var errTooManyNames = fmt.Errorf("it looks at more than %d names: narrow the pattern of its discovery", maxListed)

// matches reports whether there is a file or directory below root whose path matches.
func matches(tree source.Tree, root, pattern string) (bool, error) {
	f := &finder{tree: tree}
	for part := range strings.SplitSeq(strings.TrimPrefix(path.Clean(pattern), "/"), "/") {
		if len(f.parts) >= maxParts {
			return false, fmt.Errorf("the pattern of its discovery has more than %d parts", maxParts)
		}
		if part == ".." {
			return false, errors.New("the pattern of its discovery leaves the directory of the source")
		}
		if part == "**" {
			f.parts = append(f.parts, nil)
			continue
		}
		g, err := glob.Compile(part)
		if err != nil {
			return false, fmt.Errorf("the pattern of its discovery: %w", err)
		}
		f.parts = append(f.parts, g)
	}
	return f.find(root, f.parts, 0)
}

func (f *finder) find(dir string, parts []*glob.Pattern, depth int) (bool, error) {
	any := parts[0] == nil
	if any {
		if len(parts) == 1 {
			return true, nil // the directory itself
		}
		if found, err := f.find(dir, parts[1:], depth); found || err != nil {
			return found, err
		}
	}
	if depth > maxSubDirs {
		return false, nil
	}
	entries, err := f.tree.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	for _, e := range entries {
		if f.seen++; f.seen > maxListed {
			return false, errTooManyNames
		}
		rest := parts
		switch {
		case any && !e.IsDir():
			continue
		case any:
		case !parts[0].Match(e.Name):
			continue
		case len(parts) == 1:
			return true, nil
		case !e.IsDir():
			continue
		default:
			rest = parts[1:]
		}
		if found, err := f.find(path.Join(dir, e.Name), rest, depth+1); found || err != nil {
			return found, err
		}
	}
	return false, nil
}
