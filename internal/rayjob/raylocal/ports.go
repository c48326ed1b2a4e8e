package raylocal

import (
	"errors"
	"fmt"
	"net"
)

// Ray assigns the ports from workerFirst to workerLast to its workers and rejects them for anything else.
const (
	workerFirst = 10002
	workerLast  = 19999
)

// portTries bounds the search for free ports.
const portTries = 1000

// freePorts returns n different free ports on loopback. It holds all of them until the last is found, so that none is returned
// twice. Another program may take one before Ray uses it; Ray's start then fails.
func freePorts(n int) (ports []int, err error) {
	var held []net.Listener
	defer func() {
		for _, l := range held {
			err = errors.Join(err, l.Close())
		}
	}()
	for range portTries {
		if len(ports) == n {
			return ports, nil
		}
		l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // nothing to wait for on loopback
		if err != nil {
			return nil, fmt.Errorf("find a free port: %w", err)
		}
		held = append(held, l)
		if port := l.Addr().(*net.TCPAddr).Port; port < workerFirst || port > workerLast {
			ports = append(ports, port)
		}
	}
	return nil, errors.New("find free ports: all free ports are in the range of Ray's workers (10002 to 19999)")
}
