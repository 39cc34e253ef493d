package node

import (
	"net/netip"
	"strconv"
	"testing"
)

func TestPodAddressesAreInRangeStableAndAlmostAllDifferent(t *testing.T) {
	t.Parallel()
	pods := netip.MustParsePrefix(podRange)
	const count = 1000
	seen := map[netip.Addr]bool{}
	for i := range count {
		uid := "uid-" + strconv.Itoa(i)
		address := podAddress(uid, "pod", "default")
		if !pods.Contains(address) {
			t.Fatalf("address %s is not in %s", address, pods)
		}
		if again := podAddress(uid, "pod", "default"); again != address {
			t.Fatalf("pod %s has addresses %s and %s", uid, address, again)
		}
		seen[address] = true
	}
	if len(seen) < count-5 {
		t.Errorf("%d pods have only %d addresses", count, len(seen))
	}
}
