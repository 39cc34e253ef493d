package outward

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/pflag"
)

// Variables of the environment that stand in for the flags where those are left out: commas between entries.
const (
	VariableAllow = "SLIPWAY_OUTBOUND_ALLOW"
	VariableDeny  = "SLIPWAY_OUTBOUND_DENY"
)

// Flags are the operator's word on a Policy.
type Flags struct{ allow, deny []string }

// Register adds the flags.
func (f *Flags) Register(fs *pflag.FlagSet) {
	fs.StringSliceVar(&f.allow, "outbound-allow", nil,
		"`hosts` and networks that may be connected to although they are of this machine, of the link or reserved, "+
			"where users choose the address: 127.0.0.0/8, host.example.org, *.example.org (default $"+VariableAllow+")")
	fs.StringSliceVar(&f.deny, "outbound-deny", nil,
		"`hosts` and networks that must not be connected to where users choose the address; counts more than --outbound-allow (default $"+
			VariableDeny+")")
}

// Environment is what the flags say as variables, for programs that are started with the same rules.
func (f *Flags) Environment() []string {
	var out []string
	for variable, entries := range map[string][]string{VariableAllow: f.allow, VariableDeny: f.deny} {
		if text := strings.Join(orEnvironment(entries, variable), ","); text != "" {
			out = append(out, variable+"="+text)
		}
	}
	return out
}

// Policy reads the flags, or the environment. Private networks are allowed.
func (f *Flags) Policy() (*Policy, error) {
	p := &Policy{Private: true}
	var err error
	if p.Allow, err = ReadList(orEnvironment(f.allow, VariableAllow)); err != nil {
		return nil, fmt.Errorf("--outbound-allow: %w", err)
	}
	if p.Deny, err = ReadList(orEnvironment(f.deny, VariableDeny)); err != nil {
		return nil, fmt.Errorf("--outbound-deny: %w", err)
	}
	return p, nil
}

func orEnvironment(entries []string, variable string) []string {
	if len(entries) > 0 {
		return entries
	}
	return strings.Split(os.Getenv(variable), ",")
}
