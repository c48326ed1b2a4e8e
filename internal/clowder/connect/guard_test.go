package connect

import (
	"net"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPresignedAddressesLeadOnlyToServers(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		addresses []string
		allowed   bool
	}{
		"public servers":                     {[]string{"192.0.2.1:443", "[2001:db8::1]:443", "[2a00::1]:443"}, true},
		"private networks, where stores are": {[]string{"10.0.0.1:9000", "172.16.0.1:9000", "192.168.1.1:9000", "[fd12:3456::1]:9000", "[fc00::1]:9000"}, true},
		"private networks through a gateway": {[]string{"[64:ff9b::10.0.0.1]:9000", "[64:ff9b:1::10.0.0.1]:9000", "[2002:a00:1::1]:9000", "[::ffff:10.0.0.1]:9000"}, true},
		"this machine":                       {[]string{"127.0.0.1:80", "127.9.9.9:80", "[::1]:80", "[::ffff:127.0.0.1]:80", "[::127.0.0.1]:80", "[64:ff9b::127.0.0.1]:80"}, false},
		"the unspecified address":            {[]string{"0.0.0.0:80", "0.1.2.3:80", "[::]:80", "[::ffff:0.0.0.0]:80"}, false},
		"the link":                           {[]string{"169.254.1.1:80", "[fe80::1]:80", "[fe80::1%eth0]:80", "[febf::1]:80"}, false},
		"many at once":                       {[]string{"224.0.0.1:80", "255.255.255.255:80", "240.0.0.1:80", "[ff02::1]:80"}, false},
		"metadata of clouds":                 {[]string{"169.254.169.254:80", "169.254.170.2:80", "168.63.129.16:80", "192.0.0.192:80", "100.100.100.200:80", "[fd00:ec2::254]:80", "[fd20:ce::254]:80", "[fd00:c1::a9fe:a9fe]:80"}, false},
		"metadata, mapped":                   {[]string{"[::ffff:169.254.169.254]:80", "[::ffff:a9fe:a9fe%eth0]:80", "[::ffff:100.100.100.200]:80"}, false},
		"metadata, in an old spelling":       {[]string{"[::169.254.169.254]:80", "[fd12::5efe:169.254.169.254]:80", "[fd12::200:5efe:169.254.169.254]:80"}, false},
		"metadata through NAT64":             {[]string{"[64:ff9b::a9fe:a9fe]:80", "[64:ff9b:1::169.254.169.254]:80", "[64:ff9b:1:a9fe:a9:fe00::]:80", "[64:ff9b:1:a9:fe:a9fe::]:80", "[64:ff9b:1:0:a9:fea9:fe00:0]:80"}, false},
		"metadata through 6to4":              {[]string{"[2002:a9fe:a9fe::1]:80", "[2002:7f00:1::1]:80"}, false},
		"metadata through Teredo":            {[]string{"[2001:0:a9fe:a9fe::1]:80", "[2001:0:c000:201:0:0:5601:5601]:80"}, false},
		"the network of a provider":          {[]string{"100.64.0.1:80", "100.127.255.255:80", "[64:ff9b::100.64.0.1]:80"}, false},
		"next to the network of a provider":  {[]string{"100.63.0.1:80", "100.128.0.1:80"}, true},
		"not an IP address":                  {[]string{"name:80", "2852039166:80", "0xa9fea9fe:80", "0251.0376.0251.0376:80", ""}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, address := range tc.addresses {
				require.Equal(t, tc.allowed, new(Guard).ToStorage("tcp", address, nil) == nil, address)
			}
		})
	}
}

func TestTheStoreMayBeWhereClowderIs(t *testing.T) {
	t.Parallel()
	g := &Guard{Loopback: true}
	require.NoError(t, g.ToStorage("tcp", "127.0.0.1:80", nil))
	require.NoError(t, g.ToStorage("tcp", "[::1]:80", nil))
	require.Error(t, g.ToStorage("tcp", "169.254.169.254:80", nil))
	require.NoError(t, g.ToClowder("tcp", "10.0.0.1:80", nil))
	require.Error(t, g.ToStorage("tcp", "100.64.0.1:80", nil))
	require.NoError(t, g.ToClowder("tcp", "100.64.7.7:80", nil))
	require.NoError(t, g.ToStorage("tcp", "100.64.0.1:80", nil))
	require.Error(t, g.ToStorage("tcp", "100.100.100.200:80", nil), "the metadata service of Alibaba stays forbidden")
}

func TestHostsOfPresignedAddresses(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]bool{
		"minio": true, "minio.clowder.svc.cluster.local": true, "s3.amazonaws.com.": true, "10.0.0.1": true, "fd12::1": true, "a1.b2": true,
		"": false, ".": false, "metadata.google.internal": false, "METADATA.google.internal.": false, "metadata": false, "instance-data": false,
		"2852039166": false, "0xA9FEA9FE": false, "0251.0376.0251.0376": false, "169.254.43518": false, "0xa9.0xfe.0xa9.0xfe": false, "1.2.3.4.": true, "169.254.169.0376": false,
	} {
		require.Equal(t, want, AllowedHost(host), host)
	}
}

func FuzzGuard(f *testing.F) {
	for _, seed := range []string{"10.0.0.1", "::ffff:169.254.169.254", "64:ff9b:1::1", "2001::1", "fe80::1%x", "x"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, host string) {
		err := new(Guard).ToStorage("tcp", net.JoinHostPort(host, "80"), nil)
		ip, parseErr := netip.ParseAddr(host)
		if parseErr != nil || ip.IsLoopback() || ip.IsUnspecified() || ip.IsMulticast() || ip.IsLinkLocalUnicast() {
			require.Error(t, err)
		}
		if ip.Is4() && ip.IsPrivate() {
			require.NoError(t, err)
		}
	})
}
