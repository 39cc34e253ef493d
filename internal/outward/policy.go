// Package outward decides which addresses may be connected to where others choose them: the receivers of notifications,
// repositories, clusters, and what an identity provider names. What is checked is what is dialled.
package outward

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"

	"github.com/slipway-gitops/slipway/internal/legible"
)

// Policy is what may be connected to. The zero value allows public addresses only.
type Policy struct {
	// Private allows addresses of private networks: those of RFC 1918, RFC 6598 and RFC 4193.
	Private bool `json:"private,omitempty"`
	// Allow adds addresses and names that would be refused, Deny takes some away. Deny counts more.
	Allow List `json:"allow"`
	Deny  List `json:"deny"`
}

// List is networks and names of hosts.
type List struct {
	Networks []netip.Prefix `json:"networks,omitempty"`
	// Names are in lower case. One that begins with a dot means all names below it.
	Names []string `json:"names,omitempty"`
}

// ReadList reads networks (10.0.0.0/8), addresses and names (git.example.org, *.example.org).
func ReadList(entries []string) (List, error) {
	var l List
	for _, entry := range entries {
		text := strings.TrimSpace(entry)
		if text == "" {
			continue
		}
		if network, err := netip.ParsePrefix(text); err == nil {
			l.Networks = append(l.Networks, network.Masked())
			continue
		}
		if at, err := netip.ParseAddr(text); err == nil {
			at = at.Unmap().WithZone("")
			l.Networks = append(l.Networks, netip.PrefixFrom(at, at.BitLen()))
			continue
		}
		name := strings.TrimSuffix(strings.ToLower(text), ".")
		if bare := strings.TrimPrefix(name, "*."); !plainName(bare) || endsInNumber(bare) {
			return List{}, fmt.Errorf("%.80q is no network, address or host: write 10.0.0.0/8, 127.0.0.1, git.example.org or *.example.org", entry)
		}
		l.Names = append(l.Names, strings.TrimPrefix(name, "*"))
	}
	return l, nil
}

// hasName reports whether a name is in the list.
func (l List) hasName(name string) bool {
	for _, n := range l.Names {
		if n == name || n[0] == '.' && strings.HasSuffix(name, n) {
			return true
		}
	}
	return false
}

// hasAddress reports whether an address is in the list.
func (l List) hasAddress(at netip.Addr) bool {
	for _, network := range l.Networks {
		if network.Contains(at) {
			return true
		}
	}
	return false
}

// ErrRefused is what every refusal of a Policy is, for errors.Is.
var ErrRefused = errors.New("the address is refused")

// Refused is an address that must not be connected to. Its text has no address that a name leads to: that is a matter of
// the network's owner.
type Refused struct {
	Host string // as it was given
	Why  string // what it leads to
	Hint string // what to do
}

// Error says which host it is, why it is refused, and what to do.
func (r *Refused) Error() string { return fmt.Sprintf("%s %s: %s", r.Host, r.Why, r.Hint) }

// Unwrap makes it an ErrRefused.
func (r *Refused) Unwrap() error { return ErrRefused }

// Hints of refusals.
const (
	hintAllow = "use another address, or have the operator allow it with --outbound-allow"
	hintDeny  = "the operator does not allow it (--outbound-deny)"
	hintSpell = "write the host as a name in ASCII, as an IPv4 address with four decimal numbers, or as an IPv6 address"
)

// name checks a host as it is written. It gives the address where it is one, and whether the operator has allowed the name
// whatever it leads to.
func (p *Policy) name(host string) (at netip.Addr, allowed bool, err error) {
	refuse := func(why, hint string) error { return &Refused{Host: shown(host), Why: why, Hint: hint} }
	name := strings.TrimSuffix(strings.ToLower(host), ".")
	if at, err := netip.ParseAddr(strings.Trim(name, "[]")); err == nil {
		return at, false, p.address(host, at)
	}
	// Resolvers and libraries read such numbers each in their own way: octal, hexadecimal, with fewer than four parts.
	if !plainName(name) || endsInNumber(name) {
		return at, false, refuse("is not a plain host", hintSpell)
	}
	switch {
	case p.Deny.hasName(name):
		return at, false, refuse("is refused here", hintDeny)
	case p.Allow.hasName(name):
		return at, true, nil
	case metadataName(name):
		return at, false, refuse("is the metadata service of a cloud", hintAllow)
	}
	return at, false, nil
}

// address checks one address; host is what led to it.
func (p *Policy) address(host string, at netip.Addr) error {
	at = at.WithZone("").Unmap()
	refuse := func(why, hint string) error { return &Refused{Host: shown(host), Why: why, Hint: hint} }
	if p.Deny.hasAddress(at) {
		return refuse("leads to an address that is refused here", hintDeny)
	}
	if p.Allow.hasAddress(at) {
		return nil
	}
	if why := special(at); why != "" {
		return refuse(why, hintAllow)
	}
	if !p.Private && private(at) {
		return refuse("leads to a private network", hintAllow)
	}
	if inside, has := embedded(at); has {
		if why := special(inside); why != "" {
			return refuse(why, hintAllow)
		}
		return p.address(host, inside)
	}
	return nil
}

// Check says whether a host may be connected to as it is written. A name can still lead to what may not.
func (p *Policy) Check(host string) error {
	_, _, err := p.name(host)
	return err
}

// Names reports whether the operator allows a host by its name or its address, and does not refuse it.
func (p *Policy) Names(host string) bool {
	at, allowed, err := p.name(host)
	return err == nil && (allowed || at.IsValid() && p.Allow.hasAddress(at.WithZone("").Unmap()))
}

// Resolve gives the addresses of a host, all of which may be connected to. It refuses the host where one may not. An error
// that is no refusal is one of the resolver.
func (p *Policy) Resolve(ctx context.Context, host string) ([]netip.Addr, error) {
	at, allowed, err := p.name(host)
	if err != nil {
		return nil, err
	}
	if at.IsValid() {
		return []netip.Addr{at}, nil
	}
	name := strings.TrimSuffix(strings.ToLower(host), ".")
	var found []netip.Addr
	if name == "localhost" || strings.HasSuffix(name, ".localhost") { // libraries know it without a resolver
		found = []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback()}
	} else if found, err = net.DefaultResolver.LookupNetIP(ctx, "ip", name); err != nil {
		return nil, err
	}
	for i, at := range found {
		found[i] = at.Unmap()
		if !allowed {
			if err := p.address(host, at); err != nil {
				return nil, err
			}
		}
	}
	return found, nil
}

// shown is a host for messages.
func shown(host string) string {
	const most = 80
	return legible.Cut(strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, host), most)
}

// Refuses reports whether an error is a refusal of a Policy, and not one of the resolver.
func (p *Policy) Refuses(err error) bool { return errors.Is(err, ErrRefused) }
