package archive

import (
	"errors"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/slipway-gitops/slipway/internal/legible"
)

const (
	maxLinks = 40        // followed for one name, as Linux does
	maxParts = 1000      // path components walked for one name, links expanded
	maxSteps = 2_000_000 // path components walked for all links
)

var (
	errBroken = errors.New("it leads to nothing")
	errLoop   = errors.New("it leads to itself")
)

// resolveLinks replaces every link by what it leads to, so that the tree has none. One that leads to nothing stays as a broken one;
// one that leaves the archive is refused. What a link to a directory adds counts as files do.
func (b *builder) resolveLinks() error {
	todo := slices.Sorted(maps.Keys(b.links))
	real := make(map[string]string, len(todo)) // link -> what it leads to, without links on the way
	for _, name := range todo {
		to, err := b.follow(name)
		switch {
		case errors.Is(err, errBroken), errors.Is(err, errLoop):
			b.nodes[name] = &node{Mode: fs.ModeSymlink}
			if err := b.count(name); err != nil {
				return err
			}
		case err != nil:
			return err
		default:
			real[name] = to
		}
	}
	below := b.below()
	for len(todo) > 0 {
		name := todo[0]
		todo = todo[1:]
		to, ok := real[name]
		if !ok {
			continue
		}
		if b.nodes[to].Mode.IsDir() && (to == "." || name == to || strings.HasPrefix(name, to+"/")) {
			return refuse("the link %q leads to a directory that it is in", shown(name))
		}
		more, err := b.copyTo(name, to, below, real)
		if err != nil {
			return err
		}
		todo = append(todo, more...)
	}
	return nil
}

// below lists, for each directory, the names in it as the archive has them: files, directories and links.
func (b *builder) below() map[string][]string {
	out := map[string][]string{}
	for name := range b.nodes {
		if name != "." {
			out[path.Dir(name)] = append(out[path.Dir(name)], name)
		}
	}
	for name := range b.links {
		if b.nodes[name] == nil { // a broken one is among the nodes
			out[path.Dir(name)] = append(out[path.Dir(name)], name)
		}
	}
	for _, names := range out {
		slices.Sort(names)
	}
	return out
}

// copyTo makes name what to is, and returns the links that come with it.
func (b *builder) copyTo(name, to string, below map[string][]string, real map[string]string) (links []string, err error) {
	if strings.Count(name, "/") >= b.limits.Depth {
		return nil, refuse("directories are nested deeper than %d at %q, links followed", b.limits.Depth, shown(name))
	}
	b.nodes[name] = b.nodes[to]
	if err := b.count(name); err != nil {
		return nil, err
	}
	if !b.nodes[to].Mode.IsDir() {
		return nil, nil
	}
	for _, child := range below[to] {
		copied := name + "/" + path.Base(child)
		if target, is := real[child]; is {
			if real[copied] = target; len(real) > b.limits.Files {
				return nil, b.tooMany()
			}
			links = append(links, copied)
			continue
		}
		more, err := b.copyTo(copied, child, below, real)
		if err != nil {
			return nil, err
		}
		links = append(links, more...)
	}
	return links, nil
}

// follow walks from a link to what it leads to, and returns the name of that, which no link leads through.
func (b *builder) follow(name string) (string, error) {
	var at []string
	todo := strings.Split(name, "/")
	links := 0
	for steps := 0; len(todo) > 0; steps++ {
		if b.steps++; b.steps > maxSteps {
			return "", refuse("its links take too long to be followed: replace them by files")
		}
		if steps > maxParts {
			return "", errLoop
		}
		part := todo[0]
		todo = todo[1:]
		switch part {
		case "", ".":
			continue
		case "..":
			if len(at) == 0 {
				return "", refuse("the link %q leaves it", shown(name))
			}
			at = at[:len(at)-1]
			continue
		}
		at = append(at, part)
		here := strings.Join(at, "/")
		if to, is := b.links[here]; is {
			if links++; links > maxLinks {
				return "", errLoop
			}
			at, todo = nil, slices.Concat(strings.Split(to.target, "/"), todo)
			continue
		}
		n := b.nodes[here]
		if n == nil || len(todo) > 0 && !n.Mode.IsDir() && slices.ContainsFunc(todo, func(s string) bool { return s != "" && s != "." }) {
			return "", errBroken
		}
	}
	if len(at) == 0 {
		return ".", nil
	}
	to := strings.Join(at, "/")
	if b.links[name].file && b.nodes[to].Mode.IsDir() {
		return "", refuse("the hard link %q leads to a directory", shown(name))
	}
	return to, nil
}

// shown is a name for messages.
func shown(name string) string { return legible.Line(name, 120) }
