package ports

import (
	"net"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFreePortsCanBeListenedOn(t *testing.T) {
	t.Parallel()
	found, err := Free(t.Context(), 5)
	require.NoError(t, err)
	require.Len(t, found, 5)
	for _, port := range found {
		require.Less(t, port, beyond)
		l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		require.NoError(t, err, "each one is found once and is free")
		defer func() { require.NoError(t, l.Close()) }()
	}
}

func TestAPortIsFoundOnceAlsoIfNothingListensOnIt(t *testing.T) {
	t.Parallel()
	found, err := Free(t.Context(), 1)
	require.NoError(t, err)
	require.False(t, claim(t.Context(), found[0]))
	_, err = (&net.ListenConfig{}).Listen(t.Context(), "unix", claimName(found[0]))
	require.ErrorContains(t, err, "address already in use", "another process cannot claim it either")
}

func TestAPortOnWhichAServerListensIsNotFound(t *testing.T) {
	t.Parallel()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, l.Close()) })
	require.False(t, claim(t.Context(), l.Addr().(*net.TCPAddr).Port))
}

func TestMorePortsThanThereAreIsAnError(t *testing.T) {
	t.Parallel()
	_, err := Free(t.Context(), tries)
	require.ErrorContains(t, err, "no 1000 free ports")
}
