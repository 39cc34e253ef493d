package agentapi

import "time"

// Chunk is a piece of a stream, in either direction. A Chunk that comes down is in a Signed.
//
// Each side sends at most as many bytes of Data as the other has granted: the agent what Command.Credit and later Chunks with
// Credit gave it, the server what Chunks of the agent give. The receiver closes the stream of a sender that sends more. Chunks
// without Data need no credit.
//
// The agent's first Chunk reports immediately that the stream is open, without data and, where it reads what comes down, with
// credit; or that it is not, with End and Error.
//
// Chunks can be lost between servers. So each side sends an empty one every PulseEvery while the stream is open, which shows
// a gap. A side that has sent such pulses and is silent for SilentFor is gone. The agent answers a Chunk of a stream that it
// does not have by one with Seq NoStream and End.
type Chunk struct {
	// Stream is the id of the stream.
	Stream string `json:"stream"`
	// Seq counts the chunks of one direction from 0, those without data too. A gap ends the stream.
	Seq  int64  `json:"seq"`
	Data []byte `json:"data,omitempty"`
	// Resize is the new size of a terminal. Downwards only.
	Resize *Size `json:"resize,omitempty"`
	// InputEnds says that nothing more is typed; what the container shows still comes. Downwards only.
	InputEnds bool `json:"inputEnds,omitempty"`
	// Credit grants the other side that many bytes more.
	Credit int `json:"credit,omitempty"`
	// End says that no more comes from this side. The agent ends a stream with it when all was sent; the server when there
	// is no reader any more, upon which the agent stops without an answer.
	End bool `json:"end,omitempty"`
	// Exit is the exit code of a terminal that ended without a request.
	Exit *int `json:"exit,omitempty"`
	// Error is why a stream ended, or why it was not opened. It comes with End.
	Error *Error `json:"error,omitempty"`
}

// Times of streams.
const (
	// PulseEvery is about the time between two empty Chunks on a stream.
	PulseEvery = 30 * time.Second
	// SilentFor is how long a side that sends pulses is silent until it counts as gone.
	SilentFor = 4 * PulseEvery
)

// NoStream is the Seq of the answer to a Chunk of a stream that the agent does not have.
const NoStream = -1

// Pulse reports whether a Chunk says nothing but that its side is there.
func (c *Chunk) Pulse() bool {
	return len(c.Data) == 0 && c.Resize == nil && !c.InputEnds && c.Credit == 0 && !c.End
}

// Size is that of a terminal, in characters.
type Size struct {
	Columns int `json:"columns"`
	Rows    int `json:"rows"`
}
