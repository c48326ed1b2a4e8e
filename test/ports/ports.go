// Package ports finds ports for the servers that the tests start.
package ports

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
)

// Servers get ports below those that the kernel gives to outgoing connections, 32768 and more on Linux: otherwise such a
// connection may take the port before the server does, or while the server is away for a restart.
const (
	lowest = 20000
	beyond = 32768
	tries  = 1000
)

// Free returns n ports of the loopback address that were free a moment ago. Another program that looks at the same moment may
// take one first.
func Free(ctx context.Context, n int) (found []int, err error) {
	var config net.ListenConfig
	for range tries {
		if len(found) == n {
			return found, nil
		}
		port := lowest + rand.IntN(beyond-lowest) //nolint:gosec // no secret
		l, err := config.Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err != nil {
			continue
		}
		// All stay open until the last one is found, so that no port is found twice.
		defer func() { _ = l.Close() }()
		found = append(found, port)
	}
	return nil, fmt.Errorf("there are no %d free ports from %d to %d", n, lowest, beyond-1)
}
