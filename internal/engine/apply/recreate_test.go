package apply

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/slipway-gitops/slipway/internal/engine/diff"
	"github.com/slipway-gitops/slipway/internal/engine/live"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

func TestForceMakesAnewWhatCannotBeChanged(t *testing.T) {
	t.Parallel()
	d := newDock(t, nil)
	tests := []struct{ name, text, from, to string }{
		{
			"the selector of a Deployment", "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: s}\nspec: {replicas: 0, selector: {matchLabels: {a: XX}}, " +
				"template: {metadata: {labels: {a: XX}}, spec: {containers: [{name: c, image: c}]}}}\n", "xx", "yy",
		},
		{
			"the template of a Job", "apiVersion: batch/v1\nkind: Job\nmetadata: {name: j}\nspec: {suspend: true, " +
				"template: {spec: {restartPolicy: Never, containers: [{name: c, image: XX}]}}}\n", "xx", "yy",
		},
		{"the address of a Service", "apiVersion: v1\nkind: Service\nmetadata: {name: s}\nspec: {clusterIP: XX, ports: [{port: 80}]}\n", "\"\"", "None"},
		{"the port of a Service that stays with it", "apiVersion: v1\nkind: Service\nmetadata: {name: port}\nspec: {type: NodePort, clusterIP: XX, ports: [{port: 80, nodePort: 31999}]}\n", "\"\"", "10.96.77.77"},
		{"an immutable ConfigMap", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\nimmutable: true\ndata: {a: XX}\n", "xx", "yy"},
		{
			"the role of a RoleBinding", "apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata: {name: r}\n" +
				"roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: XX}\n", "xx", "yy",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			d := d.in(t)
			before, after := d.manifest(strings.ReplaceAll(test.text, "XX", test.from)), d.manifest(strings.ReplaceAll(test.text, "XX", test.to))
			d.write(before, options("Force=true"))
			uid := meta(d.look(before))["uid"]
			d.write(before, options("Force=true"))
			if meta(d.look(before))["uid"] != uid {
				t.Error("an object that can be changed was made anew")
			}
			if out := d.try(after, How{}); out.Err == nil || !strings.Contains(out.Message, "Replace=true,Force=true") {
				t.Fatalf("without Force: %q", out.Message)
			}
			dry := options("Force=true")
			dry.DryRun = true
			if out := d.write(after, dry); out.Message != "deleted and created (dry run)" || meta(d.look(before))["uid"] != uid {
				t.Fatalf("a dry run: %q", out.Message)
			}
			if out := d.write(after, options("Force=true")); !strings.HasSuffix(out.Message, " deleted and created") {
				t.Errorf("message %q", out.Message)
			}
			if meta(d.look(after))["uid"] == uid {
				t.Error("it is the same object")
			}
			d.mustOwn(after)
		})
	}
}

func TestForceWithReplaceMakesAnewInAnyCase(t *testing.T) {
	t.Parallel()
	d := newDock(t, nil)
	m := d.manifest("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {k: v}\n")
	how := options("Replace=true,Force=true")
	if out := d.write(m, how); out.Message != "ConfigMap/a created" {
		t.Errorf("message %q", out.Message)
	}
	uid := meta(d.look(m))["uid"]
	if out := d.write(m, how); out.Message != "ConfigMap/a deleted and created" || meta(d.look(m))["uid"] == uid {
		t.Errorf("message %q", out.Message)
	}
	d.mustOwn(m)
}

func TestNothingIsDeletedForAManifestThatIsWrong(t *testing.T) {
	t.Parallel()
	d := newDock(t, nil)
	const text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\nimmutable: true\ndata: {KEY: v}\n"
	good, bad := d.manifest(strings.ReplaceAll(text, "KEY", "a")), d.manifest(strings.ReplaceAll(text, "KEY", "no/key"))
	d.write(good, How{})
	uid := meta(d.look(good))["uid"]
	for _, list := range []string{"Force=true", "Replace=true,Force=true"} {
		if out := d.try(bad, options(list)); out.Err == nil {
			t.Errorf("%s: %q", list, out.Message)
		}
	}
	if meta(d.look(good))["uid"] != uid {
		t.Error("it was deleted")
	}
}

