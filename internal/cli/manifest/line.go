package manifest

import (
	"errors"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/slipway-gitops/slipway/internal/engine/render/document"
	"github.com/slipway-gitops/slipway/internal/strict"
)

// placed gives an error of a document, which starts at a line of its file, the line that it is about: the one of the document
// where no better one is known.
func placed(err error, part []byte, start int) error {
	out := &document.Error{Line: start, Err: err}
	var wrong *strict.Error
	if errors.As(err, &wrong) {
		if n := lineOf(part, wrong.At); n > 0 {
			out.Line = start + n - 1
		}
	}
	return out
}

// lineOf finds the line of what a way leads to, counted from 1; 0 where the document cannot be read so.
func lineOf(part []byte, way []strict.Step) (line int) {
	defer func() {
		if recover() != nil { // the parser reports some errors so
			line = 0
		}
	}()
	var doc yaml.Node
	if err := yaml.NewDecoder(strings.NewReader(string(part))).Decode(&doc); err != nil || len(doc.Content) == 0 {
		return 0
	}
	at := doc.Content[0]
	line = at.Line
	for _, step := range way {
		if at.Kind == yaml.AliasNode {
			at = at.Alias
		}
		switch {
		case step.Index >= 0 && at.Kind == yaml.SequenceNode && step.Index < len(at.Content):
			at = at.Content[step.Index]
			line = at.Line
		case step.Index < 0 && at.Kind == yaml.MappingNode:
			key, value := member(at, step.Name)
			if key == nil {
				return line
			}
			at, line = value, key.Line
		default:
			return line
		}
	}
	return line
}

// member finds a field of a mapping by its name: the last one, which is the one too many where there are two.
func member(of *yaml.Node, name string) (key, value *yaml.Node) {
	for i := len(of.Content) - 2; i >= 0; i -= 2 {
		if of.Content[i].Value == name {
			return of.Content[i], of.Content[i+1]
		}
	}
	return nil, nil
}
