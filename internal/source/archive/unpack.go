package archive

import (
	"archive/tar"
	"bufio"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
)

// What is wrong with an archive, for errors.Is.
var (
	ErrArchive = errors.New("archive is refused")
	ErrDigest  = errors.New("content does not match its digest")
)

// Limits bound one archive. The zero value of a field means its default.
type Limits struct {
	Bytes int64 // of all files, default 128 MiB
	File  int64 // bytes of one file, default 32 MiB
	Files int   // and directories, default 20,000
	Depth int   // directories in each other, default 32
	Ratio int64 // bytes unpacked for each packed one, default 250; the first MiB is free
}

func (l Limits) withDefaults() Limits {
	set := func(field *int64, value int64) {
		if *field <= 0 {
			*field = value
		}
	}
	set(&l.Bytes, 128<<20)
	set(&l.File, 32<<20)
	set(&l.Ratio, 250)
	if l.Files <= 0 {
		l.Files = 20_000
	}
	if l.Depth <= 0 {
		l.Depth = 32
	}
	return l
}

const (
	maxName   = 1024     // bytes of a name, and of the target of a link
	maxNames  = 16 << 20 // bytes of all names: they are kept in memory
	freeRatio = 1 << 20
)

func refuse(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrArchive, fmt.Errorf(format, args...))
}

// counted counts and hashes what is read.
type counted struct {
	from io.Reader
	hash hash.Hash
	n    int64
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.from.Read(p)
	c.n += int64(n)
	c.hash.Write(p[:n])
	return n, err
}

// inflated ends where an archive becomes far more than it was.
type inflated struct {
	from   io.Reader
	packed *counted
	limits Limits
	n      int64
}

func (i *inflated) Read(p []byte) (int, error) {
	n, err := i.from.Read(p)
	i.n += int64(n)
	switch {
	case i.n > 2*i.limits.Bytes+freeRatio: // headers and padding included
		return 0, refuse("it unpacks to more than %d MiB: make it smaller", i.limits.Bytes>>20)
	case i.n > freeRatio+i.limits.Ratio*i.packed.n:
		return 0, refuse("it unpacks to more than %d times its size: pack it again without what is empty", i.limits.Ratio)
	}
	return n, err
}

// unpack reads a tar archive, packed by gzip or not, into a pack, and returns its digest.
func unpack(to *os.File, from io.Reader, want string, limits Limits) (string, error) {
	packed := &counted{from: from, hash: sha256.New()}
	buffered := bufio.NewReader(packed)
	in := &inflated{from: buffered, packed: packed, limits: limits}
	if head, err := buffered.Peek(2); err == nil && head[0] == 0x1f && head[1] == 0x8b {
		z, err := gzip.NewReader(buffered)
		if err != nil {
			return "", readError(err, packed)
		}
		in.from = z
	}
	b := &builder{limits: limits, out: bufio.NewWriter(to), nodes: map[string]*node{".": {Mode: fs.ModeDir}}, links: map[string]link{}}
	if err := b.readAll(tar.NewReader(in), packed); err != nil {
		return "", err
	}
	if _, err := io.Copy(io.Discard, buffered); err != nil { // what comes after the end is part of the digest
		return "", err
	}
	digest := "sha256:" + hex.EncodeToString(packed.hash.Sum(nil))
	if want != "" && !strings.EqualFold(want, digest) {
		return "", fmt.Errorf("%w: it is %s, and should be %s: publish it again, or look who changed it", ErrDigest, digest, want)
	}
	if err := b.resolveLinks(); err != nil {
		return "", err
	}
	return digest, b.finish(digest)
}

// readError distinguishes what is wrong in an archive from what is wrong in the connection that it comes from.
func readError(err error, packed *counted) error {
	if errors.Is(err, ErrArchive) {
		return err
	}
	for _, sign := range []error{tar.ErrHeader, gzip.ErrHeader, gzip.ErrChecksum, io.ErrUnexpectedEOF, tar.ErrFieldTooLong, io.EOF} {
		if errors.Is(err, sign) {
			return refuse("it cannot be read after %d bytes: it must be a tar archive, packed by gzip or not", packed.n)
		}
	}
	if strings.HasPrefix(err.Error(), "flate: ") || strings.HasPrefix(err.Error(), "archive/tar: ") {
		return refuse("it cannot be read after %d bytes: it is damaged", packed.n)
	}
	return err
}

// link is a link as the archive has it.
type link struct {
	target string // from the root, clean; may lead through other links
	file   bool   // a hard link, which leads to a file
}

// builder gathers what an archive holds.
type builder struct {
	limits Limits
	out    *bufio.Writer
	at     int64 // bytes written
	nodes  map[string]*node
	links  map[string]link
	steps  int // of following links
	names  int // bytes of all names, links followed
}

