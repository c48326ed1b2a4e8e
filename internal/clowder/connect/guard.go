package connect

import (
	"errors"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
)

// ErrBlocked is the error of a connection that may not be made.
var ErrBlocked = errors.New("downloads from this address are not allowed")

// forbidden are the networks that presigned addresses, which Clowder chooses, may never lead to: the metadata services that give
// credentials to virtual machines, and addresses that are not of a server. Private networks are allowed, since object stores are there.
//
//nolint:gochecknoglobals // a table
var forbidden = prefixes(
	"0.0.0.0/8", "224.0.0.0/4", "240.0.0.0/4", "::/128", "ff00::/8", // not of a server
	"169.254.0.0/16", "fe80::/10", // link-local; metadata of AWS, Google, Azure, OpenStack and others
	"192.0.0.0/24",       // protocols, metadata of Oracle
	"168.63.129.16/32",   // metadata of Azure
	"100.100.100.200/32", // metadata of Alibaba
	"fd00:ec2::/32",      // metadata of AWS
	"fd20:ce::/32",       // metadata of Google
	"fd00:c1::/32",       // metadata of Oracle
	"fd00:42::42/128",    // metadata of Scaleway
)

// These networks are forbidden unless Clowder itself is in them.
//
//nolint:gochecknoglobals // a table
var (
	loopback = prefixes("127.0.0.0/8", "::1/128")
	carrier  = prefixes("100.64.0.0/10") // carrier-grade NAT, also used inside clouds
)

func prefixes(texts ...string) []netip.Prefix {
	out := make([]netip.Prefix, len(texts))
	for i, text := range texts {
		out[i] = netip.MustParsePrefix(text)
	}
	return out
}

func within(networks []netip.Prefix, address netip.Addr) bool {
	return slices.ContainsFunc(networks, func(p netip.Prefix) bool { return p.Contains(address) })
}

// Guard decides which addresses a presigned address may lead to. It checks the address that is dialled, so a name that resolves
// differently the second time, or another notation, does not help an attacker.
type Guard struct {
	// Loopback is true if Clowder itself is on this machine.
	Loopback bool
	// carrier is true if Clowder itself was reached in a carrier network. Then its object store may be there too.
	carrier atomic.Bool
}

// ToClowder is called for each connection to Clowder itself. It refuses none, because an operator has set the address.
func (g *Guard) ToClowder(_, address string, _ syscall.RawConn) error {
	if ip, err := dialled(address); err == nil && within(carrier, ip) {
		g.carrier.Store(true)
	}
	return nil
}

// ToStorage refuses a connection to an address that presigned addresses may not lead to.
func (g *Guard) ToStorage(_, address string, _ syscall.RawConn) error {
	ip, err := dialled(address)
	if err != nil {
		return ErrBlocked
	}
	for _, one := range append(embedded(ip), ip) {
		if within(forbidden, one) || within(loopback, one) && !g.Loopback || within(carrier, one) && !g.carrier.Load() {
			return ErrBlocked
		}
	}
	return nil
}

// dialled returns the IP address that a dialer is about to connect to.
func dialled(address string) (netip.Addr, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return netip.Addr{}, err
	}
	ip, err := netip.ParseAddr(host)
	return ip.WithZone("").Unmap(), err
}

// embedded returns the IPv4 addresses that an IPv6 address leads to: through a gateway (NAT64, 6to4, Teredo, ISATAP) or in an old
// notation.
func embedded(ip netip.Addr) []netip.Addr {
	if !ip.Is6() || ip.IsLoopback() || ip.IsUnspecified() {
		return nil
	}
	b := ip.As16()
	four := func(at ...int) netip.Addr { return netip.AddrFrom4([4]byte{b[at[0]], b[at[1]], b[at[2]], b[at[3]]}) }
	last := four(12, 13, 14, 15)
	switch {
	case within(compatible, ip), within(nat64, ip):
		return []netip.Addr{last}
	case within(localNAT64, ip): // the length of the prefix is the operator's choice, by RFC 6052
		all := []netip.Addr{last, four(6, 7, 9, 10), four(7, 9, 10, 11), four(9, 10, 11, 12)}
		return slices.DeleteFunc(all, func(a netip.Addr) bool { return a.As4()[0] == 0 }) // the zeros of another length
	case within(sixToFour, ip):
		return []netip.Addr{four(2, 3, 4, 5)}
	case within(teredo, ip):
		for i := 12; i < 16; i++ {
			b[i] ^= 0xff
		}
		return []netip.Addr{four(4, 5, 6, 7), four(12, 13, 14, 15)}
	case b[8]&^2 == 0 && b[9] == 0 && b[10] == 0x5e && b[11] == 0xfe: // ISATAP
		return []netip.Addr{last}
	default:
		return nil
	}
}

//nolint:gochecknoglobals // tables
var (
	compatible = prefixes("::/96")
	nat64      = prefixes("64:ff9b::/96")
	localNAT64 = prefixes("64:ff9b:1::/48")
	sixToFour  = prefixes("2002::/16")
	teredo     = prefixes("2001::/32")
)

// metadataNames are names of metadata services. Their addresses are forbidden as well.
//
//nolint:gochecknoglobals // a table
var metadataNames = []string{
	"metadata", "metadata.google.internal", "metadata.goog", "instance-data", "instance-data.ec2.internal", "metadata.azure.internal", "metadata.tencentyun.com",
}

// AllowedHost reports whether a presigned address may have this host. It refuses the names of metadata services, and numbers that only
// some programs read as an address, such as 2852039166, 0xa9fea9fe or 0251.0376.0251.0376.
func AllowedHost(host string) bool {
	host = strings.TrimRight(strings.ToLower(host), ".")
	if host == "" || slices.Contains(metadataNames, host) {
		return false
	}
	if _, err := netip.ParseAddr(host); err == nil {
		return true
	}
	final := host[strings.LastIndexByte(host, '.')+1:]
	return strings.Trim(final, "0123456789") != "" && !strings.HasPrefix(final, "0x")
}
