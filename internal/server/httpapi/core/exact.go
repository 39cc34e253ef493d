package core

import (
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/legible"
	"github.com/slipway-gitops/slipway/internal/strict"
)

// exactJSON is how every body of every route is read: names of fields are exact, and a document that two readers could
// understand in different ways is refused.
func exactJSON() huma.Format {
	format := huma.DefaultJSONFormat
	format.Unmarshal = func(data []byte, v any) error { return strict.Decode(data, v) }
	return format
}

// oneOfEach are headers that decide something and that are read once: the first of two would be judged, and a proxy may use
// the last.
func oneOfEach() []string {
	return []string{
		"Authorization", "Content-Encoding", "Content-Type", "Idempotency-Key", "If-Match", "Last-Event-ID", "Origin", "X-Slipway-Reason",
	}
}

// checkHeaders refuses a request that gives such a header twice.
func checkHeaders(header http.Header) error {
	for _, name := range oneOfEach() {
		if n := len(header.Values(name)); n > 1 {
			return &api.Error{
				Code: api.CodeInvalid, Field: "header." + name, Message: fmt.Sprintf("the header %s comes %d times: send it once", name, n),
			}
		}
	}
	return nil
}

// checkCoding refuses a body that is declared as packed or in another character set: it is read as it is, and a proxy could
// have judged it as something else.
func checkCoding(header http.Header) error {
	if coding := header.Get("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") {
		return &api.Error{
			Code: api.CodeInvalid, Field: "header.Content-Encoding",
			Message: "the body is declared as packed: send it unpacked, without Content-Encoding",
		}
	}
	_, parameters, err := mime.ParseMediaType(header.Get("Content-Type"))
	if err == nil && parameters["charset"] != "" && !strings.EqualFold(parameters["charset"], "utf-8") {
		return &api.Error{
			Code: api.CodeInvalid, Field: "header.Content-Type",
			Message: "the body is declared to be in another character set than UTF-8: send it in UTF-8",
		}
	}
	return nil
}

// checkTexts refuses a path or a query with a text that no database keeps: it would fail later, or be kept as another one.
// Bodies are checked by package strict.
func checkTexts(path string, query url.Values) error {
	if !textual(path) {
		return &api.Error{Code: api.CodeInvalid, Field: "path", Message: "the path has the character NUL or is not UTF-8: leave that out"}
	}
	for name, values := range query {
		for _, value := range values {
			if !textual(name) || !textual(value) {
				return &api.Error{
					Code: api.CodeInvalid, Field: "query." + legible.Cut(strings.ToValidUTF8(name, ""), MaxToldName),
					Message: "the parameter has the character NUL or is not UTF-8: leave that out",
				}
			}
		}
	}
	return nil
}

func textual(s string) bool { return utf8.ValidString(s) && strings.IndexByte(s, 0) < 0 }
