package worker

import (
	"bytes"
	"encoding/binary"
	"io"
	"testing"
)

// A process that renders can say what it likes: what is read of it has the sizes that it may have.
func FuzzFrame(f *testing.F) {
	frame := func(k kind, header, body string) []byte {
		out := []byte{byte(k)}
		out = binary.BigEndian.AppendUint32(out, uint32(len(header)))
		out = binary.BigEndian.AppendUint64(out, uint64(len(body)))
		return append(append(out, header...), body...)
	}
	f.Add(frame(kindAsk, `{"Op":"file","Name":"../x"}`, ""))
	f.Add(frame(kindResult, `{"Objects":[{"Size":-1},{"Size":9223372036854775807}],"Fault":{"Is":"x"}}`, "{}"))
	f.Add([]byte{byte(kindResult), 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff})
	const most = 1 << 20
	f.Fuzz(func(t *testing.T, raw []byte) {
		c := newConn(bytes.NewReader(raw), io.Discard)
		for range 10 {
			var ask question
			var done outcome
			k, body, err := c.receive(most, func(k kind) any {
				switch k {
				case kindAsk:
					return &ask
				case kindResult:
					return &done
				case kindJob, kindAnswer:
				}
				return nil
			})
			if err != nil {
				return
			}
			if len(body) > most {
				t.Errorf("a body of %d bytes", len(body))
			}
			if k != kindResult {
				continue
			}
			res, err := result(done, body)
			size := 0
			for _, o := range res.Objects {
				size += len(o.JSON)
			}
			if err == nil && size > len(body) {
				t.Errorf("%d bytes of objects in a body of %d", size, len(body))
			}
		}
	})
}
