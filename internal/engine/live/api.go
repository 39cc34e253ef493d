package live

import (
	"context"
	"fmt"
)

// API is the API server of a cluster, apart from its objects.
type API struct{ catalog *catalog }

// Ask asks the server for its version. It is the smallest question that there is.
func (a API) Ask(ctx context.Context) (version string, err error) {
	info, err := a.catalog.client.ServerVersionWithContext(ctx)
	if err != nil {
		return "", fmt.Errorf("ask the API server for its version: %w", err)
	}
	return info.GitVersion, nil
}

// Known returns the server's version and the number of its kinds, by its last answer; "" and 0 where there was none. It asks nothing.
func (a API) Known() (version string, kinds int) {
	a.catalog.mu.Lock()
	defer a.catalog.mu.Unlock()
	if last := a.catalog.last; last != nil {
		return last.server, len(last.resources)
	}
	return "", 0
}
