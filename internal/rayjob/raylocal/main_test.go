package raylocal

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

// standInStarts names a file. With it, the test binary is a Ray that gives up its first start.
const standInStarts = "RAYLOCAL_TEST_STARTS"

func TestMain(m *testing.M) {
	if starts := os.Getenv(standInStarts); starts != "" {
		if err := standIn(starts); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		os.Exit(1) //nolint:forbidigo // this is main
	}
	goleak.VerifyTestMain(m)
}

// standIn is a Ray whose parts respond before its start is over. If the file exists, its start ends well; otherwise it makes the file and
// gives up.
func standIn(starts string) error {
	asked := make(chan string, 1) // the agent was asked
	for _, arg := range os.Args {
		name, port, _ := strings.Cut(arg, "=")
		if name != "--dashboard-port" && name != "--dashboard-agent-listen-port" {
			continue
		}
		l, err := net.Listen("tcp", "127.0.0.1:"+port)
		if err != nil {
			return err
		}
		go http.Serve(l, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { //nolint:errcheck // it ends with the process
			if r.URL.Path == "/api/local_raylet_healthz" {
				asked <- r.URL.Path
			}
		}))
	}
	<-asked
	if _, err := os.Stat(starts); err != nil {
		fmt.Fprintln(os.Stderr, "Exception: The current node timed out during startup.")
		return os.WriteFile(starts, nil, 0o600)
	}
	fmt.Fprintln(os.Stderr, started)
	select {}
}
