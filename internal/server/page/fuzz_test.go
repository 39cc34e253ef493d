package page

import (
	"strings"
	"testing"
)

func FuzzAcceptEncoding(f *testing.F) {
	for _, text := range []string{"gzip, br", "gzip;q=0", "*;q=0.5", "identity", "gzip ; q = x", "*;q=NaN", ";;,,"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		low := strings.ToLower(text)
		if accepted([]string{text}, "gzip") && !strings.Contains(low, "gzip") && !strings.Contains(text, "*") {
			t.Errorf("%q accepts gzip", text)
		}
		matches([]string{text}, `"tag"`)
	})
}
