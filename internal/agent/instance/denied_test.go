package instance

import (
	"net/http"
	"strings"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/slipway-gitops/slipway/internal/testenv"
)

func TestARightThatIsGrantedLateIsUsed(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	shop := testenv.Name("shop")
	d := newDesk(t, time.Millisecond)
	w := newWorld(t, d.Moved)
	user := "late-" + w.namespace
	late := rest.CopyConfig(w.config)
	late.Impersonate = rest.ImpersonationConfig{UserName: user}
	refused := make(chan struct{}, 1000)
	late.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return tripper(func(r *http.Request) (*http.Response, error) {
			resp, err := next.RoundTrip(r)
			if err == nil && resp.StatusCode == http.StatusForbidden && strings.HasSuffix(r.URL.Path, w.namespace+"/pods") {
				refused <- struct{}{}
			}
			return resp, err
		})
	})
	d.Open("one", late, w.live)
	c := d.clusters["one"]
	c.mu.Lock()
	c.pause = 20 * time.Millisecond
	c.mu.Unlock()
	w.deployment("web", shop, 2)
	d.Use(app(shop), "one", []string{w.namespace})
	for range 2 {
		select {
		case <-refused:
		case <-time.After(patience):
			t.Fatal("a watch that was refused does not begin again")
		}
	}
	_, err := w.client.RbacV1().Roles(w.namespace).Create(ctx, &rbacv1.Role{
		ObjectMeta: metav1.ObjectMeta{Name: "late"}, Rules: []rbacv1.PolicyRule{{APIGroups: []string{"*"}, Resources: []string{"*"}, Verbs: []string{"list", "watch"}}},
	}, metav1.CreateOptions{})
	w.must(err)
	_, err = w.client.RbacV1().RoleBindings(w.namespace).Create(ctx, &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "late"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "late"},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
	}, metav1.CreateOptions{})
	w.must(err)
	d.until("two pods", shop, count(2, 2))
}

// tripper is an http.RoundTripper that is a function.
type tripper func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (f tripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
