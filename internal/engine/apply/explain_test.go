package apply

import (
	"net/http"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/slipway-gitops/slipway/internal/engine/diff"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

func refusal(code int32, reason metav1.StatusReason, message string) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: code, Reason: reason, Message: message}}
}

// Each advice is given where it can help, and nowhere else.
func TestAdviceFitsTheRefusal(t *testing.T) {
	t.Parallel()
	noNamespace := apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, "shop")
	const (
		option = "or set the sync option CreateNamespace=true"
		git    = "create the namespace in Git"
		again  = "sync again"
		grant  = "grant the agent's service account"
		quota  = "raise the ResourceQuota"
		busy   = "the API server is busy"
		renew  = "renew them"
		fix    = "correct the manifest"
	)
	all := []string{option, git, again, grant, quota, busy, renew, fix}
	for _, tc := range []struct {
		name        string
		err         error
		options     []string // of the application
		destination string
		want        []string
	}{
		{"the destination namespace is missing", noNamespace, nil, "shop", []string{git, option}},
		{"it is missing although it is to be made", noNamespace, []string{"CreateNamespace=true"}, "shop", []string{again}},
		{"another namespace is missing", noNamespace, nil, "web", []string{git}},
		{"another namespace is missing, and the option is set", noNamespace, []string{"CreateNamespace=true"}, "web", []string{git}},
		{"the destination is not known", noNamespace, nil, "", nil},
		{"an object of another kind is missing", apierrors.NewNotFound(schema.GroupResource{Resource: "configmaps"}, "namespaces"), nil, "shop", nil},
		{"a right is missing", refusal(http.StatusForbidden, metav1.StatusReasonForbidden, "may not create namespaces"), nil, "shop", []string{grant}},
		{"a quota is used up", refusal(http.StatusForbidden, metav1.StatusReasonForbidden, "exceeded quota: cpu"), nil, "shop", []string{quota}},
		{"busy", apierrors.NewTooManyRequests("wait", 1), nil, "shop", []string{busy}},
		{"credentials are old", apierrors.NewUnauthorized("no"), nil, "shop", []string{renew}},
		{"a wrong field", apierrors.NewBadRequest("spec.x: wrong"), nil, "shop", []string{fix}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			key := object.Key{Kind: "ConfigMap", Namespace: "shop", Name: "a"}
			w := &writing{target: Target{Client: &Client{}}, change: diff.Change{Key: key}, how: How{App: object.AppOptions(tc.options), Destination: tc.destination}}
			got := w.failed(tc.err).Message
			for _, advice := range all {
				want := false
				for _, one := range tc.want {
					want = want || one == advice
				}
				if strings.Contains(got, advice) != want {
					t.Errorf("the message is %q, want %q in it: %t", got, advice, want)
				}
			}
		})
	}
}
