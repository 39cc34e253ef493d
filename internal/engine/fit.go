package engine

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/diff"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/engine/plan"
)

// What a status may hold. An API server stores no more than 1.5 MiB of an object, and whatever it does with one takes
// time that grows with it, so an Application stays below 1 MB as long as that loses nothing.
const (
	// statusRoom is how many bytes the objects and the outcomes of a status take together where they can do with that.
	statusRoom = 900_000
	// resourcesRoom is how many bytes its objects take at most: more are not listed.
	resourcesRoom = 1_200_000
	// leastRoom is how many bytes outcomes may take however many objects there are, runningRoom how many they take while
	// the operation is under way.
	leastRoom   = 60_000
	runningRoom = 60_000
	// maxResults is how many outcomes a status lists.
	maxResults = 1000
	// maxResultMessage is how long the message of an outcome may be where not all have room, in bytes.
	maxResultMessage = 300
)

// room returns how many bytes outcomes may take beside the objects of a status, and no more than most.
func room(resources []v1alpha1.ResourceStatus, most int) int {
	return min(most, max(leastRoom, statusRoom-resourcesSize(resources)))
}

// results are the outcomes as a status lists them, object by object, those of earlier parts of the operation included:
// what went well comes last. What stayed as it was is left out. Where not all have room, what went well goes first, and
// hooks never: the next agent goes by them.
func results(op *plan.Operation, u *underway, room int) []v1alpha1.ResourceResult {
	var notable, plain []v1alpha1.ResourceResult
	size := 0
	op.Each(func(t plan.Task, s plan.State) {
		failed := s.Phase.Completed() && s.Phase != v1alpha1.OperationSucceeded
		_, written := u.written[t.ID()]
		if s == (plan.State{}) && t.Hook && u.intended[t.ID()] {
			s = plan.State{Phase: v1alpha1.OperationRunning, Message: messageIntended}
		}
		if s == (plan.State{}) || t.Verb == diff.Keep && !written && !failed {
			return
		}
		out := v1alpha1.ResourceResult{
			Group: t.Key.Group, Version: t.Version, Kind: t.Key.Kind, Namespace: t.Key.Namespace, Name: t.Key.Name,
			Status: s.Code, Message: s.Message, HookPhase: s.Phase, SyncPhase: t.Phase,
		}
		if t.Hook {
			out.HookType = v1alpha1.HookType(t.Phase)
		}
		if t.Hook || s.Code != v1alpha1.ResultSynced || failed {
			notable = append(notable, out)
		} else {
			plain = append(plain, out)
		}
		size += resultSize(&out)
	})
	if len(notable)+len(plain) > maxResults || size > room {
		slices.SortStableFunc(notable, func(a, b v1alpha1.ResourceResult) int { return cmp.Compare(weight(a), weight(b)) })
		for i := range plain {
			plain[i].Message = ""
		}
	}
	all := slices.Concat(notable, plain)
	size = 0
	told := 0
	for i := range all {
		all[i].Message = terse(all[i].Message, &told)
		size += resultSize(&all[i])
	}
	if len(all) > maxResults || size > room {
		all = shorten(all, room)
	}
	return all
}

// shorten cuts messages, and drops outcomes from the end, but no hooks.
func shorten(all []v1alpha1.ResourceResult, room int) []v1alpha1.ResourceResult {
	count := maxResults
	for i := range all {
		all[i].Message = object.Middle(all[i].Message, maxResultMessage)
		if all[i].HookType != "" {
			count--
			room -= resultSize(&all[i])
		}
	}
	return slices.DeleteFunc(all, func(r v1alpha1.ResourceResult) bool {
		if r.HookType != "" {
			return false
		}
		count--
		room -= resultSize(&r)
		return count < 0 || room < 0
	})
}

// weight orders outcomes by how much would be lost without them: what failed, hooks, and all others.
func weight(r v1alpha1.ResourceResult) int {
	switch {
	case r.HookPhase == v1alpha1.OperationFailed || r.HookPhase == v1alpha1.OperationError:
		return 0
	case r.HookType != "":
		return 1
	}
	return 2
}

