// Package address groups addresses for rate limits. Pure.
package address

import "net/netip"

// other stands for all that is no address.
const other = "other"

// Network returns what counts as one address: of IPv4 the address itself, of IPv6 its /64, since a client with one address
// of such a network has all of them. What is no address counts as one with everything else that is none.
func Network(ip string) string {
	address, err := netip.ParseAddr(ip)
	if err != nil {
		return other
	}
	address = address.Unmap().WithZone("")
	if address.Is4() {
		return address.String()
	}
	const prefix = 64
	network, err := address.Prefix(prefix)
	if err != nil {
		return other
	}
	return network.String()
}
