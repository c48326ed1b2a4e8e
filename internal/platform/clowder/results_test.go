package clowder

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/disk"
)

func TestResultsAreInFoldersOfRuns(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		beside string
		file   string
		want   bool
	}{
		"beside a manifest":                     {"finetune/a/manifest.json", "finetune/a/model.zip", true},
		"below a manifest":                      {"finetune/a/manifest.json", "finetune/a/plots/loss.png", true},
		"a delivery that has begun":             {"finetune/2026-11-29-bert-tiny-ab12/predictions.csv", "finetune/2026-11-29-bert-tiny-ab12/predictions.csv", true},
		"another folder":                        {"finetune/a/manifest.json", "finetune/b/train.csv", false},
		"directly in the folder":                {"finetune/a/manifest.json", "finetune/train.csv", false},
		"the manifest of the user":              {"finetune/manifest.json", "finetune/a/train.csv", false},
		"a log in a folder of the user":         {"finetune/plots/log.txt", "finetune/plots/1.png", false},
		"a dated folder of the user":            {"finetune/2026-11-29/log.txt", "finetune/2026-11-29/1.png", false},
		"a manifest outside of the folder":      {"data/a/manifest.json", "data/a/train.csv", false},
		"a folder whose name begins in the way": {"finetune2/a/manifest.json", "finetune2/a/train.csv", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := clowder.File{Path: tc.file}
			require.Equal(t, tc.want, resultsAmong([]clowder.File{{Path: tc.beside}, file}).hold(file))
		})
	}
}

func TestFilesThatAreStillBeingUploadedAreNamed(t *testing.T) {
	t.Parallel()
	for _, version := range []int{1, 2} {
		d := newDeliveryTo(t, version, alice)
		d.server.AddUnfinishedFile(d.rec.Request.DatasetID, "train_part2.csv")
		_, late, err := d.platform.Stage(t.Context(), d.rec, disk.Folder{Volume: t.TempDir()}, quiet)
		require.NoError(t, err)
		require.Len(t, late, 1, "version %d", version)
		require.Equal(t, "train_part2.csv", late[0].Name)
		require.Contains(t, late[0].Reason, "being uploaded")
	}
}
