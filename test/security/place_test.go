package security

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync/atomic"

	"github.com/slipway-gitops/slipway/internal/server/store"
	"github.com/slipway-gitops/slipway/internal/server/store/db"
)

// collector is the address of a collector of spans, which keeps them as they come.
func (c *cluster) collector() string {
	c.spans = newRecord()
	var times atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(c.spans, r.Body) // what is missing is looked for
		if c.collects != nil {
			c.collects(w, int(times.Add(1)))
		}
	}))
	c.t.Cleanup(s.Close)
	return s.URL
}

// restored looks through a database that was made of a backup.
func (c *cluster) restored(backup io.Reader, except []string) {
	c.t.Helper()
	ctx, dir := context.WithoutCancel(c.t.Context()), c.t.TempDir()
	s, err := store.Open(ctx, db.Config{URL: filepath.Join(dir, "slipway.db")})
	if err != nil {
		c.t.Fatal(err)
	}
	_, err = s.Restore(ctx, backup, db.RestoreOptions{})
	if err := errors.Join(err, s.Close()); err != nil {
		c.t.Fatal(err)
	}
	c.files(dir, except)
}
