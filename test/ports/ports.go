// Package ports finds ports for the servers that the tests start.
package ports

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
)

// Servers get ports below those that the kernel gives to outgoing connections, 32768 and more on Linux: otherwise such a
// connection may take the port before the server does, or while the server is away for a restart. A local Ray has ports below 26000.
const (
	lowest = 26000
	beyond = 32768
	tries  = 1000
)

// held keeps the claims of this process open.
var held struct {
	sync.Mutex

	claims []net.Listener
}

// Free returns n ports of the loopback address on which nothing listens. They belong to this process until it ends: no process gets them
// from Free again.
func Free(ctx context.Context, n int) (found []int, err error) {
	for range tries {
		if len(found) == n {
			return found, nil
		}
		if port := lowest + rand.IntN(beyond-lowest); claim(ctx, port) { //nolint:gosec // no secret
			found = append(found, port)
		}
	}
	return nil, fmt.Errorf("there are no %d free ports from %d to %d", n, lowest, beyond-1)
}

// claim reports whether the port is now this process's own, and nothing listens on it. The claim is a socket whose name is no file (on
// Linux), so the kernel removes it at the end of the process, however it ends.
func claim(ctx context.Context, port int) bool {
	var config net.ListenConfig
	mine, err := config.Listen(ctx, "unix", claimName(port))
	if err != nil {
		return false
	}
	held.Lock()
	held.claims = append(held.claims, mine)
	held.Unlock()
	l, err := config.Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	return err == nil && l.Close() == nil
}

func claimName(port int) string { return "@clowder-ray-tests-" + strconv.Itoa(port) }
