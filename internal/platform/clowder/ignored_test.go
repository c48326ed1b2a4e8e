package clowder

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/platform/ignore"
)

// TestADatasetSaysWhichFilesTakeNoPart in both versions of Clowder.
func TestADatasetSaysWhichFilesTakeNoPart(t *testing.T) {
	t.Parallel()
	const finetune = "finetune.yaml"
	for name, tc := range map[string]struct {
		doc   string
		file  string // what is submitted, empty for the dataset
		model string // the model to predict with
		want  []string
		said  string
		fault string
	}{
		"nothing is left out":      {"# all of them", "", "", []string{"a.csv", "raw/b.csv", "raw/c.tif", finetune}, "", ""},
		"a folder":                 {"raw/", "", "", []string{"a.csv", finetune}, "Left out 2 files, as .clowderignore asks", ""},
		"all but one":              {"*\n!a.csv", "", "", []string{"a.csv"}, "Left out 3 files", ""},
		"the settings file":        {finetune, "", "", []string{"a.csv", "raw/b.csv", "raw/c.tif"}, "Left out 1 file", ""},
		"results stay left out":    {"!finetune/**", "", "", []string{"a.csv", "raw/b.csv", "raw/c.tif", finetune}, "", ""},
		"the chosen model":         {"*\n!a.csv", "", "finetune/run/model.zip", []string{"a.csv", "finetune/run/model.zip"}, "Left out 3 files", ""},
		"a file that is submitted": {"raw/", "raw/b.csv", "", []string{"raw/b.csv"}, "", ""},
		"everything":               {"*", "", "", nil, "", "leaves out all files of the dataset"},
		"a pattern that is wrong":  {"[a-", "", "", nil, "", "line 1 is no pattern"},
		"a file that is too large": {strings.Repeat("#", ignore.MaxBytes+1), "", "", nil, "", "larger than"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, version := range []int{1, 2} {
				d := newDeliveryTo(t, version, alice)
				ids := map[string]string{}
				for path, body := range map[string]string{
					ignore.Name: tc.doc, "a.csv": "a", "raw/b.csv": "b", "raw/c.tif": "c", finetune: "epochs: 3", "finetune/run/model.zip": "m", "finetune/run/manifest.json": "{}",
				} {
					id, err := d.server.AddFile(d.rec.Request.DatasetID, path, strings.NewReader(body))
					require.NoError(t, err)
					ids[path] = id
				}
				rec, said := d.rec, []string{}
				rec.Settings = job.NewSettings(map[string]any{"model_file": ids[tc.model]})
				if tc.file != "" {
					rec.Request.Kind, rec.Request.ResourceID = job.File, ids[tc.file]
				}
				inputs, _, err := d.platform.Stage(t.Context(), rec, disk.Folder{Volume: t.TempDir()}, hear(&said))
				if tc.fault != "" {
					require.ErrorContains(t, err, tc.fault)
					kind, _ := job.Classify(err)
					require.Equal(t, job.KindPermanent, kind)
					continue
				}
				require.NoError(t, err)
				var got []string
				for _, in := range inputs {
					got = append(got, in.Name)
				}
				require.ElementsMatch(t, tc.want, got, "version %d", version)
				require.Contains(t, strings.Join(said, "\n"), tc.said)
				if tc.said == "" {
					require.NotContains(t, strings.Join(said, "\n"), "Left out")
				}
			}
		})
	}
}
