// Package clienttest has what the tests of several packages do with a client of Clowder.
package clienttest

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
)

// New returns a client with a cache of its own and short pauses, unless cfg says otherwise. The test closes it.
func New(tb testing.TB, cfg clowder.Config) *clowder.Client {
	tb.Helper()
	if cfg.Cache == (disk.Folder{}) {
		cfg.Cache = disk.Folder{Volume: tb.TempDir(), Name: "cache"}
	}
	if cfg.Backoff == 0 {
		cfg.Backoff = time.Millisecond
	}
	client, err := clowder.NewClient(cfg)
	require.NoError(tb, err)
	tb.Cleanup(func() { require.NoError(tb, client.Close()) })
	return client
}

// RequireKind checks that err is of a kind, comes from an answer with this status, and is one line.
func RequireKind(tb testing.TB, err error, want job.Kind, status int) {
	tb.Helper()
	require.Error(tb, err)
	kind, _ := job.Classify(err)
	require.Equal(tb, want, kind, "%v", err)
	require.Equal(tb, status, clowder.StatusOf(err), "%v", err)
	require.NotContains(tb, err.Error(), "\n")
}

// Finder is a session of either version.
type Finder interface {
	FindFileMetadata(ctx context.Context, file string, match func(clowder.Metadata) bool) (clowder.Metadata, bool, error)
}

// FileMetadata returns all metadata of a file.
func FileMetadata(ctx context.Context, s Finder, file string) (all []clowder.Metadata, err error) {
	_, _, err = s.FindFileMetadata(ctx, file, func(m clowder.Metadata) bool {
		all = append(all, m)
		return false
	})
	return all, err
}
