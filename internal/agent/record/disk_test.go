package record_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-gitops/slipway/internal/agent/record"
)

// A power cut leaves of a file what it was at the last time that it reached the disk.
func TestAnEntryReachesTheDiskAndNobodyWaitsForIt(t *testing.T) {
	t.Parallel()
	dir, after, s := t.TempDir(), t.TempDir(), newServer(t)
	begun, reached := make(chan string, 100), make(chan struct{})
	b := open(t, dir, func(c *record.Config) {
		c.Sync = func(f *os.File) error {
			begun <- filepath.Base(f.Name())
			<-reached
			if raw, err := os.ReadFile(f.Name()); err == nil { // not of the directory
				return os.WriteFile(filepath.Join(after, filepath.Base(f.Name())), raw, 0o600)
			}
			return nil
		}
	})
	add(t, b, "01", configMap("a", "1")) // while the disk takes no end
	first := <-begun
	add(t, b, "02", configMap("b", "1"))
	close(reached)
	// The directory comes last. The first time may have begun before there was an entry.
	for name, entries := first, false; name != filepath.Base(dir) || !entries; name = <-begun {
		entries = entries || strings.HasPrefix(name, "entries-")
	}
	b = open(t, after)
	s.drain(b, 10)
	if len(s.order) == 0 || s.order[0] != "01" || len(s.contents) == 0 {
		t.Errorf("after a power cut there are the entries %v and %d manifests", s.order, len(s.contents))
	}
}

func TestADamagedEntryCostsOnlyItself(t *testing.T) {
	t.Parallel()
	dir, s := t.TempDir(), newServer(t)
	b := open(t, dir)
	for i := range 3 {
		add(t, b, fmt.Sprintf("0%d", i), configMap("a", fmt.Sprint(i)))
	}
	files, err := filepath.Glob(dir + "/entries-*")
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	raw, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	raw[len(raw)/2] ^= 0xff
	if err := os.WriteFile(files[0], raw, 0o600); err != nil {
		t.Fatal(err)
	}
	b = open(t, dir)
	in := b.Next()
	if in == nil || in.Records[0].Before != 1 {
		t.Errorf("that one is missing is not told: %+v", in)
	}
	s.drain(b, 100)
	if diff := cmp.Diff([]string{"00", "02"}, s.order); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestAFileWithNothingInItIsRemoved(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"entries-000000000003.log", "contents-000000000007.log"} {
		if err := os.WriteFile(filepath.Join(dir, name), make([]byte, 4096), 0o600); err != nil { // as a power cut leaves it
			t.Fatal(err)
		}
	}
	b, s := open(t, dir), newServer(t)
	if files, err := filepath.Glob(dir + "/*"); err != nil || len(files) != 0 {
		t.Errorf("%q are left: %v", files, err)
	}
	add(t, b, "01", configMap("a", "1"))
	s.drain(b, 10)
	if len(s.order) != 1 || len(s.contents) != 1 || s.lost != 0 {
		t.Errorf("%v, %d manifests, %d lost", s.order, len(s.contents), s.lost)
	}
}

func TestWhatTheDiskDoesNotTakeWaitsInMemory(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "ledger")
	b, s := open(t, dir), newServer(t)
	if err := os.Remove(dir); err != nil { // nothing can be written any more
		t.Fatal(err)
	}
	add(t, b, "01", configMap("a", "1"))
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	add(t, b, "02", configMap("a", "2"))
	s.drain(b, 10)
	if diff := cmp.Diff([]string{"01", "02"}, s.order); diff != "" || len(s.contents) != 1 || s.lost != 1 || b.Stats().Entries != 0 {
		t.Errorf("%d manifests, %d said to be lost, %d wait, entries (-want +got)\n%s", len(s.contents), s.lost, b.Stats().Entries, diff)
	}
}

func TestWhatWaitsInMemoryIsBounded(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "ledger")
	b, s := open(t, dir), newServer(t)
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	const most = 12_000
	for i := range most {
		add(t, b, fmt.Sprintf("%04x", i))
	}
	in := b.Next()
	if n := b.Stats().Entries; n == 0 || n == most || in.Records[0].Before != most-n {
		t.Errorf("%d of %d wait, and %d are said to be lost", n, most, in.Records[0].Before)
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	s.drain(b, 10_000)
	if b.Stats().Entries != 0 {
		t.Errorf("%d still wait", b.Stats().Entries)
	}
}
