package link

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// cluster returns what tells this cluster apart from others: the uid of the namespace kube-system, and where that may not be
// read, that of the agent's Secret. A Secret that was copied to another cluster has another uid there.
func (l *Link) cluster(ctx context.Context) (string, error) {
	l.mu.Lock()
	known := l.where
	l.mu.Unlock()
	if known != "" {
		return known, nil
	}
	uid, err := l.findCluster(ctx)
	if err == nil {
		l.mu.Lock()
		l.where = uid
		l.mu.Unlock()
	}
	return uid, err
}

func (l *Link) findCluster(ctx context.Context) (string, error) {
	ns, err := l.cfg.Core.Namespaces().Get(ctx, metav1.NamespaceSystem, metav1.GetOptions{})
	if err == nil {
		return string(ns.UID), nil
	}
	if !apierrors.IsForbidden(err) && !apierrors.IsNotFound(err) {
		return "", fmt.Errorf("find out which cluster this is: %w", err) // not another identity for a moment's trouble
	}
	l.mu.Lock()
	l.narrow = apierrors.IsForbidden(err)
	l.mu.Unlock()
	secret, err := l.cfg.Core.Secrets(l.cfg.Namespace).Get(ctx, SecretIdentity, metav1.GetOptions{})
	if err != nil {
		return "", fmt.Errorf("find out which cluster this is: %w", err)
	}
	if secret.UID == "" {
		return "", errors.New("find out which cluster this is: the API server gives no uids")
	}
	return string(secret.UID), nil
}
