package raylocal

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

// With standInBegun, which names a file, the test binary is a Ray whose first start ends as standInFirst says.
const (
	standInBegun = "RAYLOCAL_TEST_BEGUN"
	standInFirst = "RAYLOCAL_TEST_FIRST"
	givesUp      = "gives up"
	noAgent      = "no agent"
	neverOver    = "never over"
)

func TestMain(m *testing.M) {
	if begun := os.Getenv(standInBegun); begun != "" {
		fmt.Fprintln(os.Stderr, standIn(begun, os.Getenv(standInFirst)))
		os.Exit(1) //nolint:forbidigo // this is main
	}
	goleak.VerifyTestMain(m)
}

// standIn is a Ray whose dashboard and agent respond. It makes the file in its first start, which fails, and returns only where that
// start gives up.
func standIn(begun, first string) error {
	if _, err := os.Stat(begun); err == nil {
		first = ""
		fmt.Fprintln(os.Stderr, "second")
	} else if err := os.WriteFile(begun, nil, 0o600); err != nil {
		return err
	}
	for _, arg := range os.Args {
		name, port, _ := strings.Cut(arg, "=")
		if name != "--dashboard-port" && (name != "--dashboard-agent-listen-port" || first == noAgent) {
			continue
		}
		l, err := net.Listen("tcp", "127.0.0.1:"+port)
		if err != nil {
			return err
		}
		go http.Serve(l, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})) //nolint:errcheck // it ends with the process
	}
	if first == givesUp {
		return errors.New("the current " + gaveUp)
	}
	if first != neverOver {
		fmt.Fprintln(os.Stderr, started)
	}
	select {}
}
