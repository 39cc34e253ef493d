package apply

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// Explain turns an API server's refusal into a message for people that says what to do. The words of the server are
// kept, except for Secrets: its messages quote values.
func Explain(key object.Key, err error) string { return explain(key, err, "") }

// explain is Explain for a caller that knows what to do next; "" leaves that to the error.
func explain(key object.Key, err error, next string) string {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return fmt.Sprintf("%s: %v", key, err)
	}
	s := status.Status()
	text := words(&s)
	if next == "" {
		next = hint(key, err, s.Message)
	}
	if key.Group == "" && key.Kind == "Secret" {
		text = fmt.Sprintf("refused with status %d %s", s.Code, s.Reason)
		if next == "" {
			next = "check that every value under data is base64, or put it under stringData"
		}
		if s.Details != nil {
			for _, cause := range s.Details.Causes {
				text += "; " + cause.Field
			}
		}
		text += " (the API server's words are left out: they can quote the Secret)"
	}
	if next != "" {
		return fmt.Sprintf("%s: %s: %s", key, text, next)
	}
	return fmt.Sprintf("%s: %s", key, text)
}

// Bounds of what is repeated of an API server's words, in bytes: of one field's, and of all.
const (
	maxCause = 200
	maxText  = 1500
)

// words are those of an API server, without the middle of long ones: it repeats values that can be as long as an object
// and says behind them what is wrong.
func words(s *metav1.Status) string {
	text := s.Message
	if s.Details != nil {
		for _, cause := range s.Details.Causes {
			if len(cause.Message) > maxCause {
				text = strings.Replace(text, cause.Message, object.Middle(cause.Message, maxCause), 1)
			}
		}
	}
	return object.Middle(text, maxText)
}

// unchangeable recognises the words in which API servers say that a field stays what it is.
func unchangeable(text string) bool {
	for _, words := range []string{
		"immutable", "may not change once set", "may not change fields", "updates to statefulset spec", "cannot change roleRef",
		"updates to parameters are forbidden", "updates to provisioner are forbidden",
	} {
		if strings.Contains(text, words) {
			return true
		}
	}
	return false
}

// refusedToChange reports whether the API server refuses a change that it would take in a new object.
func refusedToChange(err error) bool {
	return apierrors.IsInvalid(err) && unchangeable(err.Error())
}

// crowded reports whether an object is refused only for what a list holds beside the entries of its manifest: an apply
// keeps what another manager has put there.
func (w *writing) crowded(ctx context.Context, err error) bool {
	var status apierrors.APIStatus
	if !apierrors.IsInvalid(err) || !errors.As(err, &status) || status.Status().Details == nil {
		return false
	}
	return slices.ContainsFunc(status.Status().Details.Causes, func(c metav1.StatusCause) bool {
		return (c.Type == metav1.CauseTypeFieldValueRequired || c.Type == metav1.CauseTypeFieldValueDuplicate) && strings.Contains(c.Field, "[")
	}) && w.creatable(ctx) == nil
}

// namespaceMissing reports whether the API server refuses an object because its namespace does not exist.
func namespaceMissing(err error) bool {
	var status apierrors.APIStatus
	if !apierrors.IsNotFound(err) || !errors.As(err, &status) {
		return false
	}
	d := status.Status().Details
	return d != nil && d.Kind == "namespaces"
}

// namespaceAdvice says what to do where the namespace of an object is missing. The option CreateNamespace makes the destination
// namespace and no other.
func (w *writing) namespaceAdvice(err error) string {
	namespace := w.change.Key.Namespace
	switch {
	case !namespaceMissing(err) || w.how.Destination == "":
		return ""
	case namespace == w.how.Destination && !w.how.App.Namespace.Is():
		return "create the namespace in Git, or set the sync option CreateNamespace=true"
	case namespace == w.how.Destination:
		return "it was deleted, or is not made yet: sync again, which makes it"
	}
	return fmt.Sprintf("create the namespace in Git, in an earlier wave; the sync option CreateNamespace makes no other than %s",
		w.how.Destination)
}

func hint(key object.Key, err error, text string) string {
	switch {
	case apierrors.IsForbidden(err) && strings.Contains(text, "exceeded quota"):
		return "raise the ResourceQuota of the namespace, or ask for less"
	case apierrors.IsForbidden(err) && strings.Contains(text, "being terminated"):
		return "the namespace is being deleted: wait until it is gone"
	case apierrors.IsForbidden(err):
		return "grant the agent's service account this permission, or correct what an admission policy objects to"
	case apierrors.IsUnauthorized(err):
		return "the credentials of the destination cluster are not accepted: renew them"
	case namespaceMissing(err):
		return "create the namespace, or add it to Git"
	case refusedToChange(err) && !replaceable(key):
		return "the field cannot be changed in place: give the object another name, or move what is in it and delete it by hand"
	case refusedToChange(err):
		return "the field cannot be changed in place: set the sync option Replace=true,Force=true on the object, or sync once with --force, " +
			"which deletes and creates it again, or give it another name"
	case misfit(err) && strings.Contains(text, undeclared):
		return "correct the manifest, or set the sync option Validate=false on the object to leave out what its kind does not have"
	case misfit(err) && strings.Contains(text, "duplicate entries for key"):
		return "name each entry once, or set the sync option Replace=true on the object"
	case apierrors.IsInvalid(err) && strings.Contains(text, "may not be specified when"):
		return "correct the manifest; a field that it does not set has its old default, " +
			"which the sync option Replace=true on the object takes away"
	case apierrors.IsInvalid(err), apierrors.IsBadRequest(err), misfit(err):
		return "correct the manifest"
	case apierrors.IsTooManyRequests(err), apierrors.IsServiceUnavailable(err), apierrors.IsServerTimeout(err):
		return "the API server is busy: the sync is tried again"
	}
	return ""
}
