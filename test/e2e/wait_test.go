package e2e

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/utils/ptr"
)

// waitLimit is how long a story waits for one thing: much longer than it takes, since machines can be loaded.
const waitLimit = 60 * time.Second

// cmdWaitFor watches an object until all tests hold, or until it is gone:
//
//	waitfor [-t TIMEOUT] [-n NS] KIND/NAME TEST... | gone
func cmdWaitFor(ts *testscript.TestScript, neg bool, args []string) {
	limit := waitLimit
	if len(args) > 1 && args[0] == "-t" {
		var err error
		limit, err = time.ParseDuration(args[1])
		ts.Check(err)
		args = args[2:]
	}
	ref, rest := refer(ts, args)
	need(ts, !neg && len(rest) > 0, "waitfor [-t TIMEOUT] [-n NS] KIND/NAME TEST...|gone")
	var tests []test
	for _, text := range rest {
		if text == "gone" {
			need(ts, len(rest) == 1, "waitfor ... gone, with no other test")
			break
		}
		one, err := readTest(text)
		ts.Check(err)
		tests = append(tests, one)
	}
	ts.Check(of(ts).await(ref, limit, strings.Join(rest, " "), func(obj *unstructured.Unstructured) (bool, error) {
		if obj == nil || len(tests) == 0 {
			return obj == nil && len(tests) == 0, nil
		}
		for _, one := range tests {
			have, err := find(obj, one.path)
			if err != nil || !one.match(have) {
				return false, err
			}
		}
		return true, nil
	}))
}

// cmdCondition waits until an Application has a condition whose message matches, or with ! until it has none of the
// type: condition [-n NS] app[/NAME] TYPE REGEXP...; the message must match every REGEXP.
func cmdCondition(ts *testscript.TestScript, neg bool, args []string) {
	ref, rest := refer(ts, args)
	need(ts, len(rest) > 1 && !neg || len(rest) == 1 && neg, "condition app TYPE REGEXP... | ! condition app TYPE")
	path := fmt.Sprintf(`.status.conditions[?(@.type==%q)].message`, rest[0])
	var tests []test
	for _, text := range rest[1:] {
		one, err := readTest(path + "~" + text)
		ts.Check(err)
		tests = append(tests, one)
	}
	if neg {
		one, err := readTest(path + "=")
		ts.Check(err)
		tests = append(tests, one)
	}
	ts.Check(of(ts).await(ref, waitLimit, strings.Join(rest, " "), func(obj *unstructured.Unstructured) (bool, error) {
		if obj == nil {
			return false, nil
		}
		for _, one := range tests {
			have, err := find(obj, one.path)
			if err != nil || !one.match(have) {
				return false, err
			}
		}
		return true, nil
	}))
}

// atRest reports whether nothing that is under way will change an object: a Deployment is at rest when its controller has
// seen the last change, the pods of that change are available, and those before it are gone.
func atRest(obj *unstructured.Unstructured) (bool, error) {
	if obj == nil || obj.GetKind() != "Deployment" {
		return obj != nil, nil
	}
	var deployment appsv1.Deployment
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(obj.Object, &deployment); err != nil {
		return false, err
	}
	want, is := ptr.Deref(deployment.Spec.Replicas, 1), deployment.Status
	return is.ObservedGeneration >= deployment.Generation && is.Replicas == want && is.UpdatedReplicas == want &&
		is.AvailableReplicas == want && ptr.Deref(is.TerminatingReplicas, 0) == 0, nil
}

// cmdSoon sets a variable to a moment that is yet to come, as annotations write it: soon VARIABLE DURATION.
func cmdSoon(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) == 2, "soon VARIABLE DURATION")
	after, err := time.ParseDuration(args[1])
	ts.Check(err)
	ts.Setenv(args[0], time.Now().Add(after).UTC().Format(time.RFC3339))
}

// await watches an object until done says so. done gets nil while the object does not exist.
func (s *story) await(ref reference, limit time.Duration, what string, done func(*unstructured.Unstructured) (bool, error)) error {
	ctx, cancel := context.WithTimeout(s.t.Context(), limit)
	defer cancel()
	var last *unstructured.Unstructured
	for {
		ok, err := s.follow(ctx, ref, func(obj *unstructured.Unstructured) (bool, error) {
			last = obj
			return done(obj)
		})
		switch {
		case ctx.Err() != nil && !ok:
			state := "it does not exist"
			if last != nil {
				state = "it is\n" + asText(last)
			}
			return fmt.Errorf("after %s, %s is not: %s; %s", limit, ref.text, what, state)
		case err != nil || ok:
			return err
		}
	}
}

// follow lists and then watches one object until done says so or the watch ends.
func (s *story) follow(ctx context.Context, ref reference, done func(*unstructured.Unstructured) (bool, error)) (bool, error) {
	options := metav1.ListOptions{FieldSelector: "metadata.name=" + ref.name}
	list, err := ref.in.List(ctx, options)
	if err != nil {
		return false, err
	}
	var now *unstructured.Unstructured
	if len(list.Items) > 0 {
		now = &list.Items[0]
	}
	if ok, err := done(now); ok || err != nil {
		return ok, err
	}
	options.ResourceVersion = list.GetResourceVersion()
	events, err := ref.in.Watch(ctx, options)
	if err != nil {
		return false, err
	}
	defer events.Stop()
	for event := range events.ResultChan() {
		obj, _ := event.Object.(*unstructured.Unstructured)
		switch event.Type {
		case watch.Added, watch.Modified:
		case watch.Deleted:
			obj = nil
		default:
			return false, nil // listed again
		}
		if ok, err := done(obj); ok || err != nil {
			return ok, err
		}
	}
	return false, nil
}
