package sops

import (
	"fmt"
	"regexp"
	"strings"
)

// rules say which values of a file are encrypted. At most one of them is set.
type rules struct {
	unencryptedSuffix, encryptedSuffix   string
	unencryptedRegex, encryptedRegex     *regexp.Regexp
	unencryptedComment, encryptedComment *regexp.Regexp
}

// defaultSuffix ends the keys whose values stay clear where a file has no rule.
const defaultSuffix = "_unencrypted"

// maxRule bounds a rule, in bytes.
const maxRule = 4096

// rulesOf reads the rules of a file.
func rulesOf(text func(name string) string) (rules, error) {
	var r rules
	set := 0
	compile := func(name string) (*regexp.Regexp, error) {
		pattern := text(name)
		if pattern == "" {
			return nil, nil
		}
		set++
		if len(pattern) > maxRule {
			return nil, fmt.Errorf("%w: sops.%s is longer than %d bytes", ErrLimit, name, maxRule)
		}
		re, err := regexp.Compile(pattern)
		if err != nil {
			return nil, fmt.Errorf("%w: sops.%s is no regular expression", ErrDamaged, name)
		}
		return re, nil
	}
	for _, one := range []struct {
		into **regexp.Regexp
		name string
	}{
		{&r.unencryptedRegex, "unencrypted_regex"},
		{&r.encryptedRegex, "encrypted_regex"},
		{&r.unencryptedComment, "unencrypted_comment_regex"},
		{&r.encryptedComment, "encrypted_comment_regex"},
	} {
		var err error
		if *one.into, err = compile(one.name); err != nil {
			return r, err
		}
	}
	r.unencryptedSuffix, r.encryptedSuffix = text("unencrypted_suffix"), text("encrypted_suffix")
	for _, s := range []string{r.unencryptedSuffix, r.encryptedSuffix} {
		if s != "" {
			set++
		}
	}
	if set > 1 {
		return r, fmt.Errorf("%w: it has several rules of what is encrypted, and SOPS writes one", ErrDamaged)
	}
	if set == 0 {
		r.unencryptedSuffix = defaultSuffix
	}
	return r, nil
}

// encrypted reports whether a value is encrypted, by the keys that lead to it or the comments above it.
func (r *rules) encrypted(path []string, above [][]string, isComment bool) bool {
	anyKey := func(matches func(string) bool) bool {
		for _, key := range path {
			if matches(key) {
				return true
			}
		}
		return false
	}
	switch {
	case r.unencryptedSuffix != "":
		return !anyKey(func(k string) bool { return strings.HasSuffix(k, r.unencryptedSuffix) })
	case r.encryptedSuffix != "":
		return anyKey(func(k string) bool { return strings.HasSuffix(k, r.encryptedSuffix) })
	case r.unencryptedRegex != nil:
		return !anyKey(r.unencryptedRegex.MatchString)
	case r.encryptedRegex != nil:
		return anyKey(r.encryptedRegex.MatchString)
	case r.unencryptedComment != nil:
		return !anyComment(above, r.unencryptedComment, false)
	case r.encryptedComment != nil:
		return anyComment(above, r.encryptedComment, isComment)
	}
	return true
}

// anyComment reports whether a comment above a value matches. With own, the last one is the value itself, which is ignored.
func anyComment(above [][]string, re *regexp.Regexp, own bool) bool {
	for i, level := range above {
		for j, c := range level {
			if own && i == len(above)-1 && j == len(level)-1 {
				continue
			}
			if re.MatchString(c) {
				return true
			}
		}
	}
	return false
}
