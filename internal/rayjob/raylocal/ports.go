package raylocal

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
)

// The ports of a Ray lie between those that it assigns to its workers (10002 to 19999, which it rejects for anything else) and those that
// the kernel gives to outgoing connections (32768 and more on Linux). Such a connection could take a port during the seconds in which Ray
// starts. Those from portLimit on are left to other programs.
const (
	portFirst = 20000
	portLimit = 26000
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
		port := portFirst + rand.IntN(portLimit-portFirst)           //nolint:gosec // no secret
		l, err := net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(port)) //nolint:noctx // nothing to wait for on loopback
		if err != nil {
			continue
		}
		held = append(held, l)
		ports = append(ports, port)
	}
	return nil, fmt.Errorf("there are no %d free ports from %d to %d for the local Ray: stop some programs that listen on them", n, portFirst, portLimit-1)
}
