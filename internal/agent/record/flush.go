package record

import (
	"errors"
	"os"
	"sync"
	"time"
)

// flushEvery is the time between two waits for the disk at least, so that a thousand operations at a time wait for it a few
// times only, and none of them does itself.
const flushEvery = time.Second

// flusher has what was written reach the disk soon after it, for all of it together.
type flusher struct {
	dirty, stop chan struct{}
	done        sync.WaitGroup
	once        sync.Once
}

func (f *flusher) begin(do func()) {
	f.dirty, f.stop = make(chan struct{}, 1), make(chan struct{})
	f.done.Go(func() {
		for {
			select {
			case <-f.stop:
				return
			case <-f.dirty:
			}
			do()
			again := time.NewTimer(flushEvery)
			select {
			case <-f.stop:
				again.Stop()
				return
			case <-again.C:
			}
		}
	})
}

// soon asks for it.
func (f *flusher) soon() {
	select {
	case f.dirty <- struct{}{}:
	default: // it is notified already
	}
}

func (f *flusher) end() {
	f.once.Do(func() { close(f.stop) })
	f.done.Wait()
}

// reachDisk waits until what was written is on the disk: manifests first, since entries name them. Nothing waits for it.
func (b *Book) reachDisk() {
	b.mu.Lock()
	files := []*os.File{b.contents.file, b.entries.file}
	b.mu.Unlock()
	var errs []error
	for _, file := range files {
		if file == nil {
			continue
		}
		if err := b.cfg.Sync(file); err != nil && !errors.Is(err, os.ErrClosed) { // it was synced before it was closed
			errs = append(errs, err)
		}
	}
	// The names of the files are in the directory.
	if dir, err := os.Open(b.cfg.Dir); err != nil {
		errs = append(errs, err)
	} else {
		errs = append(errs, b.cfg.Sync(dir), dir.Close())
	}
	if err := errors.Join(errs...); err != nil {
		b.mu.Lock()
		b.said(err)
		b.mu.Unlock()
	}
}