func (b *builder) readAll(in *tar.Reader, packed *counted) error {
	files := 0
	for {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return readError(err, packed)
		}
		if h.Typeflag == tar.TypeXGlobalHeader {
			continue
		}
		name, err := nameOf(h.Name)
		if err != nil {
			return err
		}
		if files++; files > b.limits.Files {
			return refuse("it has more than %d entries: remove files", b.limits.Files)
		}
		if err := b.entry(in, h, name, packed); err != nil {
			return err
		}
	}
	if len(b.nodes)+len(b.links) == 1 {
		return refuse("it is empty")
	}
	return nil
}

// entry takes in one entry.
func (b *builder) entry(in *tar.Reader, h *tar.Header, name string, packed *counted) error {
	switch h.Typeflag {
	case tar.TypeDir:
		return b.makeDir(name)
	case tar.TypeReg:
		return b.file(in, h, name, packed)
	case tar.TypeSymlink, tar.TypeLink:
		if name == "." || len(h.Linkname) > maxName || h.Linkname == "" {
			return refuse("the target of the link %q is empty or has more than %d bytes", shown(h.Name), maxName)
		}
		if err := b.place(name); err != nil {
			return err
		}
		if h.Typeflag == tar.TypeLink {
			target, err := nameOf(h.Linkname)
			b.links[name] = link{target: target, file: true}
			return err
		}
		if strings.HasPrefix(h.Linkname, "/") || strings.ContainsRune(h.Linkname, 0) {
			return refuse("the link %q leaves it", shown(name))
		}
		// The target is kept as it is written: what ".." leads to depends on the links before it.
		b.links[name] = link{target: joinRaw(path.Dir(name), h.Linkname)}
		return nil
	}
	return refuse("%q is neither a file, a directory nor a link", shown(h.Name))
}

// place makes the directory of a name that nothing has yet.
func (b *builder) place(name string) error {
	if b.nodes[name] != nil {
		return refuse("it holds %q twice", shown(name))
	}
	if _, taken := b.links[name]; taken {
		return refuse("it holds %q twice", shown(name))
	}
	if strings.Count(name, "/") >= b.limits.Depth {
		return refuse("directories are nested deeper than %d at %q", b.limits.Depth, shown(name))
	}
	return b.makeDir(path.Dir(name))
}

// makeDir makes a directory and those that it is in.
func (b *builder) makeDir(name string) error {
	if have := b.nodes[name]; have != nil {
		if !have.Mode.IsDir() {
			return refuse("%q is a file and a directory", shown(name))
		}
		return nil
	}
	if err := b.place(name); err != nil {
		return err
	}
	b.nodes[name] = &node{Mode: fs.ModeDir}
	return b.count(name)
}

// count counts a name that was added.
func (b *builder) count(name string) error {
	if len(b.nodes) > b.limits.Files {
		return b.tooMany()
	}
	if b.names += len(name); b.names > maxNames {
		return refuse("the names of its files and directories have more than %d MiB together, links followed: shorten them", maxNames>>20)
	}
	return nil
}

func (b *builder) tooMany() error {
	return refuse("it has more than %d files and directories, links followed: remove some", b.limits.Files)
}

// file writes the content of a file.
func (b *builder) file(in *tar.Reader, h *tar.Header, name string, packed *counted) error {
	if err := b.place(name); err != nil {
		return err
	}
	if h.Size > b.limits.File {
		return refuse("the file %q has more than %d MiB", shown(name), b.limits.File>>20)
	}
	if b.at+h.Size > b.limits.Bytes {
		return refuse("it unpacks to more than %d MiB: make it smaller", b.limits.Bytes>>20)
	}
	sum := sha256.New()
	n, err := io.Copy(io.MultiWriter(b.out, sum), in)
	if err != nil {
		return readError(err, packed)
	}
	b.nodes[name] = &node{
		Mode: fs.FileMode(h.Mode) & 0o111, At: b.at, Size: n, //nolint:gosec // three bits of it
		Sum: hex.EncodeToString(sum.Sum(nil)),
	}
	b.at += n
	return b.count(name)
}

// nameOf checks a name of an archive, and makes it one of a Tree.
func nameOf(name string) (string, error) {
	clean := strings.ReplaceAll(name, `\`, "/")
	if clean == "" || len(clean) > maxName || strings.HasPrefix(clean, "/") || strings.ContainsRune(clean, 0) ||
		len(clean) > 1 && clean[1] == ':' {
		return "", refuse("the name %q is empty, too long or absolute", shown(name))
	}
	for part := range strings.SplitSeq(clean, "/") {
		if part == ".." {
			return "", refuse("the name %q leaves it", shown(name))
		}
	}
	clean = path.Clean(clean)
	if !fs.ValidPath(clean) {
		return "", refuse("the name %q is not valid", shown(name))
	}
	return clean, nil
}

// joinRaw is a path below dir, without making it clean.
func joinRaw(dir, rest string) string {
	if dir == "." {
		return rest
	}
	return dir + "/" + rest
}
