package git

import (
	"net/netip"
	"slices"
	"testing"
)

func TestAnAddressIsTriedOnceAndThoseOfIPv4First(t *testing.T) {
	t.Parallel()
	at := netip.MustParseAddr
	found := []netip.Addr{at("2001:db8::1"), at("192.0.2.1"), at("2001:db8::2"), at("::ffff:192.0.2.2")}
	got := byPreference(found)
	if want := []netip.Addr{found[1], found[3], found[0], found[2]}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if found[0] != at("2001:db8::1") {
		t.Error("what was found is in another order now")
	}
}
