package git

import (
	"container/list"
	"sync"
)

// treeCache is a bounded least-recently-used cache of parsed trees.
type treeCache struct {
	mu    sync.Mutex
	limit int
	used  int
	order *list.List // front = used last
	items map[treeKey]*list.Element
}

type treeKey struct {
	mirror uint64
	id     ID
}

type treeItem struct {
	key  treeKey
	list Listing
	size int
}

func newTreeCache(limit int64) *treeCache {
	return &treeCache{limit: int(limit), order: list.New(), items: map[treeKey]*list.Element{}}
}

func (c *treeCache) get(k treeKey) (Listing, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.items[k]
	if !ok {
		return nil, false
	}
	c.order.MoveToFront(e)
	return e.Value.(*treeItem).list, true
}

func (c *treeCache) put(k treeKey, l Listing, size int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.items[k]; ok {
		return
	}
	c.items[k] = c.order.PushFront(&treeItem{key: k, list: l, size: size})
	c.used += size
	for c.used > c.limit && c.order.Len() > 1 {
		e := c.order.Back()
		it := e.Value.(*treeItem)
		c.order.Remove(e)
		delete(c.items, it.key)
		c.used -= it.size
	}
}
