// Package action knows what a person can ask of one live object beside syncing it: restart, pause, scale, promote. The
// actions of Argo CD are data, one file for each API group below rules; those of a user are Lua scripts in the settings.
// It decides and changes nothing: what comes out is objects to patch or to create.
package action

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/legible"
)

// Action is what an object offers.
type Action struct {
	Name        string `json:"name"`
	Disabled    bool   `json:"disabled"` // makes no sense in the state that the object is in
	DisplayName string `json:"displayName"`
	IconClass   string `json:"iconClass"` // of Font Awesome
	// Params are the names of what a run is given.
	Params []string `json:"params"`
}

// String prints "scale(replicas), disabled".
func (a Action) String() string {
	text := a.Name
	if len(a.Params) > 0 {
		text += "(" + strings.Join(a.Params, ", ") + ")"
	}
	if a.Disabled {
		text += ", disabled"
	}
	return text
}

// Operation says what is to be done with the object of an Impact.
type Operation string

// The operations.
const (
	Patch  Operation = "patch"  // the object that the action ran on, changed
	Create Operation = "create" // a new object
)

// Impact is one object that an action wants written.
type Impact struct {
	Operation Operation      `json:"operation"`
	Object    map[string]any `json:"object"`
}

// String prints "create Job shop/backup-1".
func (i Impact) String() string {
	meta, _ := i.Object["metadata"].(map[string]any)
	kind, _ := i.Object["kind"].(string)
	namespace, _ := meta["namespace"].(string)
	name, _ := meta["name"].(string)
	return fmt.Sprintf("%s %s %s", i.Operation, kind, strings.TrimPrefix(namespace+"/"+name, "/"))
}

// Env is what a run knows beside the object.
type Env struct {
	Now time.Time
	// Suffix ends the name of a created object, so that two runs within a minute do not collide. It may be empty: then
	// the name is the one that Argo CD gives.
	Suffix string
}

// Limits of what comes in.
const (
	maxDepth  = 200     // levels of an object
	maxParams = 20      // parameters of a run
	maxParam  = 4 << 10 // bytes of one
)

// Actions are all that there are. It may be used by several goroutines.
type Actions struct {
	own map[object.Kind]custom

	mu     sync.Mutex
	groups map[string]group
}

// group is what the file of an API group says, read when it is first needed.
type group struct {
	kinds map[string]*kind
	err   error
}

// New reads the actions of a user's settings, which are the data of the ConfigMap argocd-cm and may be nil. A setting
// that is wrong is an error when its kind is asked for; Problems reports it earlier.
func New(settings map[string]string) *Actions {
	return &Actions{own: readSettings(settings), groups: map[string]group{}}
}

// Problems lists what is wrong with the settings, in the order of kinds.
func (a *Actions) Problems() []error {
	var all []error
	kinds := slices.SortedFunc(maps.Keys(a.own), func(x, y object.Kind) int { return strings.Compare(x.String(), y.String()) })
	for _, k := range kinds {
		if err := a.own[k].err; err != nil {
			all = append(all, err)
		}
	}
	return all
}

// List returns the actions that a live object offers, sorted by name: a user's own for its kind, and the built-in ones
// where there are none of the user's or these ask for both. A kind that has no actions gives none. It does not change
// the object.
func (a *Actions) List(obj map[string]any, env Env) ([]Action, error) {
	k, own, builtin, err := a.find(obj)
	if err != nil {
		return nil, err
	}
	found := map[string]Action{}
	if own != nil {
		if err := own.list(obj, env, found); err != nil {
			return nil, fmt.Errorf("list actions of %s: %w", k, err)
		}
	}
	if builtin != nil && (own == nil || own.merge) {
		if err := builtin.list(obj, env, found); err != nil {
			return nil, fmt.Errorf("list actions of %s: %w", k, err)
		}
	}
	all := slices.AppendSeq([]Action{}, maps.Values(found))
	slices.SortFunc(all, func(x, y Action) int { return strings.Compare(x.Name, y.Name) })
	return all, nil
}

// Run runs an action on a live object, whether it is offered and enabled or not, and returns what is to be written. It
// does not change the object.
func (a *Actions) Run(obj map[string]any, name string, params map[string]string, env Env) ([]Impact, error) {
	if err := checkParams(params); err != nil {
		return nil, err
	}
	k, own, builtin, err := a.find(obj)
	if err != nil {
		return nil, err
	}
	var names []string
	if own != nil {
		if p, ok := own.programs[name]; ok {
			return runScript(p, obj, params, env)
		}
		names = slices.Collect(maps.Keys(own.programs))
	}
	if builtin != nil {
		if r := builtin.rule(name); r != nil {
			return builtin.run(r, obj, params, env)
		}
		names = append(names, builtin.names()...)
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%s has no actions", k)
	}
	slices.Sort(names)
	return nil, fmt.Errorf("%s has no action %q: there are %s", k, legible.Cut(name, 100), strings.Join(slices.Compact(names), ", "))
}

// find returns what there is for an object's kind.
func (a *Actions) find(obj map[string]any) (object.Kind, *custom, *kind, error) {
	var k object.Kind
	k.Kind, _ = obj["kind"].(string)
	apiVersion, _ := obj["apiVersion"].(string)
	k.Group, _ = object.SplitAPIVersion(apiVersion)
	if k.Kind == "" {
		return k, nil, nil, fmt.Errorf("the object has no kind")
	}
	if err := tooDeep(obj, 0); err != nil {
		return k, nil, nil, err
	}
	var own *custom
	if c, ok := a.own[k]; ok {
		if c.err != nil {
			return k, nil, nil, c.err
		}
		own = &c
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	g, known := a.groups[k.Group]
	if !known {
		g.kinds, g.err = readGroup(k.Group)
		if g.kinds != nil || g.err != nil { // groups without a file are without number
			a.groups[k.Group] = g
		}
	}
	return k, own, g.kinds[k.Kind], g.err
}

func checkParams(params map[string]string) error {
	if len(params) > maxParams {
		return fmt.Errorf("%d parameters: an action takes at most %d", len(params), maxParams)
	}
	for name, value := range params {
		if len(name)+len(value) > maxParam {
			return fmt.Errorf("parameter %s has more than %d bytes", legible.Cut(name, 100), maxParam)
		}
	}
	return nil
}
