package action

import (
	"errors"
	"fmt"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/engine/script"
	"github.com/slipway-gitops/slipway/internal/legible"
)

// The keys of the ConfigMap argocd-cm that hold actions.
const (
	keyPrefix = "resource.customizations.actions." // then group_kind, or the kind alone
	keyAll    = "resource.customizations"          // the older form: one text for all kinds
)

// Limits of the settings.
const (
	maxSettings    = 4 << 20 // bytes of one setting
	maxDefinitions = 200     // actions of one kind
	maxFound       = 200     // actions that a script offers
)

// custom is what a user's settings say of one kind.
type custom struct {
	discovery *script.Program
	programs  map[string]*script.Program
	merge     bool
	err       error
}

// customText is the value of a setting.
type customText struct {
	Discovery   string `json:"discovery.lua"`
	Definitions []struct {
		Name   string `json:"name"`
		Action string `json:"action.lua"`
	} `json:"definitions"`
	Merge bool `json:"mergeBuiltinActions"`
}

// readSettings finds what concerns actions in the data of argocd-cm. What is wrong is kept where it was found, so that
// one kind's mistake does not hide the actions of the others.
func readSettings(data map[string]string) map[object.Kind]custom {
	all := map[object.Kind]custom{}
	if text := data[keyAll]; text != "" && len(text) <= maxSettings {
		var kinds map[string]struct {
			Actions string `json:"actions"`
		}
		// The other settings in the same text are not ours to judge: what cannot be read holds no actions.
		if yaml.Unmarshal([]byte(text), &kinds) == nil {
			for name, value := range kinds {
				if value.Actions != "" {
					group, kind, found := strings.Cut(name, "/")
					if !found {
						group, kind = "", name
					}
					all[object.Kind{Group: group, Kind: kind}] = readCustom(keyAll+" of "+name, value.Actions)
				}
			}
		}
	}
	for key, text := range data {
		name, ok := strings.CutPrefix(key, keyPrefix)
		if !ok || text == "" {
			continue
		}
		group, kind, found := strings.Cut(name, "_")
		if !found {
			group, kind = "", name
		}
		all[object.Kind{Group: group, Kind: kind}] = readCustom(key, text)
	}
	return all
}

func readCustom(key, text string) custom {
	c := custom{programs: map[string]*script.Program{}}
	if len(text) > maxSettings {
		return custom{err: fmt.Errorf("read %s: it has %d bytes, a setting may have %d", key, len(text), maxSettings)}
	}
	var read customText
	if err := yaml.Unmarshal([]byte(text), &read); err != nil {
		return custom{err: fmt.Errorf("read %s: %w", key, err)}
	}
	if len(read.Definitions) > maxDefinitions {
		return custom{err: fmt.Errorf("read %s: it has %d actions, a kind may have %d", key, len(read.Definitions), maxDefinitions)}
	}
	var err error
	c.merge = read.Merge
	if c.discovery, err = script.Compile(read.Discovery, "discovery.lua of "+key, script.Basic); err != nil {
		return custom{err: err}
	}
	for _, d := range read.Definitions {
		if c.programs[d.Name] != nil {
			continue // the first one counts
		}
		if c.programs[d.Name], err = script.Compile(d.Action, "action "+legible.Cut(d.Name, 100)+" of "+key, script.Basic); err != nil {
			return custom{err: err}
		}
	}
	return c
}

// list adds what the discovery script offers.
func (c *custom) list(obj map[string]any, env Env, found map[string]Action) error {
	value, err := c.discovery.Table(script.Input{Object: obj, Now: env.Now})
	if err != nil {
		return err
	}
	offered, ok := value.(map[string]any)
	if !ok {
		if list, _ := value.([]any); len(list) == 0 {
			return nil
		}
		return errors.New("discovery.lua returned a list: it returns a table with the names of actions as keys")
	}
	if len(offered) > maxFound {
		return fmt.Errorf("discovery.lua offers %d actions, an object may have %d", len(offered), maxFound)
	}
	for name, value := range offered {
		a := Action{Name: name, Params: []string{}}
		fields, ok := value.(map[string]any)
		if _, list := value.([]any); !ok && !list { // {} comes as a list
			return fmt.Errorf("discovery.lua offers %s, which is no table", legible.Cut(name, 100))
		}
		for key, field := range fields {
			if err := a.read(key, field); err != nil {
				return fmt.Errorf("discovery.lua offers %s: %w", legible.Cut(name, 100), err)
			}
		}
		found[a.Name] = a
	}
	return nil
}

// read takes one field of an offered action; those that are not known are not asked for their type.
func (a *Action) read(key string, value any) error {
	var ok bool
	switch key {
	case "name":
		a.Name, ok = value.(string)
	case "disabled":
		a.Disabled, ok = value.(bool)
	case "displayName":
		a.DisplayName, ok = value.(string)
	case "iconClass":
		a.IconClass, ok = value.(string)
	case "params":
		var list []any
		list, ok = value.([]any)
		for _, item := range list {
			param, isMap := item.(map[string]any)
			name, isText := param["name"].(string)
			ok = ok && isMap && isText
			a.Params = append(a.Params, name)
		}
	default:
		return nil
	}
	if !ok {
		return fmt.Errorf("%s is of the wrong type", key)
	}
	return nil
}

// runScript runs an action that is a script: it returns the object, changed, or a list of operations and objects.
func runScript(p *script.Program, obj map[string]any, params map[string]string, env Env) ([]Impact, error) {
	value, err := p.Table(script.Input{Object: obj, Params: params, Now: env.Now})
	if err != nil {
		return nil, err
	}
	var impacts []Impact
	switch v := value.(type) {
	case map[string]any:
		impacts = []Impact{{Operation: Patch, Object: v}}
	case []any:
		for _, item := range v {
			fields, _ := item.(map[string]any)
			operation, _ := fields["operation"].(string)
			resource, _ := fields["resource"].(map[string]any)
			impacts = append(impacts, Impact{Operation: Operation(operation), Object: resource})
		}
	}
	for i := range impacts {
		if op := impacts[i].Operation; op != Patch && op != Create {
			return nil, fmt.Errorf("unsupported operation: %q", legible.Cut(string(op), 100))
		}
		if kind, ok := impacts[i].Object["kind"].(string); !ok || kind == "" {
			return nil, errors.New("the action returned an object without kind")
		}
		if impacts[i].Operation == Patch {
			restore(impacts[i].Object, obj)
		}
	}
	return impacts, nil
}

// restore gives empty maps back: Lua has one kind of empty table, and it came out as a list.
func restore(changed, was map[string]any) {
	for name, value := range changed {
		before, known := was[name]
		if !known {
			continue
		}
		if list, ok := value.([]any); ok && len(list) == 0 {
			if _, ok := before.(map[string]any); ok {
				changed[name] = map[string]any{}
			}
			continue
		}
		restoreBelow(value, before)
	}
}

func restoreBelow(value, before any) {
	switch v := value.(type) {
	case map[string]any:
		if b, ok := before.(map[string]any); ok {
			restore(v, b)
		}
	case []any:
		b, ok := before.([]any)
		for i := 0; ok && i < min(len(v), len(b)); i++ {
			if list, empty := v[i].([]any); empty && len(list) == 0 {
				if _, isMap := b[i].(map[string]any); isMap {
					v[i] = map[string]any{}
				}
				continue
			}
			restoreBelow(v[i], b[i])
		}
	}
}
