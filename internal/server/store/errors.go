package store

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

// refusal is an error for the store's callers and for people.
type refusal struct {
	kind error
	said api.Error
}

func (r *refusal) Error() string   { return r.said.Message }
func (r *refusal) Unwrap() []error { return []error{r.kind, &r.said} }

func notFound(noun, id string) error {
	return &refusal{ErrNotFound, api.Error{Code: api.CodeNotFound, Message: fmt.Sprintf("%s %q does not exist", noun, id)}}
}

func exists(noun, id string) error {
	return &refusal{ErrExists, api.Error{
		Code: api.CodeConflict, Message: fmt.Sprintf("%s %q exists already: choose another name, or change that one", noun, id),
	}}
}

func stale(noun, id string, asked, present int64) error {
	return &refusal{ErrStale, api.Error{
		Code:    api.CodeConflict,
		Message: fmt.Sprintf("%s %q has changed since version %d, it is at %d: read it again and repeat the change", noun, id, asked, present),
	}}
}

func invalid(field, format string, args ...any) error {
	return &refusal{ErrInvalid, api.Error{Code: api.CodeInvalid, Message: fmt.Sprintf(format, args...), Field: field}}
}

func referenced(noun, id string, by []api.Ref) error {
	var names []string
	for i, ref := range by {
		if i == maxReferences {
			names = append(names, fmt.Sprintf("%d more", len(by)-i))
			break
		}
		names = append(names, ref.Type+" "+ref.ID)
	}
	return &refusal{ErrReferenced, api.Error{
		Code:       api.CodeConflict,
		Message:    fmt.Sprintf("%s %q is still in use by %s: delete those first, or force it", noun, id, strings.Join(names, ", ")),
		References: by[:min(len(by), maxReferences)],
	}}
}

func isNotFound(err error) bool { return errors.Is(err, ErrNotFound) }

func isExists(err error) bool { return errors.Is(err, ErrExists) }
