package testenv

import (
	"context"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"
)

// Watch reports every change of a kind after a version, in their order and each once, until ctx ends and the channel closes.
// An API server that is busy cuts off watches as a matter of course: this one goes on where it was. A kind that cannot be
// watched any more closes the channel, too; what came before that is an event of the type watch.Error.
func Watch(ctx context.Context, t testing.TB, version string,
	open func(context.Context, metav1.ListOptions) (watch.Interface, error),
) <-chan watch.Event {
	t.Helper()
	w, err := watchtools.NewRetryWatcherWithContext(ctx, version, &cache.ListWatch{WatchFuncWithContext: open})
	if err != nil {
		t.Fatalf("watch: %v", err)
	}
	return w.ResultChan()
}
