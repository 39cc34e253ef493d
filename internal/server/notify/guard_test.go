package notify

import (
	"errors"
	"net"
	"net/netip"
	"slices"
	"testing"

	"github.com/slipway-gitops/slipway/internal/outward"
)

// TestAMailServerIsDialledWhereItWasChecked holds the resolver of the process that sends: after the check every name leads to
// the checked addresses, whatever a name server says the second time.
func TestAMailServerIsDialledWhereItWasChecked(t *testing.T) {
	t.Parallel()
	found := []netip.Addr{netip.MustParseAddr("192.0.2.7"), netip.MustParseAddr("2001:db8::7"), netip.MustParseAddr("192.0.2.8")}
	for _, name := range []string{"mail.slipway.invalid", "mail"} {
		got, err := only(found).LookupNetIP(t.Context(), "ip", name)
		if err != nil {
			t.Fatal(err)
		}
		for _, at := range found {
			if !slices.Contains(got, at) {
				t.Errorf("%s leads to %v, without %s", name, got, at)
			}
		}
		if len(got) != len(found) {
			t.Errorf("%s leads to %v", name, got)
		}
	}
	// A question that is cut off, and one whose names run over its end.
	for _, question := range []string{"\x00\x02ab", "\x00\x0e\x00\x01\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\xff\xff", "\x00\x00"} {
		here, there := net.Pipe()
		go func() { _, _ = here.Write([]byte(question)); _ = here.Close() }()
		if err := answer(there, found); err == nil {
			t.Errorf("%q is answered", question)
		}
		_ = there.Close()
	}
	if err := pin(t.Context(), &outward.Policy{Private: true}, "127.0.0.1"); !errors.Is(err, outward.ErrRefused) {
		t.Error(err)
	}
}
