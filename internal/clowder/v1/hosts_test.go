package v1_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/clowder/clienttest"
	"github.com/ncsa/clowder-ray/internal/clowder/clowdertest"
	v1 "github.com/ncsa/clowder-ray/internal/clowder/v1"
	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
)

// TestHostsOfMessagesOfAClowderBelowAPath has a Clowder at the path /clowder, as behind many web servers. The host in a message of v1 is the
// Host header of the submission and this path.
func TestHostsOfMessagesOfAClowderBelowAPath(t *testing.T) {
	t.Parallel()
	server := startDouble(t, clowdertest.Options{})
	line := httptest.NewServer(http.StripPrefix("/clowder", http.HandlerFunc(server.ServeHTTP)))
	t.Cleanup(line.Close)
	ds := server.AddDataset(alice, "d")
	const refused = "does not serve the Clowder host"
	for name, tc := range map[string]struct {
		allowed, host, want string // allowed is CLOWDER_HOSTS, want the error
	}{
		"as it is configured":                  {"/clowder", "/clowder", ""},
		"a slash at its end":                   {"/clowder", "/clowder/", ""},
		"several slashes at its end":           {"/clowder", "/clowder///", ""},
		"a slash at the end of the setting":    {"/clowder/", "/clowder", ""},
		"no path where the setting has one":    {"/clowder", "", refused},
		"a path below it":                      {"/clowder", "/clowder/api", refused},
		"another path":                         {"/clowder", "/other", refused},
		"a path that climbs":                   {"/clowder", "/clowder/../clowder", refused},
		"a path with an escape":                {"/clowder", "/%63lowder", refused},
		"a query after it":                     {"/clowder", "/clowder?key=1", refused},
		"a fragment after it":                  {"/clowder", "/clowder#x", refused},
		"a path where the setting has none":    {"", "/clowder", refused},
		"a slash where the setting has a path": {"/clowder", "/", refused},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := clienttest.New(t, clowder.Config{AllowedHosts: []string{line.URL + tc.allowed}})
			s, err := v1.At(client, line.URL+tc.host, job.Secret(server.Key(alice)))
			if tc.want != "" {
				clienttest.RequireKind(t, err, job.KindPermanent, 0)
				require.ErrorContains(t, err, tc.want)
				return
			}
			require.NoError(t, err)
			require.Equal(t, line.URL+"/clowder", s.Address(), "one spelling for all, so that the job has one folder and one user")
			got, err := s.Dataset(t.Context(), ds)
			require.NoError(t, err)
			require.Equal(t, "d", got.Name)
		})
	}
}

func TestASpaceThatWasRemoved(t *testing.T) {
	t.Parallel()
	const bob = "bob@example.org"
	server := startDouble(t, clowdertest.Options{})
	ds := server.AddDataset(alice, "d")
	server.Share(ds, bob, "editor")
	client := clienttest.New(t, clowder.Config{URLs: map[int]string{1: server.URL}})
	s, later := session(t, client, server.Key(bob)), session(t, client, server.Key(bob))
	folder, err := s.AddFolder(t.Context(), ds, "", "finetune")
	require.NoError(t, err)
	file, err := s.Upload(t.Context(), ds, "", text("a.txt", "", "abc"))
	require.NoError(t, err)
	server.Share(ds, bob, "") // the role of bob was that of the space
	const mayAdd = "ask the dataset owner for the right to add files to the dataset (editor)"
	for name, tc := range map[string]struct {
		call   func() error
		status int
		want   string
	}{
		"reading the dataset": {
			func() error { _, err := s.Dataset(t.Context(), ds); return err }, 404,
			"it was deleted, or you lack the right to view the dataset",
		},
		"listing the files": {
			func() error { _, err := s.Files(t.Context(), ds); return err }, 404,
			"it was deleted, or you lack the right to view the dataset",
		},
		"a download": {
			func() error {
				_, err := s.Stage(t.Context(), []clowder.File{file}, disk.Folder{Volume: t.TempDir()}, nil)
				return err
			}, 404,
			"it was deleted, or you lack the right to download the files of the dataset",
		},
		"an upload":    {func() error { _, err := s.Upload(t.Context(), ds, folder, text("b", "", "b")); return err }, 403, mayAdd},
		"a new folder": {func() error { _, err := s.AddFolder(t.Context(), ds, folder, "run"); return err }, 403, mayAdd},
		"an entry":     {func() error { _, err := s.AddMetadata(t.Context(), ds, clowder.Metadata{}); return err }, 403, mayAdd},
		"a preview": {func() error {
			_, err := s.AddPreview(t.Context(), file.ID, "x", text("p.png", "image/png", "p"))
			return err
		}, 403, mayAdd},
		"a submission":    {func() error { _, err := s.Submit(t.Context(), ds, "x", nil); return err }, 403, "submit the dataset (editor)"},
		"the look before": {func() error { _, err := later.FindFolder(t.Context(), ds, "", "finetune"); return err }, 404, "you lack the right to add files"},
	} {
		err := tc.call()
		clienttest.RequireKind(t, err, job.KindPermanent, tc.status)
		require.ErrorContains(t, err, tc.want, name)
		require.NotContains(t, err.Error(), server.Key(bob), name)
	}
	role, err := s.Role(t.Context(), ds)
	require.NoError(t, err)
	require.Equal(t, clowder.NoRole, role)
}
