package health

import (
	"errors"
	"fmt"
	"maps"
	"slices"
)

// block is a list of rules with the names that are theirs.
type block struct {
	let   map[string]*program  // computed when first used
	args  map[string]*template // the same, from what the rule around the block sees
	rules []rule
}

// rule is one compiled rule; see ruleText.
type rule struct {
	when    *program
	verdict bool
	status  *template
	message *template
	each    *program
	as      string
	body    *block
}

// compileKind makes one entry of a file ready to run.
func (c *compiler) compileKind(f *ruleFile, k kindRules) (*block, error) {
	let := maps.Clone(f.Let)
	if let == nil {
		let = map[string]string{}
	}
	for name, text := range k.Let {
		if _, twice := let[name]; twice {
			return nil, fmt.Errorf("the name %s has another meaning here", name)
		}
		let[name] = text
	}
	return c.block(k.Rules, let, nil, &names{file: f})
}

func (c *compiler) block(rules []ruleText, let map[string]string, args map[string]*template, known *names) (*block, error) {
	inner, err := known.with(slices.Sorted(maps.Keys(args)), slices.Sorted(maps.Keys(let))...)
	if err != nil {
		return nil, err
	}
	b := &block{args: args, rules: make([]rule, len(rules))}
	if b.let, err = c.exprs(let, inner); err != nil {
		return nil, err
	}
	for i, text := range rules {
		if b.rules[i], err = c.rule(text, inner); err != nil {
			return nil, fmt.Errorf("rule %d: %w", i+1, err)
		}
	}
	return b, nil
}

func (c *compiler) rule(text ruleText, known *names) (rule, error) {
	r := rule{}
	if err := text.check(); err != nil {
		return r, err
	}
	var err error
	if text.When != "" {
		if r.when, err = c.expr(text.When, known); err != nil {
			return r, err
		}
	}
	switch {
	case text.Status != "":
		r.verdict = true
		if r.status, err = c.status(text.Status, known); err != nil {
			return r, err
		}
		r.message, err = c.template(text.Message, known)
	case text.Use != "":
		r.body, err = c.use(text, known)
	case text.Each != "":
		r.as = text.As
		if r.as == "" {
			r.as = "item"
		}
		if r.each, err = c.expr(text.Each, known); err != nil {
			return r, err
		}
		var inner *names
		if inner, err = known.with(nil, r.as); err != nil {
			return r, err
		}
		r.body, err = c.block(text.Rules, text.Let, nil, inner)
	default:
		r.body, err = c.block(text.Rules, text.Let, nil, known)
	}
	return r, err
}

// check finds what does not go together.
func (t ruleText) check() error {
	does := 0
	for _, has := range []bool{t.Status != "", t.Use != "", len(t.Rules) > 0} {
		if has {
			does++
		}
	}
	switch {
	case does != 1:
		return errors.New("a rule has one of status, rules and use")
	case t.Message != "" && t.Status == "":
		return errors.New("a message needs a status")
	case len(t.With) > 0 && t.Use == "":
		return errors.New("with belongs to use")
	case (t.Each != "" || len(t.Let) > 0) && len(t.Rules) == 0:
		return errors.New("each and let need rules")
	case t.As != "" && t.Each == "":
		return errors.New("as belongs to each")
	}
	return nil
}

// none is the status of a rule that ends the search without a health.
const none = "None"

func (c *compiler) status(text string, known *names) (*template, error) {
	t, err := c.template(text, known)
	if err != nil {
		return nil, err
	}
	if len(t.parts) == 1 && t.parts[0].constant != nil && text != none && !isStatus(text) {
		return nil, fmt.Errorf("%s is no status", text)
	}
	return t, nil
}

func isStatus(text string) bool {
	switch Status(text) {
	case Healthy, Suspended, Progressing, Missing, Degraded, Unknown:
		return true
	}
	return false
}

// use puts a set in the place of the rule that names it.
func (c *compiler) use(text ruleText, known *names) (*block, error) {
	set, ok := known.file.Sets[text.Use]
	if !ok {
		set, ok = c.shared[text.Use]
	}
	if !ok {
		return nil, fmt.Errorf("there is no set %s", text.Use)
	}
	given := maps.Clone(set.With)
	for name, value := range text.With {
		if _, ok := given[name]; !ok {
			return nil, fmt.Errorf("set %s has no parameter %s", text.Use, name)
		}
		given[name] = value
	}
	args, err := c.values(given, known)
	if err != nil {
		return nil, err
	}
	b, err := c.block(set.Rules, set.Let, args, known)
	if err != nil {
		return nil, fmt.Errorf("set %s: %w", text.Use, err)
	}
	return b, nil
}
