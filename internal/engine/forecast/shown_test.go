package forecast

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestALongValueIsShownInPart(t *testing.T) {
	t.Parallel()
	long := shown(strings.Repeat("ä", 2*maxValue))
	if len(long) > maxValue+len("…") || !strings.HasSuffix(long, "…") || !utf8.ValidString(long) {
		t.Errorf("%d bytes: %s", len(long), long)
	}
	for value, want := range map[any]string{nil: "", "a": `"a"`, int64(3): "3", false: "false"} {
		if got := shown(value); got != want {
			t.Errorf("%v: %s", value, got)
		}
	}
}
