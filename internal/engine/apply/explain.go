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
	text := s.Message
	if key.Group == "" && key.Kind == "Secret" {
		text = string(s.Reason)
		if s.Details != nil {
			for _, cause := range s.Details.Causes {
				text += "; " + cause.Field
			}
		}
		text += " (the API server's words are left out: they can quote the Secret)"
	}
	if hint := hint(err, text); hint != "" {
		return fmt.Sprintf("%s: %s: %s", key, text, hint)
	}
	return fmt.Sprintf("%s: %s", key, text)
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
	case apierrors.IsInvalid(err) && strings.Contains(text, "immutable"):
		return "the field cannot be changed in place: delete the object so that it is made anew, or give it another name"
	case apierrors.IsInvalid(err), apierrors.IsBadRequest(err):
		return "correct the manifest"
	case apierrors.IsTooManyRequests(err), apierrors.IsServiceUnavailable(err), apierrors.IsServerTimeout(err):
		return "the API server is busy: the sync is tried again"
	}
	return ""
}
