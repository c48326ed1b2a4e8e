package clowder_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/clowder/clienttest"
	"github.com/ncsa/clowder-ray/internal/clowder/clowdertest"
	"github.com/ncsa/clowder-ray/internal/job"
)

func TestAFolderThatHoldsItselfIsNamed(t *testing.T) {
	t.Parallel()
	server := startDouble(t, clowdertest.Options{})
	dataset := server.AddDataset("alice@example.org", "Reviews")
	file, err := server.AddFile(dataset, "a/b/x.csv", strings.NewReader("x"))
	require.NoError(t, err)
	client := clienttest.New(t, clowder.Config{URL: server.URL, Attempts: 1, CallTimeout: 2 * time.Second})
	s, err := client.At("", job.Secret(server.Key("alice@example.org")))
	require.NoError(t, err)
	files, err := s.Files(t.Context(), dataset)
	require.NoError(t, err)
	require.Len(t, files[0].Folders, 2)
	require.Equal(t, server.FolderOf(file), files[0].Folders[1])
	server.PutInto(files[0].Folders[0], files[0].Folders[1])
	_, err = s.Files(t.Context(), dataset)
	require.ErrorContains(t, err, "may hold itself")
	require.ErrorContains(t, err, server.FolderOf(file))
}
