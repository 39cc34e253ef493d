package link

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// cluster returns what distinguishes this cluster from others: the uid of the namespace kube-system, and where that may not be
// read, that of the agent's Secret. A Secret that was copied to another cluster has another uid there.
func (r *registrar) cluster(ctx context.Context) (string, error) {
	r.mu.Lock()
	known := r.where
	r.mu.Unlock()
	if known != "" {
		return known, nil
	}
	uid, err := r.findCluster(ctx)
	if err == nil {
		r.mu.Lock()
		r.where = uid
		r.mu.Unlock()
	}
	return uid, err
}

// isNarrow reports whether the agent may not look outside of its namespace.
func (r *registrar) isNarrow() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.narrow
}

func (r *registrar) findCluster(ctx context.Context) (string, error) {
	ns, err := r.cfg.Core.Namespaces().Get(ctx, metav1.NamespaceSystem, metav1.GetOptions{})
	if err == nil {
		return string(ns.UID), nil
	}
	if !apierrors.IsForbidden(err) && !apierrors.IsNotFound(err) {
		return "", fmt.Errorf("find out which cluster this is: %w", err) // not another identity for a moment's trouble
	}
	r.mu.Lock()
	r.narrow = apierrors.IsForbidden(err)
	r.mu.Unlock()
	secret, err := r.cfg.Core.Secrets(r.cfg.Namespace).Get(ctx, SecretIdentity, metav1.GetOptions{})
	if err != nil {
		return "", fmt.Errorf("find out which cluster this is: %w", err)
	}
	if secret.UID == "" {
		return "", errors.New("find out which cluster this is: the API server gives no uids")
	}
	return string(secret.UID), nil
}
