//go:build integration

package clowder_test

import (
	"os"
	"testing"
)

// TestContractReal runs the contract against the Clowder v2 at CLOWDER_URL with the keys of two users.
func TestContractReal(t *testing.T) {
	at := site{url: os.Getenv("CLOWDER_URL"), key: os.Getenv("CLOWDER_KEY"), key2: os.Getenv("CLOWDER_KEY_2"), broker: os.Getenv("RABBITMQ_URI")}
	if at.url == "" || at.key == "" {
		t.Skip("no real Clowder: CLOWDER_URL and CLOWDER_KEY are not set")
	}
	runContract(t, at)
}
