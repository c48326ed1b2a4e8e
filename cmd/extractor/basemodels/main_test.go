package basemodels_test

import (
	"context"
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// childVar makes this test binary run one command line instead of tests: the command is killed by a test.
const childVar = "BASEMODELS_CHILD"

func TestMain(m *testing.M) {
	if volume := os.Getenv(childVar); volume != "" {
		err := execute(context.Background(), volume, nil, os.Stdin, os.Stdout, os.Stderr, os.Getenv, os.Args[1:]...)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1) //nolint:forbidigo // this process is the child of a test
		}
		os.Exit(0) //nolint:forbidigo // this process is the child of a test
	}
	goleak.VerifyTestMain(m)
}
