//go:build integration

package v1_test

import (
	"os"
	"testing"
)

// realSite is the real Clowder v1 that the environment names.
func realSite(t *testing.T) site {
	t.Helper()
	at := site{
		url: os.Getenv("CLOWDER_URL"), key: os.Getenv("CLOWDER_KEY"), key2: os.Getenv("CLOWDER_KEY_2"), global: os.Getenv("CLOWDER_GLOBAL_KEY"),
	}
	if at.url == "" || at.key == "" || os.Getenv("CLOWDER_VERSION") != "1" {
		t.Skip("no real Clowder v1 is given: CLOWDER_URL and CLOWDER_KEY are not set, or CLOWDER_VERSION is not 1")
	}
	return at
}

func TestContractReal(t *testing.T) { runContract(t, realSite(t)) }

func TestSelectedDatasetsReal(t *testing.T) { runSelected(t, realSite(t)) }

func TestCasesReal(t *testing.T) {
	at := realSite(t)
	if at.key2 == "" || at.global == "" {
		t.Skip("the cases need a second user and the key of the installation: CLOWDER_KEY_2, CLOWDER_GLOBAL_KEY")
	}
	runCases(t, at)
}
