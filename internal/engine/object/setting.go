package object

import (
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
)

// Keys of the ConfigMap argocd-cm that say how objects are marked.
const (
	KeyTrackingMethod = "application.resourceTrackingMethod"
	KeyTrackingLabel  = "application.instanceLabelKey"
	KeyInstallation   = "installationID"
)

// maxInstallation bounds the name of an installation, in bytes.
const maxInstallation = 253

// ParseTracking reads from the data of argocd-cm how objects are marked. It reads what can be read; the error names the
// rest, and what counts in its place.
func ParseTracking(config map[string]string) (Tracking, error) {
	var out Tracking
	var errs []error
	switch method := v1alpha1.TrackingMethod(strings.TrimSpace(config[KeyTrackingMethod])); method {
	case "", v1alpha1.TrackingAnnotation: // the standard
	case v1alpha1.TrackingLabel, v1alpha1.TrackingAnnotationAndLabel:
		out.Method = method
	default:
		errs = append(errs, fmt.Errorf("%s: %.80q is not known: write annotation, annotation+label or label; annotation counts",
			KeyTrackingMethod, method))
	}
	if label := strings.TrimSpace(config[KeyTrackingLabel]); label != "" && out.Method != "" {
		if wrong := validation.IsQualifiedName(label); len(wrong) > 0 {
			errs = append(errs, fmt.Errorf("%s: %.80q is no name of a label: %s; %s counts", KeyTrackingLabel, label, wrong[0],
				v1alpha1.LabelInstance))
		} else {
			out.Label = label
		}
	}
	out.Installation = strings.TrimSpace(config[KeyInstallation])
	if len(out.Installation) > maxInstallation {
		errs = append(errs, fmt.Errorf("%s is longer than %d bytes: shorten it; none counts", KeyInstallation, maxInstallation))
		out.Installation = ""
	}
	return out, errors.Join(errs...)
}
