package audit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/chain"
)

// export is that of a chain of count entries.
func export(t *testing.T, count int) (lines []string, last string) {
	t.Helper()
	var head chain.Head
	for i := range count {
		e := chain.Link(head, chain.Entry{
			At: time.Date(2030, 6, 1, 8, i, 0, 0, time.UTC), Actor: api.Principal{Type: api.PrincipalUser, ID: "ada"},
			Action: "application.sync", Reason: fmt.Sprint("release ", i), Outcome: api.OutcomeSucceeded,
		})
		raw, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		lines, head = append(lines, string(raw)), chain.HeadOf(e)
	}
	return lines, head.Hash
}

func TestAnExportIsCheckedWithoutAServer(t *testing.T) {
	t.Parallel()
	whole, last := export(t, 5)
	with := func(at int, from, to string) []string {
		out := append([]string(nil), whole...)
		out[at] = strings.Replace(out[at], from, to, 1)
		return out
	}
	tests := []struct {
		name, head string
		lines      []string
		ok         bool
		says       string
	}{
		{"whole", "", whole, true, "the chain of 5 entries is whole, up to 5 of 2030-06-01T08:04:00Z"},
		{"whole, with the head", last, whole, true, "whole"},
		{"with an empty line at its end", "", append(append([]string(nil), whole...), ""), true, "whole"},
		{"from the third on", "", whole[2:], true, "the 2 entries before them are not in it"},
		{"the newest missing", last, whole[:4], false, "there is no entry with the hash"},
		{"one missing", "", append(append([]string(nil), whole[:2]...), whole[3:]...), false, "entry 3 is missing"},
		{"one changed", "", with(2, "release 2", "release 9"), false, "entry 3 was changed after it was written"},
		{"the first of all follows from something", "", with(0, `"hash"`, `"prevHash":"00","hash"`), false, "entry 1 does not follow"},
		{"a head of another server", strings.Repeat("0", 64), whole, false, "that of another server"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			found, err := check(strings.NewReader(strings.Join(tt.lines, "\n")), tt.head)
			if err != nil || found.OK != tt.ok || !strings.Contains(found.Message, tt.says) {
				t.Errorf("found %+v, %v, want %q", found, err, tt.says)
			}
		})
	}
}

func TestWhatIsNoExportIsToldFromABrokenChain(t *testing.T) {
	t.Parallel()
	whole, _ := export(t, 1)
	for name, text := range map[string]string{
		"nothing":           "",
		"a table":           "id,at,actor_type\n1,2030-06-01T08:00:00Z,user\n",
		"an unknown field":  strings.Replace(whole[0], "{", `{"approved":true,`, 1),
		"two in a line":     whole[0] + whole[0],
		"a line of nothing": strings.Repeat(" ", maxLine+1),
		"half an entry":     whole[0][:40],
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found, err := check(bytes.NewBufferString(text), "")
			if err == nil || found.OK {
				t.Errorf("found %+v, and no error", found)
			}
		})
	}
}
