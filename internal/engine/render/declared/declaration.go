package declared

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/slipway-gitops/slipway/internal/engine/render"
	"github.com/slipway-gitops/slipway/internal/engine/render/document"
	"github.com/slipway-gitops/slipway/internal/strict"
)

// Bounds of declarations.
const (
	maxDeclarations = 100
	maxDeclaration  = 256 << 10 // bytes
	maxParameters   = 200
)

// AnnotationNetwork on a declaration, with the value true, gives the plugin the network.
const AnnotationNetwork = "slipway.io/network"

// declaration is a plugin.yaml of Argo CD.
type declaration struct {
	Kind     string `json:"kind"`
	Metadata struct {
		Name        string            `json:"name"`
		Annotations map[string]string `json:"annotations"`
	} `json:"metadata"`
	Spec struct {
		Version    string     `json:"version"`
		Init       command    `json:"init"`
		Generate   command    `json:"generate"`
		Discover   discovery  `json:"discover"`
		Parameters parameters `json:"parameters"`
		// AllowConcurrency is whether it may run more than once at a time; nil: it may.
		AllowConcurrency *bool `json:"allowConcurrency"`
		PreserveFileMode bool  `json:"preserveFileMode"`
	} `json:"spec"`
}

// command is a program and its arguments.
type command struct {
	Command []string `json:"command"`
	Args    []string `json:"args"`
}

// discovery is how a plugin knows files that it renders: the first of these that is set counts.
type discovery struct {
	FileName string `json:"fileName"`
	Find     struct {
		command
		Glob string `json:"glob"`
	} `json:"find"`
}

// parameters are what a plugin announces.
type parameters struct {
	Static  []render.Announcement `json:"static"`
	Dynamic command               `json:"dynamic"`
}

// name is how an Application names the plugin.
func (d *declaration) name() string {
	if d.Spec.Version == "" {
		return d.Metadata.Name
	}
	return d.Metadata.Name + "-" + d.Spec.Version
}

// discovers reports whether the plugin finds out whether it knows files.
func (d *declaration) discovers() bool {
	f := d.Spec.Discover
	return f.FileName != "" || f.Find.Glob != "" || len(f.Find.Command) > 0
}

// alone reports whether the plugin must not run twice at a time.
func (d *declaration) alone() bool {
	return d.Spec.AllowConcurrency != nil && !*d.Spec.AllowConcurrency
}

// validName is what the name of a plugin may be.
var validName = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9._-]{0,252}$`)

// parse reads a declaration.
func parse(raw []byte) (*declaration, error) {
	asJSON, err := document.ToJSON(raw)
	if err != nil {
		return nil, err
	}
	d := &declaration{}
	if err := strict.Decode(asJSON, d, strict.Unknown, strict.Foreign); err != nil {
		return nil, mistyped(err)
	}
	switch {
	case d.Kind != "ConfigManagementPlugin":
		return nil, fmt.Errorf("its kind is %.100q: it must be ConfigManagementPlugin", d.Kind)
	case !validName.MatchString(d.name()):
		return nil, fmt.Errorf("%.100q is no name of a plugin: set metadata.name to letters, digits, dots and dashes", d.name())
	case len(d.Spec.Generate.Command) == 0:
		return nil, errors.New("spec.generate.command is empty: name the program that prints the manifests")
	case len(d.Spec.Parameters.Static) > maxParameters:
		return nil, fmt.Errorf("spec.parameters.static has more than %d parameters", maxParameters)
	}
	return d, nil
}

// mistyped words an error of the decoder for people, where a field has another type than it must have.
func mistyped(err error) error {
	var wrong *json.UnmarshalTypeError
	if !errors.As(err, &wrong) {
		return err
	}
	must := map[reflect.Kind]string{
		reflect.Slice: "a list", reflect.Struct: "an object", reflect.Map: "an object", reflect.String: "a text", reflect.Bool: "true or false",
	}[wrong.Type.Kind()]
	return fmt.Errorf("%s is a %s and must be %s: correct it", wrong.Field, wrong.Value, cmp.Or(must, wrong.Type.String()))
}

// load reads the declarations in a directory, sorted by the names of their files. Those that can be read are returned with an error
// that names the others.
func load(dir string) ([]*declaration, error) {
	if dir == "" {
		return nil, nil
	}
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list declared plugins: %w: %w", render.ErrUnavailable, err)
	}
	var out []*declaration
	var wrong []error
	for _, e := range entries {
		ext := filepath.Ext(e.Name())
		if strings.HasPrefix(e.Name(), ".") || ext != ".yaml" && ext != ".yml" {
			continue
		}
		if len(out) >= maxDeclarations {
			wrong = append(wrong, fmt.Errorf("there are more than %d", maxDeclarations))
			break
		}
		d, err := read(filepath.Join(dir, e.Name()))
		if err == nil && slices.ContainsFunc(out, func(o *declaration) bool { return o.name() == d.name() }) {
			err = fmt.Errorf("another file declares %s too", d.name())
		}
		if err != nil {
			wrong = append(wrong, fmt.Errorf("%s: %w", e.Name(), err))
			continue
		}
		out = append(out, d)
	}
	if len(wrong) > 0 {
		return out, fmt.Errorf("read declared plugins: %w", errors.Join(wrong...))
	}
	return out, nil
}

func read(file string) (*declaration, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	raw, err := io.ReadAll(io.LimitReader(f, maxDeclaration+1))
	if err != nil {
		return nil, err
	}
	if len(raw) > maxDeclaration {
		return nil, fmt.Errorf("it has more than %d KiB", maxDeclaration>>10)
	}
	return parse(raw)
}
