package record

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Bounds of the files of a reel.
const (
	frameHead   = 8 // length and sum
	maxFrame    = 4 << 20
	segmentSize = 1 << 20
)

// reel is a row of files that frames are appended to, and from which whole files go: from the beginning when it is too
// large, and wherever all frames of one are done with. A frame that was cut off by the end of a process is
// ignored. It is not safe for concurrent use.
type reel struct {
	dir, name string
	limit     int64 // in bytes, of all files
	size      int64
	segments  []*segment // oldest first; the last one is appended to
	file      *os.File   // of the last one; nil while there is none
	next      int64      // number of the next file
	damaged   int        // frames that were found not to be what was written
	sync      func(*os.File) error
}

type segment struct {
	number, size int64
	frames       int // that are not done with
}

// place is where a frame is.
type place struct {
	segment, at int64
	length      int
}

// openReel reads what is there and calls each for every frame, in order.
func openReel(dir, name string, limit int64, sync func(*os.File) error, each func(place, []byte)) (*reel, error) {
	r := &reel{dir: dir, name: name, limit: limit, sync: sync}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		text, ok := strings.CutPrefix(strings.TrimSuffix(e.Name(), ".log"), name+"-")
		if n, err := strconv.ParseInt(text, 10, 64); ok && err == nil {
			r.segments = append(r.segments, &segment{number: n})
		}
	}
	slices.SortFunc(r.segments, func(a, b *segment) int { return int(a.number - b.number) })
	for _, s := range slices.Clone(r.segments) {
		if err := r.replay(s, each); err != nil {
			return nil, err
		}
		r.size += s.size
		r.next = s.number + 1
		if s.frames == 0 {
			if err := r.remove(s); err != nil {
				return nil, err
			}
		}
	}
	return r, nil
}

func (r *reel) path(n int64) string {
	return filepath.Join(r.dir, fmt.Sprintf("%s-%012d.log", r.name, n))
}

// replay reads the frames of one file, up to the first that was cut off. One that is damaged costs only itself, as long as
// its length can be believed.
func (r *reel) replay(s *segment, each func(place, []byte)) error {
	raw, err := os.ReadFile(r.path(s.number))
	if err != nil {
		return err
	}
	for {
		data, whole := frame(raw[s.size:])
		if data == nil {
			return nil
		}
		if whole {
			each(place{segment: s.number, at: s.size, length: len(data)}, data)
			s.frames++
		} else {
			r.damaged++
		}
		s.size += int64(frameHead + len(data))
	}
}

// frame takes the first frame of what is read, and says whether it is what was written; nil where there is none.
func frame(raw []byte) (data []byte, whole bool) {
	if len(raw) < frameHead {
		return nil, false
	}
	n := int(binary.BigEndian.Uint32(raw))
	if n == 0 || n > maxFrame || len(raw) < frameHead+n {
		return nil, false
	}
	data = raw[frameHead : frameHead+n]
	return data, crc32.ChecksumIEEE(data) == binary.BigEndian.Uint32(raw[4:])
}

// append writes a frame, and returns where, and the numbers of files that had to go for it.
func (r *reel) append(data []byte) (at place, dropped []int64, err error) {
	if len(data) == 0 || len(data) > maxFrame {
		return at, nil, fmt.Errorf("a record has %d bytes, none or more than %d", len(data), maxFrame)
	}
	last := r.last()
	if r.file == nil || last.size >= segmentSize {
		if last, err = r.begin(); err != nil {
			return at, nil, err
		}
	}
	out := make([]byte, frameHead, frameHead+len(data))
	binary.BigEndian.PutUint32(out, uint32(len(data)))
	binary.BigEndian.PutUint32(out[4:], crc32.ChecksumIEEE(data))
	out = append(out, data...)
	if _, err := r.file.WriteAt(out, last.size); err != nil {
		return at, nil, fmt.Errorf("write %s: %w", r.file.Name(), err)
	}
	at = place{segment: last.number, at: last.size, length: len(data)}
	last.size += int64(len(out))
	last.frames++
	r.size += int64(len(out))
	for r.size > r.limit && len(r.segments) > 1 {
		oldest := r.segments[0]
		dropped = append(dropped, oldest.number)
		if err := r.remove(oldest); err != nil {
			return at, dropped, err
		}
	}
	return at, dropped, nil
}

func (r *reel) last() *segment {
	if len(r.segments) == 0 {
		return nil
	}
	return r.segments[len(r.segments)-1]
}

// begin begins another file.
func (r *reel) begin() (*segment, error) {
	if err := r.close(); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(r.path(r.next), os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	s := &segment{number: r.next}
	r.file, r.segments = file, append(r.segments, s)
	r.next++
	return s, nil
}

// read returns a frame; an error where it is gone.
func (r *reel) read(at place) ([]byte, error) {
	file := r.file
	if last := r.last(); file == nil || last.number != at.segment {
		var err error
		if file, err = os.Open(r.path(at.segment)); err != nil {
			return nil, err
		}
		defer func() { _ = file.Close() }() // it was only read
	}
	raw := make([]byte, frameHead+at.length)
	if _, err := file.ReadAt(raw, at.at); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	data, whole := frame(raw)
	if !whole {
		return nil, fmt.Errorf("%s is not what was written", file.Name())
	}
	return data, nil
}

// done says that a frame is not needed any more. A file without others goes, or is emptied.
func (r *reel) done(at place) error {
	i := slices.IndexFunc(r.segments, func(s *segment) bool { return s.number == at.segment })
	if i < 0 {
		return nil
	}
	s := r.segments[i]
	if s.frames--; s.frames > 0 {
		return nil
	}
	if i == len(r.segments)-1 && r.file != nil {
		r.size -= s.size
		s.size = 0
		return r.file.Truncate(0)
	}
	return r.remove(s)
}

// remove deletes a file.
func (r *reel) remove(s *segment) error {
	r.size -= s.size
	r.segments = slices.DeleteFunc(r.segments, func(have *segment) bool { return have == s })
	if err := os.Remove(r.path(s.number)); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

func (r *reel) close() error {
	if r.file == nil {
		return nil
	}
	file := r.file
	r.file = nil
	if last := r.last(); last != nil && last.frames == 0 {
		return errors.Join(file.Close(), r.remove(last))
	}
	return errors.Join(r.sync(file), file.Close())
}
