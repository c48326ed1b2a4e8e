package raylocal

import (
	"errors"
	"fmt"
	"net"
)

// Ray gives the ports from workerFirst to workerLast to its workers and refuses any of them elsewhere.
const (
	workerFirst = 10002
	workerLast  = 19999
)

// portTries bounds the search for free ports.
const portTries = 1000

// freePorts returns n different ports that are free on loopback. They are held until all are found, so that none comes
// twice; between their release and their use by Ray somebody else may take one, and then Ray's start fails.
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
	return nil, errors.New("find free ports: there are none outside those of Ray's workers")
}
