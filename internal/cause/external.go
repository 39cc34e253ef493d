package cause

import (
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// ExternalSecrets is the API group of the External Secrets Operator.
const ExternalSecrets = "external-secrets.io"

// Store is the key of the store that an ExternalSecret of a namespace reads; false where it names none: each of its entries may
// have a store or a generator of its own then.
func Store(secret map[string]any, namespace string) (object.Key, bool) {
	ref := object.Dict(object.Dict(secret, "spec"), "secretStoreRef")
	key := object.Key{
		Group: ExternalSecrets, Kind: or(object.Text(ref, "kind"), "SecretStore"), Namespace: namespace, Name: object.Text(ref, "name"),
	}
	if key.Kind != "SecretStore" {
		key.Namespace = ""
	}
	return key, key.Name != "" && (key.Kind == "SecretStore" || key.Kind == "ClusterSecretStore")
}

// external says why an ExternalSecret has no new values: its store is missing, its store cannot be used, or the store refuses.
func (s *scene) external(b *Branch) *fault {
	ready := conditionOf(b.Object, "Ready")
	if ready.is != "False" {
		return s.generic(b)
	}
	f := s.newFault(b, SecretStore, followed)
	f.Since = ready.since
	f.What = called(b) + " is not refreshed: " + joined(ready.reason, ready.message)
	f.Next = "correct spec.data in Git, or what the store holds, and refresh it: `slipway action run refresh --app " + Quote(s.app) +
		" --resource " + Quote(ExternalSecrets+"/ExternalSecret:"+b.Key.Namespace+"/"+b.Key.Name) + "`"
	f.evidence(ready.evidence(b))
	for _, store := range b.Below {
		s.store(f, b, store)
	}
	f.evidence(s.refreshed(b))
	f.evidence(s.told(b, nil)...)
	return f
}

// store says how the store of an ExternalSecret stands.
func (s *scene) store(f *fault, b, store *Branch) {
	if store.Object == nil {
		f.What = called(b) + " is not refreshed: " + called(store) + " does not exist"
		f.Next = "create it, or correct spec.secretStoreRef in Git"
		f.evidence(spec(b, "secretStoreRef: %s %s", store.Key.Kind, store.Key.Name))
		return
	}
	c := conditionOf(store.Object, "Ready")
	if c.is != "False" {
		f.evidence(status(store, "Ready is %s", or(c.is, "Unknown")))
		return
	}
	f.What = called(b) + " is not refreshed: " + called(store) + " cannot be used: " + joined(c.reason, c.message)
	f.Next = "correct the address or the credentials of the store; " + s.describe(store)
	f.evidence(c.evidence(store))
}

// refreshed is when an ExternalSecret got values for the last time.
func (s *scene) refreshed(b *Branch) api.Evidence {
	at := moment(object.Dict(b.Object, "status"), "refreshTime")
	if at.IsZero() {
		return status(b, "refreshTime is missing: it never had values")
	}
	every := or(object.Text(object.Dict(b.Object, "spec"), "refreshInterval"), "1h")
	return status(b, "refreshTime: %s, %s ago; refreshInterval: %s", at.UTC().Format(time.RFC3339), s.now.Sub(at).Truncate(time.Second), every)
}