// resultSize is about how many bytes an outcome takes in a status.
func resultSize(r *v1alpha1.ResourceResult) int {
	const names = len(`{"group":"","version":"","kind":"","namespace":"","name":"","status":"","message":"","hookPhase":"","syncPhase":""},`)
	return names + len(r.Group) + len(r.Version) + len(r.Kind) + len(r.Namespace) + len(r.Name) + len(r.Status) +
		len(r.Message) + len(r.HookPhase) + len(r.SyncPhase) + 2*len(r.HookType)
}

// resourceSize is about how many bytes an object takes in a status.
func resourceSize(r *v1alpha1.ResourceStatus) int {
	size := len(`{"version":"","kind":"","namespace":"","name":"","status":"","syncWave":00},`) +
		len(r.Version) + len(r.Kind) + len(r.Namespace) + len(r.Name) + len(r.Status)
	if r.Group != "" {
		size += len(`"group":"",`) + len(r.Group)
	}
	if r.Health != nil {
		size += len(`"health":{"status":""},`) + len(r.Health.Status)
		if r.Health.Message != "" {
			size += len(`"message":"",`) + len(r.Health.Message)
		}
	}
	if r.RequiresPruning {
		size += len(`"requiresPruning":true,`)
	}
	if r.Hook {
		size += len(`"hook":true,`)
	}
	if r.RequiresDeletionConfirmation {
		size += len(`"requiresDeletionConfirmation":true,`)
	}
	return size
}

func resourcesSize(list []v1alpha1.ResourceStatus) int {
	size := 0
	for i := range list {
		size += resourceSize(&list[i])
	}
	return size
}

// maxShown is how many bytes the images of a summary take at most, and how many its addresses.
const maxShown = 64 << 10

func gather(into map[string]bool, texts []string) {
	for _, text := range texts {
		into[text] = true
	}
}

// fitting sorts texts for a summary, as many as fit.
func fitting(texts map[string]bool) []string {
	out := slices.Sorted(maps.Keys(texts))
	size := 0
	for i, text := range out {
		if size += len(text); size > maxShown {
			return out[:i]
		}
	}
	return out
}

// fit makes the objects of a result fit into a status: beyond statusRoom without the messages of their health, and
// beyond resourcesRoom without some of those that are as they should be, which a condition says.
func fit(res *Result) {
	size := resourcesSize(res.Resources)
	if size <= statusRoom {
		return
	}
	for i := range res.Resources {
		if r := &res.Resources[i]; r.Health != nil && r.Health.Message != "" {
			size -= resourceSize(r)
			r.Health = &v1alpha1.HealthStatus{Status: r.Health.Status}
			size += resourceSize(r)
		}
	}
	if size <= resourcesRoom {
		return
	}
	all := len(res.Resources)
	listed := make([]bool, all)
	kinds := map[[2]string]bool{}
	size = 0
	take := func(f func(r *v1alpha1.ResourceStatus) bool) {
		for i := range res.Resources {
			if r := &res.Resources[i]; !listed[i] && f(r) && size+resourceSize(r) <= resourcesRoom {
				listed[i] = true
				size += resourceSize(r)
			}
		}
	}
	take(func(r *v1alpha1.ResourceStatus) bool { // a kind that is not listed is not watched after the next start
		first := !kinds[[2]string{r.Group, r.Kind}]
		kinds[[2]string{r.Group, r.Kind}] = true
		return first
	})
	take(func(r *v1alpha1.ResourceStatus) bool {
		return r.Status == v1alpha1.SyncStatusOutOfSync || r.Health != nil && r.Health.Status != v1alpha1.HealthHealthy
	})
	take(func(*v1alpha1.ResourceStatus) bool { return true })
	some := make([]v1alpha1.ResourceStatus, 0, all)
	for i, is := range listed {
		if is {
			some = append(some, res.Resources[i])
		}
	}
	res.Resources = some
	res.Conditions = append(res.Conditions, v1alpha1.ApplicationCondition{
		Type: v1alpha1.ConditionUnsupported, Message: fmt.Sprintf("status.resources lists %d of %d objects, since an API server stores no more: "+
			"split the application to see all of them; every object is compared and synced nevertheless", len(some), all),
	})
}
