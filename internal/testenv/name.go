package testenv

import (
	"crypto/rand"
	"strings"
)

// Name makes a name that no other test has, in this process or another: for objects that are distinguished by name over all
// namespaces of the shared cluster. That is what objects are marked with as those of an Application, and what has no
// namespace.
func Name(prefix string) string { return prefix + "-" + strings.ToLower(rand.Text()[:10]) }