func TestForceDeletesNothingThatHoldsOthers(t *testing.T) {
	t.Parallel()
	d := newDock(t, nil)
	const text = "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: c}\n" +
		"spec: {storageClassName: XX, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}\n"
	before, after := d.manifest(strings.ReplaceAll(text, "XX", "one")), d.manifest(strings.ReplaceAll(text, "XX", "two"))
	d.write(before, How{})
	uid := meta(d.look(before))["uid"]
	if out := d.try(after, options("Force=true")); out.Err == nil || !strings.Contains(out.Message, "the data on the volume would be lost") {
		t.Errorf("message %q", out.Message)
	}
	if out := d.try(after, options("Force=true,Replace=true")); out.Err == nil || !strings.Contains(out.Message, "by hand") {
		t.Errorf("message %q", out.Message)
	}
	if meta(d.look(before))["uid"] != uid {
		t.Error("the claim was deleted")
	}
	// A Namespace is written in place.
	ns := d.manifest("apiVersion: v1\nkind: Namespace\nmetadata: {name: " + d.ns + ", namespace: \"\", labels: {a: b}}\n")
	ns.Key.Namespace = ""
	uid = meta(d.look(ns))["uid"]
	if out := d.write(ns, options("Force=true,Replace=true")); !strings.HasSuffix(out.Message, " replaced") {
		t.Errorf("message %q", out.Message)
	}
	if obj := d.look(ns); meta(obj)["uid"] != uid || meta(obj)["deletionTimestamp"] != nil || keys(meta(obj), "labels") == "" {
		t.Errorf("the namespace is %v", meta(obj))
	}
}

func TestTheWaitForAnObjectToGoEnds(t *testing.T) {
	t.Parallel()
	d := newDock(t, nil)
	m := d.manifest("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, finalizers: [example.com/hold]}\n")
	d.write(m, How{})
	if out := d.target.DeleteHook(t.Context(), leaveFor([]diff.Change{{Key: m.Key}}), m.Key, "", ""); out.Err != nil {
		t.Fatal(out.Message)
	}
	err := d.target.AwaitGone(t.Context(), m.Key, 50*time.Millisecond)
	if err == nil || !strings.Contains(err.Error(), "example.com/hold") {
		t.Errorf("%v; want who holds it", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := d.target.AwaitGone(ctx, m.Key, time.Minute); !errors.Is(err, context.Canceled) {
		t.Errorf("%v; want the end of the context", err)
	}
	done := make(chan error, 1)
	go func() { done <- d.target.AwaitGone(t.Context(), m.Key, time.Minute) }()
	d.release(m)
	if err := <-done; err != nil {
		t.Error(err)
	}
	if err := d.target.AwaitGone(t.Context(), m.Key, time.Minute); err != nil {
		t.Errorf("it is gone: %v", err)
	}
}

func TestHooksAreReleasedAndDeleted(t *testing.T) {
	t.Parallel()
	d := newDock(t, nil)
	m := d.manifest("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, finalizers: [example.com/hold, argocd.argoproj.io/hook-finalizer]}\n")
	d.write(m, How{})
	for range 2 { // there is nothing to do the second time
		if out := d.target.ReleaseHook(t.Context(), m.Key); out.Err != nil {
			t.Fatal(out.Message)
		}
		if held, _ := meta(d.look(m))["finalizers"].([]any); len(held) != 1 || held[0] != "example.com/hold" {
			t.Errorf("finalizers %v", held)
		}
	}
	d.release(m)
	if out := d.target.DeleteHook(t.Context(), leaveFor([]diff.Change{{Key: m.Key}}), m.Key, "00000000-0000-0000-0000-000000000000", ""); out.Err != nil {
		t.Errorf("another one of that name: %v", out.Err)
	}
	uid, _ := meta(d.look(m))["uid"].(string)
	if out := d.target.DeleteHook(t.Context(), leaveFor([]diff.Change{{Key: m.Key}}), m.Key, uid, metav1.DeletePropagationBackground); out.Err != nil {
		t.Fatal(out.Message)
	}
	if _, err := d.get(m); !apierrors.IsNotFound(err) {
		t.Errorf("after the deletion: %v", err)
	}
	for _, out := range []Outcome{d.target.ReleaseHook(t.Context(), m.Key), d.target.DeleteHook(t.Context(), leaveFor([]diff.Change{{Key: m.Key}}), m.Key, uid, "")} {
		if out.Err != nil {
			t.Errorf("an object that is gone: %v", out.Err)
		}
	}
	ghost := object.Key{Group: "nowhere.example", Kind: "Ghost", Name: "g"}
	var unknown *live.UnknownKindError
	if out := d.target.ReleaseHook(t.Context(), ghost); !errors.As(out.Err, &unknown) || out.Message == "" {
		t.Errorf("a kind that is not known: %v", out.Err)
	}
}
