package clowder_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/clowder"
)

func TestAnAddressHasOneSpelling(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]string{
		"https://clowder.example.org":       "https://clowder.example.org",
		"HTTPS://Clowder.Example.ORG:443/":  "https://clowder.example.org",
		"http://clowder.example.org:80":     "http://clowder.example.org",
		"http://clowder.example.org:8000//": "http://clowder.example.org:8000",
		"https://example.org/clowder/":      "https://example.org/clowder",
		"http://[::1]:8000":                 "http://[::1]:8000",
		"no address":                        "no address",
		"":                                  "",
	} {
		t.Run(host, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, want, clowder.Address(host))
			require.Equal(t, want, clowder.Address(want), "it is its own")
		})
	}
}

func TestASessionHasTheAddressOfItsClowder(t *testing.T) {
	t.Parallel()
	both := newClient(t, clowder.Config{AllowedHosts: []string{"https://a.example.org", "https://b.example.org/"}})
	s, err := both.At("https://B.example.org", "key")
	require.NoError(t, err)
	require.Equal(t, "https://b.example.org", s.Address())
	one := newClient(t, clowder.Config{URL: "http://Backend:8000/"})
	s, err = one.At("https://elsewhere.example.org", "key")
	require.NoError(t, err)
	require.Equal(t, "http://backend:8000", s.Address(), "not what the message says")
}
