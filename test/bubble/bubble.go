// Package bubble holds what tests need that use testing/synctest.
package bubble
