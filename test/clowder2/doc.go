// Package clowder2 proves the service against a real Clowder v2, which somebody else has started: RIG_ENV names a file with its addresses
// and keys. Ray is the double.
package clowder2
