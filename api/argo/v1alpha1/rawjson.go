package v1alpha1

import (
	"bytes"
	"fmt"
)

// RawJSON is any JSON value, kept byte for byte. It stands where the contract allows free-form data (Helm values, list
// elements, plugin input) or refers back to itself (nested generators). The bytes are not parsed here and come from
// users: the code that parses them limits depth and size.
//
// +kubebuilder:validation:Schemaless
// +kubebuilder:validation:Type=""
// +kubebuilder:pruning:PreserveUnknownFields
type RawJSON struct {
	// Raw is the value as it was written, without surrounding space. Empty stands for null.
	Raw []byte `json:"-"`
}

// MarshalJSON returns the kept bytes, or null where there are none.
func (r RawJSON) MarshalJSON() ([]byte, error) {
	if len(r.Raw) == 0 {
		return []byte("null"), nil
	}
	return r.Raw, nil
}

// UnmarshalJSON keeps a copy of data. A null leaves the value empty. It fails only when called on a nil pointer.
func (r *RawJSON) UnmarshalJSON(data []byte) error {
	if r == nil {
		return fmt.Errorf("read raw JSON: the target is nil, pass a pointer to a value")
	}
	if bytes.Equal(data, []byte("null")) {
		r.Raw = nil
		return nil
	}
	r.Raw = bytes.Clone(data)
	return nil
}
