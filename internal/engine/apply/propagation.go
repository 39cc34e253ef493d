package apply

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// PropagationOf returns the propagation of the sync option PrunePropagationPolicy; empty where it says nothing.
func PropagationOf(policy string) metav1.DeletionPropagation {
	switch policy {
	case "foreground":
		return metav1.DeletePropagationForeground
	case "background":
		return metav1.DeletePropagationBackground
	case "orphan":
		return metav1.DeletePropagationOrphan
	}
	return ""
}

// propagationOf is how an object is deleted when nothing says how: in the foreground, so that it is gone only once its
// dependents are. Kinds that own nothing are deleted immediately: in the foreground each of them would wait for the cluster's
// garbage collector, which takes minutes for thousands.
func propagationOf(k object.Kind) metav1.DeletionPropagation {
	switch k {
	case object.Kind{Kind: "ConfigMap"}, object.Kind{Kind: "Secret"}, object.Kind{Kind: "ServiceAccount"},
		object.Kind{Kind: "LimitRange"}, object.Kind{Kind: "ResourceQuota"},
		object.Kind{Group: "rbac.authorization.k8s.io", Kind: "Role"},
		object.Kind{Group: "rbac.authorization.k8s.io", Kind: "RoleBinding"},
		object.Kind{Group: "rbac.authorization.k8s.io", Kind: "ClusterRole"},
		object.Kind{Group: "rbac.authorization.k8s.io", Kind: "ClusterRoleBinding"},
		object.Kind{Group: "networking.k8s.io", Kind: "NetworkPolicy"},
		object.Kind{Group: "policy", Kind: "PodDisruptionBudget"}:
		return metav1.DeletePropagationBackground
	}
	return metav1.DeletePropagationForeground
}
