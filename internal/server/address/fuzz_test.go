package address

import (
	"net/netip"
	"testing"
)

func FuzzNetwork(f *testing.F) {
	for _, ip := range []string{"192.0.2.1", "::ffff:192.0.2.1", "2001:db8::1%eth0", "2001:db8::1", "", "other", "1.2.3.04"} {
		f.Add(ip)
	}
	f.Fuzz(func(t *testing.T, ip string) {
		got := Network(ip)
		if got == other {
			if _, err := netip.ParseAddr(ip); err == nil {
				t.Errorf("%q is an address, and is held to a rate with all that is none", ip)
			}
			return
		}
		if prefix, err := netip.ParsePrefix(got); err == nil && prefix.Bits() == 64 {
			return
		}
		if at, err := netip.ParseAddr(got); err != nil || !at.Is4() {
			t.Errorf("%q is held to the rate of %q", ip, got)
		}
	})
}
