package clowder

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
)

func TestAJobReadsTheSubmittedFileOrTheDataset(t *testing.T) {
	t.Parallel()
	for _, version := range []int{1, 2} {
		d := newDeliveryTo(t, version, alice)
		ids := map[string]string{}
		for _, path := range []string{"a.csv", "folder/b.csv", "finetune/earlier/manifest.json", "finetune/earlier/model.zip", "finetune/earlier/predictions.csv", "finetune/mine.csv"} {
			var err error
			ids[path], err = d.server.AddFile(d.rec.Request.DatasetID, path, strings.NewReader("text,label\na,b\n"))
			require.NoError(t, err)
		}
		for name, tc := range map[string]struct {
			kind     job.ResourceKind
			resource string
			model    string
			want     []string
		}{
			"the dataset":                        {job.Dataset, d.rec.Request.DatasetID, "", []string{"a.csv", "finetune/mine.csv", "folder/b.csv"}},
			"the dataset, with a model":          {job.Dataset, d.rec.Request.DatasetID, "finetune/earlier/model.zip", []string{"a.csv", "finetune/earlier/model.zip", "finetune/mine.csv", "folder/b.csv"}},
			"a file":                             {job.File, ids["folder/b.csv"], "", []string{"folder/b.csv"}},
			"a file, with a model":               {job.File, ids["a.csv"], "finetune/earlier/model.zip", []string{"a.csv", "finetune/earlier/model.zip"}},
			"a result that somebody submits":     {job.File, ids["finetune/earlier/predictions.csv"], "", []string{"finetune/earlier/predictions.csv"}},
			"a file that was deleted since then": {job.File, "655fd7c3e4b0a1b2c3d4e5f6", "", nil},
		} {
			rec := d.rec
			rec.Request.Kind, rec.Request.ResourceID = tc.kind, tc.resource
			rec.Settings = job.NewSettings(map[string]any{"model_file": ids[tc.model]})
			inputs, _, err := d.platform.Stage(t.Context(), rec, disk.Folder{Volume: t.TempDir()}, quiet)
			if tc.want == nil {
				require.ErrorContains(t, err, "no longer in its dataset", name)
				continue
			}
			require.NoError(t, err, name)
			var got []string
			for _, in := range inputs {
				got = append(got, in.Path)
			}
			require.ElementsMatch(t, tc.want, got, name)
		}
	}
}
