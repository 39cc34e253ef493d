package apply

import (
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// Explain turns an API server's refusal into a message for people that says what to do. The words of the server are
// kept, except for Secrets: its messages quote values.
func Explain(key object.Key, err error) string {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return fmt.Sprintf("%s: %v", key, err)
	}
	s := status.Status()
	text, next := s.Message, hint(err, s.Message)
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

// unchangeable recognises the words in which API servers say that a field stays what it is.
func unchangeable(text string) bool {
	for _, words := range []string{"immutable", "may not change once set", "may not change fields", "updates to statefulset spec"} {
		if strings.Contains(text, words) {
			return true
		}
	}
	return false
}

func hint(err error, text string) string {
	switch {
	case apierrors.IsForbidden(err) && strings.Contains(text, "exceeded quota"):
		return "raise the ResourceQuota of the namespace, or ask for less"
	case apierrors.IsForbidden(err) && strings.Contains(text, "being terminated"):
		return "the namespace is being deleted: wait until it is gone"
	case apierrors.IsForbidden(err):
		return "grant the agent's service account this permission, or correct what an admission policy objects to"
	case apierrors.IsUnauthorized(err):
		return "the credentials of the destination cluster are not accepted: renew them"
	case apierrors.IsNotFound(err) && strings.Contains(text, "namespaces"):
		return "create the namespace in Git, or set the sync option CreateNamespace=true"
	case apierrors.IsInvalid(err) && unchangeable(text):
		return "the field cannot be changed in place: delete the object so that it is made anew, or give it another name"
	case apierrors.IsInvalid(err), apierrors.IsBadRequest(err):
		return "correct the manifest"
	case apierrors.IsTooManyRequests(err), apierrors.IsServiceUnavailable(err), apierrors.IsServerTimeout(err):
		return "the API server is busy: the sync is tried again"
	}
	return ""
}
