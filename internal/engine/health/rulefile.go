package health

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"sigs.k8s.io/yaml"
)

// ruleFiles are the rules of custom kinds, one file for each group of the API. A name that begins with "_." is for
// every group below a domain.
//
//go:embed rules/*.yaml
var ruleFiles embed.FS

// sharedFile holds the sets of rules that any file may use.
const sharedFile = "_shared"

// anyKind stands for every kind of a group that no other entry names.
const anyKind = "*"

// ruleFile is one file of rules. docs/guide/health.md explains the format.
type ruleFile struct {
	Group  string             `json:"group"`
	Let    map[string]string  `json:"let"`
	Sets   map[string]ruleSet `json:"sets"`
	Health []kindRules        `json:"health"`
}

// ruleSet is a list of rules with a name. With holds what its parameters are where a use does not say.
type ruleSet struct {
	With  map[string]any `json:"with"`
	Let   map[string]string
	Rules []ruleText `json:"rules"`
}

// kindRules says how objects of some kinds are judged.
type kindRules struct {
	Kinds []string `json:"kinds"`
	// Deleting says that the rules also judge objects that are being deleted, which are Progressing otherwise.
	Deleting bool              `json:"deleting"`
	Let      map[string]string `json:"let"`
	Rules    []ruleText        `json:"rules"`
}

// ruleText is one rule as it is written. Where When is absent or true, it gives a verdict (Status), tries a list of its
// own (Rules), does so for each item of a list (Each), or tries a set (Use).
type ruleText struct {
	When    string            `json:"when"`
	Status  string            `json:"status"`
	Message string            `json:"message"`
	Each    string            `json:"each"`
	As      string            `json:"as"`
	Let     map[string]string `json:"let"`
	Rules   []ruleText        `json:"rules"`
	Use     string            `json:"use"`
	With    map[string]any    `json:"with"`
}

// readRuleFile reads the file of a name; it is nil where there is none.
func readRuleFile(name string) (*ruleFile, error) {
	raw, err := ruleFiles.ReadFile("rules/" + name + ".yaml")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // no file is no fault: most groups have none
	}
	if err != nil {
		return nil, fmt.Errorf("read health rules: %w", err)
	}
	f, err := parseRuleFile(raw)
	if err != nil {
		return nil, fmt.Errorf("read health rules of %s: %w", name, err)
	}
	if want := strings.Replace(f.Group, "*.", "_.", 1); want != name && name != sharedFile {
		return nil, fmt.Errorf("read health rules of %s: the file says that its group is %q", name, f.Group)
	}
	return f, nil
}

func parseRuleFile(raw []byte) (*ruleFile, error) {
	f := &ruleFile{}
	if err := yaml.UnmarshalStrict(raw, f); err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for _, k := range f.Health {
		if len(k.Kinds) == 0 || len(k.Rules) == 0 {
			return nil, errors.New("an entry of health needs kinds and rules")
		}
		for _, kind := range k.Kinds {
			if seen[kind] {
				return nil, fmt.Errorf("kind %s has two entries", kind)
			}
			seen[kind] = true
		}
	}
	return f, nil
}
