// Package jq finds the fields of an object that an expression of jq names, within a bounded number of steps.
//
// gojq parses the language. It is evaluated here because anyone who may write an Application can write a rule, and each
// rule runs on every change of an object: it must end after a bounded amount of work, the same one each time, and needs
// nothing but paths. There are no definitions, no reduce, no input, no environment and no clock, and every step and
// every byte that an expression looks at is paid for.
package jq

import (
	"errors"
	"fmt"
	"strings"

	"github.com/itchyny/gojq"
)

const (
	maxText   = 4 << 10 // bytes that one expression may have
	maxDepth  = 200     // how deep an expression may be nested
	maxFuel   = 4 << 20 // steps that one expression may take on one object
	maxPlaces = 20_000  // fields that one expression may name in one object
)

// ErrFuel ends an expression that costs too much.
var ErrFuel = errors.New("takes too many steps")

// ErrNoPlace ends an expression that gives a value instead of a place.
var ErrNoPlace = errors.New("gives a value and not a path; it must name fields, as the jq function path() wants")

// Path is a jq expression that names fields.
type Path struct {
	text string
	run  expr
}

// String is the expression as it was written.
func (p *Path) String() string { return p.text }

// Place is a place in an object: one key, and the place above it. Nil is the object itself. Places share what is above
// them, so that many deep ones are small.
type Place struct {
	up  *Place
	key any
}

// Slice is a key that stands for several items of a list.
type Slice struct{ From, To int }

// track says whether the place of a value is known.
type track byte

const (
	untracked track = iota // the place is not requested
	placed                 // path is the place
	lost                   // a place is asked for, and there is none: the value was made
)

type node struct {
	v     any
	path  *Place
	track track
}

// made is a value that comes from nowhere in the object.
func (n node) made(v any) node {
	if n.track == untracked {
		return node{v: v}
	}
	return node{v: v, track: lost}
}

// value is the same value if its place is not requested.
func (n node) value() node { return node{v: n.v} }

func (n node) child(v, key any) node {
	if n.track == placed {
		return node{v: v, path: &Place{up: n.path, key: key}, track: placed}
	}
	return node{v: v}
}

type binding struct {
	up   *binding
	name string
	v    any
}

// machine is one evaluation.
type machine struct{ fuel int }

func (m *machine) spend(n int) error {
	m.fuel -= n
	if m.fuel < 0 {
		return ErrFuel
	}
	return nil
}

type (
	sink     func(node) error
	expr     func(m *machine, in node, env *binding, emit sink) error
	function func(m *machine, in any, args ...any) (any, error) // makes a value of its input and its arguments
)

// Parse reads a path expression. The error says what is wrong with it, for its author.
func Parse(text string) (*Path, error) {
	if strings.TrimSpace(text) == "" {
		return nil, errors.New("is empty")
	}
	if len(text) > maxText {
		return nil, fmt.Errorf("has %d bytes; at most %d are allowed", len(text), maxText)
	}
	query, err := gojq.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("is not valid jq: %w", err)
	}
	run, err := compiler{}.query(query)
	if err != nil {
		return nil, err
	}
	return &Path{text: text, run: run}, nil
}

// Places returns the places in obj that the expression names. An error means that it names none: as jq's del() would, it
// does all or nothing.
func (p *Path) Places(obj any) ([]*Place, error) {
	m := &machine{fuel: maxFuel}
	var out []*Place
	err := p.run(m, node{v: obj, track: placed}, nil, func(n node) error {
		if n.track != placed {
			return ErrNoPlace
		}
		if len(out) >= maxPlaces {
			return ErrFuel
		}
		out = append(out, n.path)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Keys lists the keys of a place from the top: strings, ints and Slices.
func (p *Place) Keys() []any {
	n := 0
	for at := p; at != nil; at = at.up {
		n++
	}
	out := make([]any, n)
	for at := p; at != nil; at = at.up {
		n--
		out[n] = at.key
	}
	return out
}
