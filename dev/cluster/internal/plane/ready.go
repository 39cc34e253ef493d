package plane

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
)

// probeEvery is the time between two looks at something that cannot be watched.
const probeEvery = 50 * time.Millisecond

// WaitReady returns when the API server says that it is ready. It cannot be
// watched for: until then nothing answers.
func WaitReady(ctx context.Context, client kubernetes.Interface) error {
	var last error
	err := wait.PollUntilContextCancel(ctx, probeEvery, true, func(ctx context.Context) (bool, error) {
		last = client.Discovery().RESTClient().Get().AbsPath("/readyz").Do(ctx).Error()
		return last == nil, nil
	})
	if err != nil {
		return fmt.Errorf("wait for API server: %w (last answer: %v)", context.Cause(ctx), last) //nolint:errorlint // there may be none
	}
	return nil
}

// WaitDefaultAccount returns when pods can be made in the namespace "default":
// when it has its service account.
func WaitDefaultAccount(ctx context.Context, client kubernetes.Interface) error {
	err := wait.PollUntilContextCancel(ctx, probeEvery, true, func(ctx context.Context) (bool, error) {
		_, err := client.CoreV1().ServiceAccounts(metav1.NamespaceDefault).Get(ctx, "default", metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return false, nil
		}
		return err == nil, err
	})
	if err != nil {
		return fmt.Errorf("wait for service account of namespace default: %w", err)
	}
	return nil
}
