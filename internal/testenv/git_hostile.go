package testenv

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1" //nolint:gosec // git's
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// HostileGit is a Git server over HTTP that says what a test wants it to, sound or not. It speaks version 2 of the protocol
// and knows one repository, whatever its path is.
type HostileGit struct {
	// Before answers a request on its own if it returns true.
	Before func(w http.ResponseWriter, r *http.Request) bool
	// Refs are the lines of the list of references: "ID NAME", with attributes behind.
	Refs []string
	// Fetch writes what follows the line "packfile": send writes one packet, in a band of the side band. Each is flushed.
	Fetch func(r *http.Request, send func(band byte, data []byte) error)
}

// maxPacket is the most bytes that one packet of a side band carries.
const maxPacket = 65515

// Start serves until the test ends, and returns the address of the repository.
func (h *HostileGit) Start(t testing.TB) string {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return server.URL + "/r.git"
}

// ServeHTTP answers the requests of a fetch.
func (h *HostileGit) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if h.Before != nil && h.Before(w, r) {
		return
	}
	if r.Method == http.MethodGet {
		w.Header().Set("Content-Type", "application/x-git-upload-pack-advertisement")
		_, _ = io.WriteString(w, Packet("# service=git-upload-pack\n")+"0000"+Packet("version 2\n")+Packet("ls-refs=unborn\n")+
			Packet("fetch=shallow\n")+Packet("object-format=sha1\n")+"0000")
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 64<<20))
	if err != nil {
		return
	}
	w.Header().Set("Content-Type", "application/x-git-upload-pack-result")
	switch {
	case bytes.Contains(body, []byte("command=ls-refs")):
		var out strings.Builder
		for _, ref := range h.Refs {
			out.WriteString(Packet(ref + "\n"))
		}
		_, _ = io.WriteString(w, out.String()+"0000")
	case !bytes.Contains(body, []byte("done")):
		_, _ = io.WriteString(w, Packet("acknowledgments\n")+Packet("NAK\n")+"0000")
	default:
		_, _ = io.WriteString(w, Packet("packfile\n"))
		h.Fetch(r, func(band byte, data []byte) error {
			_, err := io.WriteString(w, Packet(string(band)+string(data)))
			_ = http.NewResponseController(w).Flush()
			return err
		})
		_, _ = io.WriteString(w, "0000")
	}
}

// Packet is a line of git's protocol, with its length before it.
func Packet(s string) string { return fmt.Sprintf("%04x%s", len(s)+4, s) }

// SendPack is a Fetch that sends a pack.
func SendPack(pack []byte) func(*http.Request, func(byte, []byte) error) {
	return func(_ *http.Request, send func(byte, []byte) error) {
		for rest := pack; len(rest) > 0; {
			n := min(len(rest), maxPacket)
			if send(1, rest[:n]) != nil {
				return
			}
			rest = rest[n:]
		}
	}
}

// GitPack builds a pack of objects that no git would write.
type GitPack struct {
	entries bytes.Buffer
	count   uint32
	loose   map[string]string
	packer  *zlib.Writer
}

var packKinds = map[string]byte{"commit": 1, "tree": 2, "blob": 3, "tag": 4} //nolint:gochecknoglobals // table

// Add adds an object and returns its id.
func (p *GitPack) Add(kind, data string) string {
	p.entry(packKinds[kind], len(data), nil, []byte(data))
	h := sha1.New() //nolint:gosec // git's
	raw := fmt.Sprintf("%s %d\x00%s", kind, len(data), data)
	_, _ = io.WriteString(h, raw)
	id := hex.EncodeToString(h.Sum(nil))
	if p.loose == nil {
		p.loose = map[string]string{}
	}
	p.loose["/objects/"+id[:2]+"/"+id[2:]] = raw
	return id
}

// Loose is what a dumb HTTP server has at a path, such as /objects/ab/cd…; nil for what is not there.
func (p *GitPack) Loose(path string) []byte {
	raw, ok := p.loose[path]
	if !ok {
		return nil
	}
	var file bytes.Buffer
	z := zlib.NewWriter(&file)
	_, _ = io.WriteString(z, raw) // into memory
	_ = z.Close()
	return file.Bytes()
}

// AddDelta adds an object that repeats all of another one, of size bytes, so many times. A copy of up to 16 MiB takes seven
// bytes.
func (p *GitPack) AddDelta(base string, size, times int) {
	delta := binary.AppendUvarint(nil, uint64(size))
	delta = binary.AppendUvarint(delta, uint64(size*times))
	for range times {
		delta = append(delta, 0x80|0x70, byte(size), byte(size>>8), byte(size>>16))
	}
	id, _ := hex.DecodeString(base)
	p.entry(7, len(delta), id, delta)
}

func (p *GitPack) entry(kind byte, size int, base, data []byte) {
	p.count++
	p.entries.Write(PackHead(kind, size))
	p.entries.Write(base)
	if p.packer == nil {
		p.packer = zlib.NewWriter(&p.entries)
	}
	p.packer.Reset(&p.entries)
	_, _ = p.packer.Write(data) // into memory
	_ = p.packer.Close()
}

// PackHead begins an object of a pack.
func PackHead(kind byte, size int) []byte {
	var out []byte
	b := kind<<4 | byte(size&15)
	for size >>= 4; size > 0; size >>= 7 {
		out, b = append(out, b|0x80), byte(size&0x7f)
	}
	return append(out, b)
}

// Commit adds a commit of a tree, with the given line of author and committer ("Name <mail> seconds zone").
func (p *GitPack) Commit(tree, who, message string) string {
	return p.Add("commit", "tree "+tree+"\nauthor "+who+"\ncommitter "+who+"\n\n"+message)
}

// Tree adds a tree of entries as they are given: names, modes and order are not looked at.
func (p *GitPack) Tree(entries ...[3]string) string {
	var out strings.Builder
	for _, e := range entries { // mode, name, id
		id, _ := hex.DecodeString(e[2])
		out.WriteString(e[0] + " " + e[1] + "\x00" + string(id))
	}
	return p.Add("tree", out.String())
}

// Bytes is the pack.
func (p *GitPack) Bytes() []byte {
	out := append([]byte("PACK"), 0, 0, 0, 2)
	out = binary.BigEndian.AppendUint32(out, p.count)
	out = append(out, p.entries.Bytes()...)
	sum := sha1.Sum(out) //nolint:gosec // git's
	return append(out, sum[:]...)
}
