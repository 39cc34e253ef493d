// Package delta prints what would change: one unified diff per object, with the values of Secrets masked.
package delta

import (
	"fmt"

	"github.com/slipway-gitops/slipway/internal/cli/access"
	"github.com/slipway-gitops/slipway/internal/cli/iostream"
	"github.com/slipway-gitops/slipway/internal/engine/diff"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// Change is one object before and after. Before is nil for an object that would be created, After for one that would
// be deleted.
type Change struct {
	Key    object.Key
	Before map[string]any
	After  map[string]any
}

// change is the stable form of a Change as JSON and YAML.
type change struct {
	Group     string `json:"group,omitempty"`
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	Verb      string `json:"verb"` // create, update or delete
	Diff      string `json:"diff"`
}

// context is how many unchanged lines are shown around a change.
const context = 3

// Print prints the changes; its error is that of an answer "differs" when there are any.
func Print(common *access.Common, changes []Change) error {
	list := make([]change, 0, len(changes))
	for _, c := range changes {
		verb := diff.Update
		switch {
		case c.Before == nil:
			verb = diff.Create
		case c.After == nil:
			verb = diff.Delete
		}
		after, before := diff.Mask(c.After, c.Before, nil)
		text, err := diff.Unified(before, after, diff.Text{
			From: "live " + c.Key.String(), To: "desired " + c.Key.String(), Context: context,
			Color: common.TTY && common.Output == iostream.Table,
		})
		if err != nil {
			return fmt.Errorf("compare %s: %w", c.Key, err)
		}
		list = append(list, change{
			Group: c.Key.Group, Kind: c.Key.Kind, Namespace: c.Key.Namespace, Name: c.Key.Name, Verb: string(verb), Diff: text,
		})
	}
	if err := write(common, list); err != nil {
		return err
	}
	if len(list) > 0 {
		return iostream.Differs()
	}
	return nil
}

func write(common *access.Common, list []change) error {
	if common.Output != iostream.Table {
		return common.Print(common.Output, map[string]any{"items": list})
	}
	for _, c := range list {
		if _, err := common.Out.Write([]byte(c.Diff)); err != nil {
			return err
		}
	}
	if len(list) == 0 {
		common.Sayf("no differences")
	}
	return nil
}
