package clowder

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/clowder/clowdertest"
	"github.com/ncsa/clowder-ray/internal/clowder/mount"
	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/platform/platformtest"
)

// TestFilesOfMountedFoldersAreNotDownloaded in both versions of Clowder. What the folder has is used only if it is the file that Clowder lists.
func TestFilesOfMountedFoldersAreNotDownloaded(t *testing.T) {
	t.Parallel()
	large := strings.Repeat("x", 200_000)
	for _, version := range []int{1, 2} {
		t.Run(fmt.Sprintf("version %d", version), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			server, err := clowdertest.New(clowdertest.Options{Version: version})
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, server.Close()) })
			mounted, outside := filepath.Join(dir, "mounted"), filepath.Join(dir, "outside")
			require.NoError(t, os.MkdirAll(filepath.Join(mounted, "sub"), 0o700))
			require.NoError(t, os.WriteFile(outside, []byte("outside!"), 0o600))
			require.NoError(t, os.Symlink(outside, filepath.Join(mounted, "link.csv")))
			dataset := server.AddDataset(alice, "Reviews")
			want, ids := map[string]string{}, map[string]string{}
			for name, tc := range map[string]struct{ there, here, stored string }{
				"small.csv":   {"of Clowder", "of a mount", "/data/sub/small.csv"},
				"large.csv":   {large, large, "/data/large.csv"},
				"other.csv":   {"longer in Clowder", "short", "/data/other.csv"},
				"missing.csv": {"in Clowder", "", "/data/missing.csv"},
				"link.csv":    {"download", "", "/data/link.csv"},
				"climbs.csv":  {"download", "", "/data/../data/../" + filepath.Base(outside)},
				"away.csv":    {"download", "", "/database/away.csv"},
			} {
				ids[name], err = server.AddFile(dataset, name, strings.NewReader(tc.there))
				require.NoError(t, err)
				server.Register(ids[name], tc.stored)
				if want[name] = tc.there; tc.here != "" {
					require.NoError(t, os.WriteFile(filepath.Join(mounted, strings.TrimPrefix(tc.stored, "/data/")), []byte(tc.here), 0o600))
				}
			}
			want["small.csv"] = "of a mount" // it has the size that Clowder lists
			cfg := clowder.Config{URL: server.URL, Cache: disk.Folder{Volume: filepath.Join(dir, "cache")}, Mounts: mount.Paths{"/data": mounted}}
			if version == 1 {
				cfg.URL, cfg.URLs = "", map[int]string{1: server.URL}
			}
			client, err := clowder.NewClient(cfg)
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, client.Close()) })
			rec := job.New(run, job.Predict, job.Request{APIVersion: version, DatasetID: dataset, Kind: job.Dataset, Extractor: "ncsa.ray.predict"}, job.Secret(server.Key(alice)))
			to := disk.Folder{Volume: filepath.Join(dir, "inputs")}
			inputs, _, err := New(client, platformtest.Extractors(t)).Stage(t.Context(), rec, to, quiet)
			require.NoError(t, err)
			require.Len(t, inputs, len(want))
			for _, in := range inputs {
				body, err := os.ReadFile(filepath.Join(to.Path(), in.Path))
				require.NoError(t, err)
				require.Equal(t, want[in.Name], string(body), in.Name)
			}
			for name, n := range map[string]int{"small.csv": 0, "large.csv": 0, "other.csv": 1, "missing.csv": 1, "link.csv": 1, "climbs.csv": 1, "away.csv": 1} {
				require.Equal(t, n, downloads(server, ids[name]), name)
			}
		})
	}
}

func downloads(server *clowdertest.Server, file string) int {
	asked, counted := server.Downloads(file)
	return asked + counted
}
