package db

import (
	"errors"
	"fmt"
	"strings"

	"github.com/slipway-gitops/slipway/api"
)

// What can be wrong with a request. Each error that is one of these is an
// [api.Error] too, with a message for people.
var (
	// ErrNotFound says that there is no such thing.
	ErrNotFound = errors.New("not found")
	// ErrExists says that there is one already.
	ErrExists = errors.New("exists already")
	// ErrStale says that it was changed since it was read.
	ErrStale = errors.New("changed since it was read")
	// ErrReferenced says that something else refers to it.
	ErrReferenced = errors.New("still in use")
	// ErrInvalid says that it cannot be kept as it is.
	ErrInvalid = errors.New("not valid")
	// ErrAway says that the database cannot be reached, or takes nothing just now.
	ErrAway = errors.New("the database is away")
)

// maxReferences is how many of those that refer to a thing an error names.
const maxReferences = 10

// Refusal is an error for the store's callers and for people.
type Refusal struct {
	Kind error
	Said api.Error
}

func (r *Refusal) Error() string   { return r.Said.Message }
func (r *Refusal) Unwrap() []error { return []error{r.Kind, &r.Said} }

// NotFound is an error of something that does not exist.
func NotFound(noun, id string) error {
	return &Refusal{ErrNotFound, api.Error{Code: api.CodeNotFound, Message: fmt.Sprintf("%s %q does not exist", noun, id)}}
}

// Exists is an error of something that there is already.
func Exists(noun, id string) error {
	return &Refusal{ErrExists, api.Error{
		Code: api.CodeConflict, Message: fmt.Sprintf("%s %q exists already: choose another name, or change that one", noun, id),
	}}
}

// Stale is an error of a change of an old version.
func Stale(noun, id string, asked, present int64) error {
	return &Refusal{ErrStale, api.Error{
		Code:    api.CodeConflict,
		Message: fmt.Sprintf("%s %q has changed since version %d, it is at %d: read it again and repeat the change", noun, id, asked, present),
	}}
}

// Invalid is an error of a field, by its name in the API.
func Invalid(field, format string, args ...any) error {
	return &Refusal{ErrInvalid, api.Error{Code: api.CodeInvalid, Message: fmt.Sprintf(format, args...), Field: field}}
}

// Referenced is an error of a deletion, and names what refers to the thing.
func Referenced(noun, id string, by []api.Ref) error {
	var names []string
	for i, ref := range by {
		if i == maxReferences {
			names = append(names, fmt.Sprintf("%d more", len(by)-i))
			break
		}
		names = append(names, ref.Type+" "+ref.ID)
	}
	return &Refusal{ErrReferenced, api.Error{
		Code:       api.CodeConflict,
		Message:    fmt.Sprintf("%s %q is still in use by %s: delete those first, or force it", noun, id, strings.Join(names, ", ")),
		References: by[:min(len(by), maxReferences)],
	}}
}

// IsNotFound reports whether there is no such thing.
func IsNotFound(err error) bool { return errors.Is(err, ErrNotFound) }

// IsExists reports whether there is one already.
func IsExists(err error) bool { return errors.Is(err, ErrExists) }

// Missing makes an ErrNotFound of any query that of a thing.
func Missing(err error, noun, id string) error {
	if IsNotFound(err) {
		return NotFound(noun, id)
	}
	return err
}
