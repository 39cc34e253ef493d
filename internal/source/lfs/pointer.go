// Package lfs fetches files of Git LFS: what a repository has in place of a large file is a pointer to it.
package lfs

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

const (
	maxPointer = 1024 // bytes, as Git LFS has it
	version    = "version https://git-lfs.github.com/spec/v1"
)

// Pointer stands for a file.
type Pointer struct {
	OID  string // SHA-256 of the content, 64 hexadecimal digits
	Size int64  // bytes
}

// ReadPointer reads what a repository stores; is reports whether it is a pointer. One that cannot be followed is an error.
func ReadPointer(text []byte) (p Pointer, is bool, err error) {
	if len(text) > maxPointer || !bytes.HasPrefix(text, []byte(version+"\n")) {
		return p, false, nil
	}
	broken := errors.New("the pointer of Git LFS is malformed: add the file again with git lfs")
	size := ""
	for line := range strings.Lines(string(text[len(version)+1:])) {
		key, value, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch {
		case !ok:
			return p, true, broken
		case key == "oid":
			p.OID = strings.TrimPrefix(value, "sha256:")
			if p.OID == value {
				return p, true, fmt.Errorf("the pointer of Git LFS is not one of SHA-256: add the file again with git lfs")
			}
		case key == "size":
			size = value
		case strings.HasPrefix(key, "ext-"):
			return p, true, errors.New("the file is filtered by an extension of Git LFS, which is not supported: store it without")
		}
	}
	if raw, err := hex.DecodeString(p.OID); err != nil || len(raw) != 32 || strings.ToLower(p.OID) != p.OID {
		return p, true, broken
	}
	if p.Size, err = strconv.ParseInt(size, 10, 64); err != nil || p.Size < 0 {
		return p, true, broken
	}
	return p, true, nil
}
