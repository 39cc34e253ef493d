package action

import (
	"fmt"

	"github.com/google/cel-go/cel"
)

// maxCondition is the longest condition in bytes.
const maxCondition = 4 << 10

// Condition is an expression that holds for some objects or not, in the language of the rules of actions: a field that is missing is
// null, and has fields that are null.
type Condition struct{ expr *expr }

// NewCondition reads an expression over objects with these names.
func NewCondition(text string, names ...string) (Condition, error) {
	if len(text) > maxCondition {
		return Condition{}, fmt.Errorf("the condition has %d bytes, more than %d: shorten it", len(text), maxCondition)
	}
	options := append(functions(), cel.CustomTypeAdapter(adapter{}))
	for _, name := range names {
		options = append(options, cel.Variable(name, cel.DynType))
	}
	env, err := cel.NewEnv(options...)
	if err != nil {
		return Condition{}, fmt.Errorf("build the language: %w", err)
	}
	c := compiler{env: env}
	return Condition{c.expr(text)}, c.err
}

// Holds evaluates it, within the same number of steps as a rule of an action. Objects may be nil.
func (c Condition) Holds(objects map[string]map[string]any) (bool, error) {
	s := scope{nothing: absent{}}
	for name, obj := range objects {
		s[name] = absent{}
		if obj == nil {
			continue
		}
		if err := tooDeep(obj, 0); err != nil {
			return false, err
		}
		s[name] = adapter{}.NativeToValue(obj)
	}
	return c.expr.holds(s)
}
