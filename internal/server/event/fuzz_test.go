package event

import (
	"strconv"
	"testing"
)

func FuzzEventID(f *testing.F) {
	for _, id := range []string{"", "-", "run-1", "run-18446744073709551615", "run--1", "other-1", "run-1-2", "run-٣"} {
		f.Add(id)
	}
	f.Fuzz(func(t *testing.T, id string) {
		h := &Hub{run: "run"}
		n, ok := h.number(id)
		if ok && len(id) < len("run-")+1 {
			t.Errorf("%q was read as %d", id, n)
		}
		if got, again := h.number("run-" + strconv.FormatUint(n, 10)); ok && (!again || got != n) {
			t.Errorf("%q was read as %d, and that as %d", id, n, got)
		}
	})
}
