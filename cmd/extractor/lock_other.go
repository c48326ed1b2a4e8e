//go:build !linux

package main

// lockStateDir locks nothing: the service is deployed only on Linux.
func lockStateDir(string) (release func() error, err error) { return func() error { return nil }, nil }
