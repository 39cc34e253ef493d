package address_test

import (
	"testing"

	"github.com/slipway-gitops/slipway/internal/server/address"
)

func TestWhoeverHasANetworkCountsOnce(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ one, other, want string }{
		{"192.0.2.1", "::ffff:192.0.2.1", "192.0.2.1"},
		{"2001:db8::1", "2001:db8::ffff:ffff:ffff:ffff", "2001:db8::/64"},
		{"fe80::1%eth0", "fe80::2%eth1", "fe80::/64"},
		{"", "unknown", "other"},
	} {
		if one, two := address.Network(c.one), address.Network(c.other); one != c.want || two != c.want {
			t.Errorf("%s is %s, and %s is %s: want %s", c.one, one, c.other, two, c.want)
		}
	}
	if address.Network("192.0.2.1") == address.Network("192.0.2.2") || address.Network("2001:db8::1") == address.Network("2001:db8:0:1::1") {
		t.Error("two networks are one")
	}
}
