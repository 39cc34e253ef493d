// Package turn lets those who need one thing use it one after the other.
package turn

import (
	"context"
	"sync"
)

// Turns has one turn for each key. A key without a user takes no memory. The zero value is ready, and safe for concurrent use.
type Turns struct {
	mu   sync.Mutex
	keys map[string]*turn
}

// turn is that of one key.
type turn struct {
	held  chan struct{} // full while the turn is held
	users int           // callers that hold it or wait for it
}

// Take waits for the turn of a key, until ctx ends. The function that it returns ends the turn.
func (t *Turns) Take(ctx context.Context, key string) (end func(), err error) {
	t.mu.Lock()
	one := t.keys[key]
	if one == nil {
		if t.keys == nil {
			t.keys = map[string]*turn{}
		}
		one = &turn{held: make(chan struct{}, 1)}
		t.keys[key] = one
	}
	one.users++
	t.mu.Unlock()
	select {
	case one.held <- struct{}{}:
		return func() { <-one.held; t.leave(key, one) }, nil
	case <-ctx.Done():
		t.leave(key, one)
		return nil, context.Cause(ctx)
	}
}

func (t *Turns) leave(key string, one *turn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if one.users--; one.users == 0 {
		delete(t.keys, key)
	}
}

// Len is how many keys are in use.
func (t *Turns) Len() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.keys)
}
