package document

import "bytes"

// WithinAliases reports whether YAML is no larger than limit once its aliases stand for what they name: a few kilobytes can be many
// gigabytes then. What other readers than those of this package take must be asked about first, since these write the aliases out.
func WithinAliases(raw []byte, limit int64) bool {
	if bytes.IndexByte(raw, '&') < 0 || bytes.IndexByte(raw, '*') < 0 {
		return true
	}
	_, err := ExactJSON(raw, 1, limit)
	return err == nil
}
