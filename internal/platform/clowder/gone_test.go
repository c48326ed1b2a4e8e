package clowder

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/clowder/clowdertest"
	"github.com/ncsa/clowder-ray/internal/clowder/mount"
	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/platform/platformtest"
)

// TestFilesDeletedWhileTheyAreStaged: the job does without them and says so, unless its user named one.
func TestFilesDeletedWhileTheyAreStaged(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		version  int
		deleted  []string // of a.csv and b.csv
		settings map[string]any
		left     []string
		fault    string
	}{
		"one of two in v1":      {version: 1, deleted: []string{"b.csv"}, left: []string{"b.csv"}},
		"one of two in v2":      {version: 2, deleted: []string{"b.csv"}, left: []string{"b.csv"}},
		"one the form names":    {version: 2, deleted: []string{"b.csv"}, settings: map[string]any{"data_file": "b.csv"}, fault: "b.csv was deleted after you chose it"},
		"another than is named": {version: 2, deleted: []string{"b.csv"}, settings: map[string]any{"data_file": "a.csv"}, left: []string{"b.csv"}},
		"all of them":           {version: 2, deleted: []string{"a.csv", "b.csv"}, fault: "it was deleted"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDeliveryTo(t, tc.version, alice)
			for _, file := range []string{"a.csv", "b.csv"} {
				id, err := d.server.AddFile(d.rec.Request.DatasetID, file, strings.NewReader(file))
				require.NoError(t, err)
				for _, gone := range tc.deleted {
					if gone == file {
						d.server.Fail(clowdertest.Fault{Method: http.MethodGet, Path: "/files/" + id, Status: http.StatusNotFound})
					}
				}
			}
			d.rec.Settings = job.NewSettings(tc.settings)
			inputs, left, err := d.platform.Stage(t.Context(), d.rec, disk.Folder{Volume: t.TempDir()}, quiet)
			if tc.fault != "" {
				require.ErrorContains(t, err, tc.fault)
				kind, _ := job.Classify(err)
				require.Equal(t, job.KindPermanent, kind)
				return
			}
			require.NoError(t, err)
			require.Len(t, inputs, 2-len(tc.deleted))
			var named []string
			for _, l := range left {
				named = append(named, l.Name)
				require.Equal(t, whyGone, l.Reason)
			}
			require.Equal(t, tc.left, named)
		})
	}
}

// TestAFolderDeletedWhileItIsListed takes its own files out of the job, and no others.
func TestAFolderDeletedWhileItIsListed(t *testing.T) {
	t.Parallel()
	d := newDelivery(t, alice)
	for _, file := range []string{"cats/1.txt", "dogs/2.txt"} {
		_, err := d.server.AddFile(d.rec.Request.DatasetID, file, strings.NewReader(file))
		require.NoError(t, err)
	}
	files, err := d.session(t).Files(t.Context(), d.rec.Request.DatasetID)
	require.NoError(t, err)
	require.Equal(t, "cats/1.txt", files[0].Path)
	d.server.Fail(clowdertest.Fault{Path: "/folders/" + files[0].FolderID + "/path", Status: http.StatusNotFound})
	inputs, left, err := d.platform.Stage(t.Context(), d.rec, disk.Folder{Volume: t.TempDir()}, quiet)
	require.NoError(t, err)
	require.Len(t, inputs, 1)
	require.Equal(t, "dogs/2.txt", inputs[0].Name)
	require.Equal(t, []job.NotRead{{Name: "1.txt", Reason: whyGone}}, left, "its folder has no path any more")
}

// TestAFileOverwrittenInItsPlaceIsReadAgain although Clowder lists the same version and size.
func TestAFileOverwrittenInItsPlaceIsReadAgain(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		version int
		mounted bool
	}{
		"in a mounted folder, v1":  {1, true},
		"in a mounted folder, v2":  {2, true},
		"registered by a path, v2": {2, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDeliveryTo(t, tc.version, alice)
			id, err := d.server.AddFile(d.rec.Request.DatasetID, "a.csv", strings.NewReader("before"))
			require.NoError(t, err)
			d.server.Register(id, "/data/a.csv")
			here := filepath.Join(d.bodies, id)
			cfg := clowder.Config{URL: d.server.URL, Cache: disk.Folder{Volume: filepath.Join(d.dir, "other cache")}}
			if tc.version == 1 {
				cfg.URL, cfg.URLs = "", map[int]string{1: d.server.URL}
			}
			if tc.mounted {
				mounted := t.TempDir()
				here, cfg.Mounts = filepath.Join(mounted, "a.csv"), mount.Paths{"/data": mounted}
				require.NoError(t, os.WriteFile(here, []byte("before"), 0o600))
			}
			client, err := clowder.NewClient(cfg)
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, client.Close()) })
			p := New(client, platformtest.Extractors(t))
			for i, content := range []string{"before", "after.", "before"} {
				require.NoError(t, os.WriteFile(here, []byte(content), 0o600))
				changed := time.Now().Add(time.Duration(i) * time.Hour) // of a file system that counts coarse
				require.NoError(t, os.Chtimes(here, changed, changed))
				to := disk.Folder{Volume: t.TempDir()}
				inputs, _, err := p.Stage(t.Context(), d.rec, to, quiet)
				require.NoError(t, err)
				body, err := os.ReadFile(filepath.Join(to.Path(), inputs[0].Path))
				require.NoError(t, err)
				require.Equal(t, content, string(body))
			}
		})
	}
}
