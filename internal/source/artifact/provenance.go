package artifact

import (
	"context"
	"errors"
)

// ErrProvenance says that what the remote has as the provenance of a chart cannot be one.
var ErrProvenance = errors.New("provenance is refused")

// MaxProvenance bounds a provenance file, in bytes.
const MaxProvenance = 256 << 10

// Provenance is the provenance file of a chart, as its remote has it. Nothing of it is verified.
type Provenance struct {
	Text    []byte // empty where there is none
	File    string // name of the archive that it is beside; "" where the remote gives archives no names
	Archive string // digest of the archive that was fetched, "sha256:…"
}

// Proven is a Remote that has provenance files of charts.
type Proven interface {
	// Provenance returns that of what was found and fetched.
	Provenance(ctx context.Context, chart string, f Found) (Provenance, error)
}
