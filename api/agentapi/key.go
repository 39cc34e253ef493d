package agentapi

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Longest names of Kubernetes, in bytes.
const (
	maxNamespace = 63
	maxName      = 253
)

// Check says why there can be no item with this key; nil where there can. Namespaces and names are what Kubernetes takes:
// a label and a subdomain of DNS, the keys of a ConfigMap for GPG keys. Certificates have names of our own (ssh:HOST:TYPE)
// and may have any printable ASCII but a slash.
func (k Key) Check() error {
	if !slices.Contains(ItemKinds(), k.Kind) {
		return fmt.Errorf("the kind %.40q is unknown", k.Kind)
	}
	if k.Namespace != "" && !isLabel(k.Namespace, maxNamespace) {
		return errors.New("the namespace is none that Kubernetes takes: at most 63 lower case letters, digits and hyphens")
	}
	if k.Name == "" || len(k.Name) > maxName {
		return fmt.Errorf("the name is empty or longer than %d bytes", maxName)
	}
	switch k.Kind {
	case ItemCertificate:
		if strings.ContainsFunc(k.Name, func(r rune) bool { return r <= ' ' || r >= 0x7f || r == '/' }) {
			return errors.New("the name of a certificate is printable ASCII without blanks and slashes")
		}
	case ItemGPGKey:
		if strings.ContainsFunc(k.Name, func(r rune) bool { return !isAlphanumeric(r, true) && r != '-' && r != '_' && r != '.' }) {
			return errors.New("the name of a key is letters, digits, hyphens, underscores and dots")
		}
	default:
		for label := range strings.SplitSeq(k.Name, ".") {
			if !isLabel(label, maxName) {
				return errors.New("the name is none that Kubernetes takes: lower case letters, digits, hyphens and dots")
			}
		}
	}
	return nil
}

// isLabel reports whether a text can be a part of a name of DNS.
func isLabel(s string, limit int) bool {
	return s != "" && len(s) <= limit && s[0] != '-' && s[len(s)-1] != '-' &&
		!strings.ContainsFunc(s, func(r rune) bool { return !isAlphanumeric(r, false) && r != '-' })
}

func isAlphanumeric(r rune, upper bool) bool {
	return r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || upper && r >= 'A' && r <= 'Z'
}
