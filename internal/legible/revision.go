package legible

import "strings"

// Revision cuts a commit id or a digest to its first digits, which people compare by eye: "sha256:" is the same for all digests and is
// left out. Everything else, such as the version of a chart, stays whole.
func Revision(s string, digits int) string {
	id, digest := strings.CutPrefix(s, "sha256:")
	length := 40 // of a commit
	if digest {
		length = 64
	}
	if len(id) != length || strings.Trim(id, "0123456789abcdefABCDEF") != "" {
		return s
	}
	return id[:digits]
}
