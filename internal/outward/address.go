package outward

import (
	"net/netip"
	"slices"
	"strings"
)

// networks parses a table.
func networks(texts ...string) []netip.Prefix {
	out := make([]netip.Prefix, len(texts))
	for i, text := range texts {
		out[i] = netip.MustParsePrefix(text)
	}
	return out
}

// What an address leads to. Tables, in the order in which they are looked at.
//
//nolint:gochecknoglobals // tables
var (
	// Services of clouds that hand out credentials to every process on the machine, where they are not link-local.
	metadataNetworks = networks("169.254.0.0/16", "fd00:ec2::/32", "fd20:ce::254/128", "fd00:42::42/128",
		"100.100.100.200/32", "168.63.129.16/32",
		"192.0.0.192/32")
	loopbackNetworks = networks("127.0.0.0/8", "::1/128", "0.0.0.0/8", "::/128")
	reservedNetworks = networks("192.0.0.0/24", "192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24", "192.88.99.0/24",
		"224.0.0.0/4", "240.0.0.0/4",
		"fe80::/10", "fec0::/10", "ff00::/8", "100::/64", "2001:db8::/32", "2001::/32", "64:ff9b:1::/48", "5f00::/16")
	privateNetworks = networks("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "198.18.0.0/15", "fc00::/7")
	metadataNames   = []string{"metadata", "metadata.google.internal", "metadata.goog", "instance-data", "instance-data.ec2.internal"}
)

func within(list []netip.Prefix, at netip.Addr) bool {
	return slices.ContainsFunc(list, func(n netip.Prefix) bool { return n.Contains(at) })
}

// special says what an address leads to that only the operator may choose; "" for others.
func special(at netip.Addr) string {
	switch {
	case within(metadataNetworks, at):
		return "leads to the metadata service of a cloud, or to the link"
	case within(loopbackNetworks, at):
		return "leads to this machine"
	case within(reservedNetworks, at) || !at.IsValid():
		return "leads to a reserved or link-local address"
	}
	return ""
}

func private(at netip.Addr) bool { return within(privateNetworks, at) }

// embedded gives the IPv4 address that an IPv6 address stands for: IPv4-compatible, NAT64, 6to4 and ISATAP.
func embedded(at netip.Addr) (netip.Addr, bool) {
	if !at.Is6() {
		return at, false
	}
	b := at.As16()
	four := func(i int) (netip.Addr, bool) { return netip.AddrFrom4([4]byte(b[i : i+4])), true }
	switch {
	case slices.Equal(b[:12], make([]byte, 12)), // ::a.b.c.d
		slices.Equal(b[:12], []byte{0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0}), // 64:ff9b::a.b.c.d
		slices.Equal(b[:12], []byte{0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0}),    // ::ffff:0:a.b.c.d
		b[8]&^2 == 0 && b[9] == 0 && b[10] == 0x5e && b[11] == 0xfe:               // …:0:5efe:a.b.c.d
		return four(12)
	case b[0] == 0x20 && b[1] == 0x02: // 2002:abcd::
		return four(2)
	}
	return at, false
}

func metadataName(name string) bool { return slices.Contains(metadataNames, name) }

// plainName reports whether a name, in lower case, has nothing in it that a library reads as something else.
func plainName(name string) bool {
	if name == "" || len(name) > 253 || name[0] == '-' || name[0] == '.' || strings.Contains(name, "..") {
		return false
	}
	return !strings.ContainsFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '.' && r != '_'
	})
}

// endsInNumber reports whether some library would take the name for an IPv4 address: its last part is a number.
func endsInNumber(name string) bool {
	last := name[strings.LastIndexByte(name, '.')+1:]
	digits, isHex := strings.CutPrefix(last, "0x")
	return !strings.ContainsFunc(digits, func(r rune) bool {
		return (r < '0' || r > '9') && (!isHex || r < 'a' || r > 'f')
	})
}
