package agent

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"
)

const (
	// probeEvery is how old the last proof may be that the data directory takes writes: frequent probes cause no more writes.
	probeEvery = 10 * time.Second
	// probeTime is how long a write may take. A disk that hangs counts as one that takes no writes.
	probeTime = 3 * time.Second
	// probeFile is written in the data directory, and removed again.
	probeFile = ".write-probe"
	// probeBytes is what is written: a block of its own, which a full disk does not have.
	probeBytes = 4 << 10
)

// disk reports whether a directory takes writes.
type disk struct {
	dir string

	mu      sync.Mutex
	probed  time.Time     // when failure was found; zero for never
	failure error         // nil: it takes writes
	running chan struct{} // closed when the probe under way is over; nil for none
}

// err says why the directory takes no writes, as found at most probeEvery ago.
func (d *disk) err() error {
	if d.dir == "" {
		return nil
	}
	d.mu.Lock()
	if d.running == nil && (d.probed.IsZero() || time.Since(d.probed) >= probeEvery) {
		d.running = make(chan struct{})
		go d.look(d.running)
	}
	running := d.running
	d.mu.Unlock()
	if running != nil {
		timer := time.NewTimer(probeTime)
		defer timer.Stop()
		select {
		case <-running:
		case <-timer.C:
			return fmt.Errorf("a write to %s takes longer than %s", d.dir, probeTime)
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.failure
}

// look writes once. There is one at a time, however long the disk takes.
func (d *disk) look(done chan struct{}) {
	err := writeOnce(d.dir)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.failure, d.probed, d.running = err, time.Now(), nil
	close(done)
}

func writeOnce(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	name := filepath.Join(dir, probeFile)
	file, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(make([]byte, probeBytes))
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	return os.Remove(name)
}
