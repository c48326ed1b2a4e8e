package clowder_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/clowder/clienttest"
)

func TestASessionHasTheAddressOfItsClowder(t *testing.T) {
	t.Parallel()
	both := clienttest.New(t, clowder.Config{AllowedHosts: []string{"https://a.example.org", "https://b.example.org/"}})
	s, err := both.At("https://B.example.org", "key")
	require.NoError(t, err)
	require.Equal(t, "https://b.example.org", s.Address())
	one := clienttest.New(t, clowder.Config{URL: "http://Backend:8000/"})
	s, err = one.At("https://elsewhere.example.org", "key")
	require.NoError(t, err)
	require.Equal(t, "http://backend:8000", s.Address(), "not what the message says")
}
