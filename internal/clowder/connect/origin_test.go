package connect

import (
	"testing"

	"github.com/stretchr/testify/require"
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
			require.Equal(t, want, Address(host))
			require.Equal(t, want, Address(want), "it is its own")
		})
	}
}
