// Package fit makes what a turn found fit into the status of an Application: an API server stores no more than 1.5 MiB of an
// object, and whatever it does with one takes time that grows with it. Pure.
package fit

import (
	"cmp"
	"maps"
	"slices"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// An Application stays below 1 MB as long as that loses nothing.
const (
	// Most is how many bytes the objects and the outcomes of a status take together where they can do with that.
	Most = 900_000
	// resourcesRoom is how many bytes its objects take at most: more are not listed.
	resourcesRoom = 1_200_000
	// leastRoom is how many bytes outcomes may take however many objects there are.
	leastRoom = 60_000
	// MostRunning is how many bytes outcomes take while the operation is under way.
	MostRunning = 60_000
	// MaxResults is how many outcomes a status lists.
	MaxResults = 1000
	// maxResultMessage is how long the message of an outcome may be where not all have room, in bytes.
	maxResultMessage = 300
)

// Room returns how many bytes outcomes may take beside the objects of a status, and no more than most.
func Room(resources []v1alpha1.ResourceStatus, most int) int {
	return min(most, max(leastRoom, Most-resourcesSize(resources)))
}

// Results returns outcomes as a status lists them in at most room bytes. Where not all have room, what went well (plain) goes
// first, and hooks never: the next agent goes by them.
func Results(notable, plain []v1alpha1.ResourceResult, room int) []v1alpha1.ResourceResult {
	size := resultsSize(notable) + resultsSize(plain)
	if len(notable)+len(plain) > MaxResults || size > room {
		slices.SortStableFunc(notable, func(a, b v1alpha1.ResourceResult) int { return cmp.Compare(weight(a), weight(b)) })
		for i := range plain {
			plain[i].Message = ""
		}
	}
	all := slices.Concat(notable, plain)
	words := 0
	for i := range all {
		all[i].Message = terse(all[i].Message, &words)
	}
	if len(all) > MaxResults || resultsSize(all) > room {
		all = shorten(all, room)
	}
	return all
}

func resultsSize(list []v1alpha1.ResourceResult) int {
	size := 0
	for i := range list {
		size += resultSize(&list[i])
	}
	return size
}

// shorten cuts messages, and drops outcomes from the end, but no hooks.
func shorten(all []v1alpha1.ResourceResult, room int) []v1alpha1.ResourceResult {
	count := MaxResults
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

// Texts sorts texts for a summary, as many as fit.
func Texts(texts map[string]bool) []string {
	out := slices.Sorted(maps.Keys(texts))
	size := 0
	for i, text := range out {
		if size += len(text); size > maxShown {
			return out[:i]
		}
	}
	return out
}

// Bounds of what a status says in the words of others: of one message, and of all messages of one list.
const (
	MaxMessage  = 4 << 10
	MaxMessages = 256 << 10
)

// Message bounds a message. API servers and webhooks repeat values that can be as long as an object.
func Message(text string) string { return object.Middle(text, MaxMessage) }

// terse is a message of a list, of which words bytes are listed already; "" where it would be too much.
func terse(text string, words *int) string {
	text = Message(text)
	if *words += len(text); *words > MaxMessages {
		return ""
	}
	return text
}

// Resources makes the objects of a status fit into it: all messages of their health together are bounded, beyond Most there are
// none, and beyond what an API server stores some of those are left out that are as they should be.
func Resources(list []v1alpha1.ResourceStatus) []v1alpha1.ResourceStatus {
	words := 0
	for i := range list {
		if h := list[i].Health; h != nil {
			h.Message = terse(h.Message, &words)
		}
	}
	size := resourcesSize(list)
	if size <= Most {
		return list
	}
	for i := range list {
		if r := &list[i]; r.Health != nil && r.Health.Message != "" {
			size -= resourceSize(r)
			r.Health = &v1alpha1.HealthStatus{Status: r.Health.Status}
			size += resourceSize(r)
		}
	}
	if size <= resourcesRoom {
		return list
	}
	listed := make([]bool, len(list))
	kinds := map[[2]string]bool{}
	size = 0
	take := func(f func(r *v1alpha1.ResourceStatus) bool) {
		for i := range list {
			if r := &list[i]; !listed[i] && f(r) && size+resourceSize(r) <= resourcesRoom {
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
	some := make([]v1alpha1.ResourceStatus, 0, len(list))
	for i, is := range listed {
		if is {
			some = append(some, list[i])
		}
	}
	return some
}
