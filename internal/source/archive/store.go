// Package archive unpacks archives that others made, within bounds, and keeps what is in them on disk as a source.Tree whose sums
// are known without reading.
package archive

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	// DefaultBytes bounds what a Store keeps on disk.
	DefaultBytes = 2 << 30
	maxOpened    = 128         // packs kept open
	leftFor      = time.Hour   // after which an unfinished file is of a process that is gone
	touchEach    = time.Minute // how exactly it is known when a file was last used
	unfinished   = "tmp-"
)

// Store keeps files by key in a directory, up to a number of bytes: what was used last stays. A file appears whole or not at all,
// so that a process may end at any time and several may share the directory. It is safe for concurrent use.
type Store struct {
	dir  string
	most int64

	mu     sync.Mutex
	opened map[string]*pack // by key
}

// Open opens the store in a directory, which it makes; most is in bytes, 0 for DefaultBytes.
func Open(dir string, most int64) (*Store, error) {
	if most <= 0 {
		most = DefaultBytes
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("create cache of archives: %w", err)
	}
	s := &Store{dir: dir, most: most, opened: map[string]*pack{}}
	s.tidy("")
	return s, nil
}

// fileOf is the name of the file of a key, which does not reveal it.
func (s *Store) fileOf(key string) string {
	sum := sha256.Sum256([]byte(key))
	return filepath.Join(s.dir, hex.EncodeToString(sum[:]))
}

// Write keeps what write writes as the file of a key. Nothing is kept where it fails.
func (s *Store) Write(key string, write func(*os.File) error) error {
	f, err := os.CreateTemp(s.dir, unfinished)
	if err != nil {
		return fmt.Errorf("write cache of archives: %w", err)
	}
	defer func() { _ = os.Remove(f.Name()) }() // where it was not renamed
	err = write(f)
	if closed := f.Close(); err == nil && closed != nil {
		err = fmt.Errorf("write cache of archives: %w", closed)
	}
	if err != nil {
		return err
	}
	if err := os.Rename(f.Name(), s.fileOf(key)); err != nil {
		return fmt.Errorf("write cache of archives: %w", err)
	}
	s.tidy(s.fileOf(key))
	return nil
}

// Read opens the file of a key. The error wraps fs.ErrNotExist where there is none.
func (s *Store) Read(key string) (*os.File, error) {
	name := s.fileOf(key)
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("read cache of archives: %w", err)
	}
	now := time.Now()
	_ = os.Chtimes(name, now, now) // at worst it goes too early
	return f, nil
}

// Remove drops the file of a key.
func (s *Store) Remove(key string) {
	s.mu.Lock()
	delete(s.opened, key)
	s.mu.Unlock()
	_ = os.Remove(s.fileOf(key))
}

// tidy removes what was used longest ago until the rest is within the limit, but not the file keep, and what is left of processes
// that are gone.
func (s *Store) tidy(keep string) {
	list, err := os.ReadDir(s.dir)
	if err != nil {
		return // the next write reports it
	}
	type file struct {
		name string
		size int64
		used time.Time
	}
	var files []file
	var sum int64
	for _, e := range list {
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		name := filepath.Join(s.dir, e.Name())
		if strings.HasPrefix(e.Name(), unfinished) {
			if time.Since(info.ModTime()) > leftFor {
				_ = os.Remove(name)
			}
			continue
		}
		files = append(files, file{name, info.Size(), info.ModTime()})
		sum += info.Size()
	}
	slices.SortFunc(files, func(a, b file) int { return a.used.Compare(b.used) })
	for _, f := range files {
		if sum <= s.most {
			return
		}
		if f.name != keep && os.Remove(f.name) == nil {
			sum -= f.size
		}
	}
}

// Tree returns what was unpacked under a key.
func (s *Store) Tree(key string) (*Tree, bool) {
	s.mu.Lock()
	p := s.opened[key]
	s.mu.Unlock()
	if p != nil {
		p.touch(s.fileOf(key))
		return p.tree(), true
	}
	f, err := s.Read(key)
	if err != nil {
		return nil, false
	}
	p, err = openPack(f, func() { s.Remove(key) })
	if err != nil {
		_ = f.Close()
		s.Remove(key) // it is of another version, or damaged
		return nil, false
	}
	return s.remember(key, p).tree(), true
}

func (s *Store) remember(key string, p *pack) *pack {
	s.mu.Lock()
	defer s.mu.Unlock()
	if have := s.opened[key]; have != nil {
		return have
	}
	if len(s.opened) >= maxOpened {
		clear(s.opened) // their files are closed once no tree uses them
	}
	s.opened[key] = p
	return p
}

// Unpack unpacks an archive under a key, and returns its digest. Where want is not "", the archive must have that digest
// ("sha256:…"). What is not sound in an archive is an error that wraps ErrArchive or ErrDigest, and leaves nothing behind.
func (s *Store) Unpack(key string, from io.Reader, want string, limits Limits) (*Tree, string, error) {
	var digest string
	err := s.Write(key, func(f *os.File) (err error) {
		digest, err = unpack(f, from, want, limits.withDefaults())
		return err
	})
	if err != nil {
		return nil, "", err
	}
	s.mu.Lock()
	delete(s.opened, key)
	s.mu.Unlock()
	t, ok := s.Tree(key)
	if !ok {
		return nil, "", errors.New("read cache of archives: what was just written is gone: give the cache more space")
	}
	return t, digest, nil
}

// Size returns how many files are kept, and their bytes.
func (s *Store) Size() (files int, bytes int64) {
	_ = filepath.WalkDir(s.dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			if info, err := d.Info(); err == nil {
				files, bytes = files+1, bytes+info.Size()
			}
		}
		return nil
	})
	return files, bytes
}
