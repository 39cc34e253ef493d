// Package script runs the Lua scripts that users keep in their settings, on one object, in a sandbox: no files, no
// processes, no loading of code, a fresh state for each run, and an upper bound on instructions, memory and depth.
//
// Scripts written for Argo CD run as they are: the object is the global `obj`, parameters are in `actionParams`, the
// base functions and `table` are open, `require("os")` gives time and date, and the other libraries (string, math) are
// there if the settings ask for them. Missing are coroutines, load, dofile, debug and whatever reaches outside.
package script

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/parse"

	"github.com/slipway-gitops/slipway/internal/legible"
)

// The bounds of one run. Scripts in use need a few thousand instructions.
const (
	maxSource       = 256 << 10 // bytes
	maxInstructions = 2_000_000
	maxMemory       = 64 << 20 // bytes of strings and tables that a run makes, whether it keeps them or not
	maxCalls        = 200      // calls within calls
	maxDepth        = 200      // levels of an object, of a result
	maxErrorText    = 1 << 10  // bytes
	// patience is the last resort against instructions that are each slow, like comparing long strings. No other script
	// comes near it, so that a result does not depend on the machine.
	patience = 2 * time.Second
)

// ErrBudget is what a run ends with that takes more than it may.
var ErrBudget = errors.New("the script takes more than it may: keep loops and strings short")

// Libs says which libraries a script sees.
type Libs int

// The choices for Libs.
const (
	Basic Libs = iota // the base functions and table; os by require
	Open              // string, math and os too: useOpenLibs
)

// Program is a script that was read. It never changes and may run many times concurrently.
type Program struct {
	proto *lua.FunctionProto
	name  string
	libs  Libs
}

// Compile reads a script. The name is what its errors begin with. An error says the line.
func Compile(source, name string, libs Libs) (*Program, error) {
	if len(source) > maxSource {
		return nil, fmt.Errorf("read %s: it has %d bytes, a script may have %d", name, len(source), maxSource)
	}
	var proto *lua.FunctionProto
	err := guarded(func() error {
		chunk, err := parse.Parse(strings.NewReader(source), name)
		if err != nil {
			return err
		}
		if chunk, err = metered(chunk); err != nil {
			return err
		}
		proto, err = lua.Compile(chunk, name)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read %s: %s", name, legible.Cut(strings.TrimSpace(err.Error()), maxErrorText))
	}
	return &Program{proto: proto, name: name, libs: libs}, nil
}

// Input is what one run works on.
type Input struct {
	// Object becomes the global obj. It is copied, never changed.
	Object map[string]any
	// Params becomes the global actionParams.
	Params map[string]string
	// Now is the time that os.time and os.date return, in its own zone.
	Now time.Time
}

// Run runs the script and returns what it returned: nil, a bool, a string, an int64, a float64, a []any or a
// map[string]any. A whole number is an int64. Lua has one kind of empty table: it comes back as an empty []any.
func (p *Program) Run(in Input) (any, error) {
	result, err := p.run(in)
	if err != nil {
		return nil, err
	}
	return result.value, nil
}

// result is what a script returned, and Lua's name for its type.
type result struct {
	value any
	kind  string
}

func (p *Program) run(in Input) (result, error) {
	m := newMeter()
	var out result
	err := guarded(func() error {
		l := lua.NewState(lua.Options{
			SkipOpenLibs:        true,
			CallStackSize:       maxCalls,
			MinimizeStackMemory: true,
			RegistrySize:        512, // grows: most scripts are small
			RegistryMaxSize:     8 << 10,
			RegistryGrowStep:    1 << 10,
		})
		defer l.Close()
		sandbox := box{meter: m, now: in.Now}
		sandbox.open(l, p.libs)
		obj, err := toLua(l, in.Object, 0)
		if err != nil {
			return err
		}
		l.SetGlobal("obj", obj)
		params := l.CreateTable(0, len(in.Params))
		for name, value := range in.Params {
			params.RawSetString(name, lua.LString(value))
		}
		l.SetGlobal("actionParams", params)
		l.SetContext(m)
		l.Push(l.NewFunctionFromProto(p.proto))
		hidden := sandbox.hidden(l)
		for _, fn := range hidden {
			l.Push(fn)
		}
		if err := l.PCall(len(hidden), lua.MultRet, nil); err != nil {
			return err
		}
		last := l.Get(-1)
		out.kind = last.Type().String()
		out.value, err = (&reader{seen: map[*lua.LTable]bool{}}).value(last, 0)
		return err
	})
	if m.err != nil {
		return result{}, m.err
	}
	if err != nil {
		return result{}, tidy(err)
	}
	return out, nil
}

// Health runs the script as a judgement of in.Object. The status is one of Argo CD's, or empty where the script has none
// to give; a status that there is not counts as Unknown, with a message that says so.
func (p *Program) Health(in Input) (status, message string, err error) {
	out, err := p.run(in)
	if err != nil {
		return "", "", err
	}
	if out.kind == lua.LTNil.String() {
		return "", "", nil
	}
	if out.kind != lua.LTTable.String() {
		return "", "", wrongType(out.kind)
	}
	text, err := json.Marshal(out.value)
	if err != nil {
		return "", "", fmt.Errorf("read the result of %s: %w", p.name, err)
	}
	var health struct{ Status, Message string }
	if err := json.Unmarshal(text, &health); err != nil {
		// A list, or fields of other types: Argo CD takes that as no judgement.
		return "", "", nil //nolint:nilerr // see above
	}
	switch health.Status {
	case "Unknown", "Progressing", "Suspended", "Healthy", "Degraded", "Missing":
		return health.Status, health.Message, nil
	}
	return "Unknown", "Lua returned an invalid health status", nil
}

// Table runs the script and returns the table that it returned, as a map[string]any or a []any. Any other result is an
// error.
func (p *Program) Table(in Input) (any, error) {
	out, err := p.run(in)
	if err != nil {
		return nil, err
	}
	if out.kind != lua.LTTable.String() {
		return nil, wrongType(out.kind)
	}
	return out.value, nil
}

func wrongType(kind string) error {
	return fmt.Errorf("expect table output from Lua script, not %s", kind)
}

// guarded turns a panic of the interpreter into an error: no script may take the process down.
func guarded(work func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the Lua interpreter broke down: %v", r)
		}
	}()
	return work()
}

// tidy leaves of an error what the script's author can use, without the interpreter's stack.
func tidy(err error) error {
	var api *lua.ApiError
	if errors.As(err, &api) && api.Object != nil {
		return errors.New(legible.Cut(api.Object.String(), maxErrorText))
	}
	return errors.New(legible.Cut(err.Error(), maxErrorText))
}
