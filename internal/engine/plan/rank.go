package plan

import "github.com/slipway-gitops/slipway/internal/engine/object"

// Rank is the place of a kind within a wave: what others need comes first. The order is the one that Argo CD's users
// know; kinds that are not in it come last, together.
func Rank(k object.Kind) int {
	for i, kind := range kindOrder {
		if kind == k.Kind && builtin(k.Group) {
			return i
		}
	}
	return len(kindOrder)
}

// builtin keeps a custom kind that is called like a built-in one (Knative's Service) from taking its place.
func builtin(group string) bool {
	switch group {
	case "", "apps", "batch", "autoscaling", "policy", "extensions":
		return true
	}
	return len(group) > len(".k8s.io") && group[len(group)-len(".k8s.io"):] == ".k8s.io"
}

// kindOrder is read-only.
var kindOrder = [...]string{ //nolint:gochecknoglobals // a table
	"Namespace", "NetworkPolicy", "ResourceQuota", "LimitRange", "PodSecurityPolicy", "PodDisruptionBudget",
	"ServiceAccount", "Secret", "SecretList", "ConfigMap", "StorageClass", "PersistentVolume",
	"PersistentVolumeClaim", "CustomResourceDefinition", "ClusterRole", "ClusterRoleList", "ClusterRoleBinding",
	"ClusterRoleBindingList", "Role", "RoleList", "RoleBinding", "RoleBindingList", "Service", "DaemonSet", "Pod",
	"ReplicationController", "ReplicaSet", "Deployment", "HorizontalPodAutoscaler", "StatefulSet", "Job", "CronJob",
	"IngressClass", "Ingress", "APIService",
}
