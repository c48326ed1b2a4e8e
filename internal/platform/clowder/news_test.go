package clowder

import (
	"maps"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/options"
)

// TestOnlyDataThatWasAnnouncedAndIsWantedIsNews in both versions of Clowder.
func TestOnlyDataThatWasAnnouncedAndIsWantedIsNews(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		settings  map[string]string
		announced []string // paths, or names after an equals sign
		want      []string
		reason    string
		fault     string
	}{
		"new files":                        {map[string]string{"finetune.yaml": "automatic: predict"}, []string{"a.csv", "folder/b.csv"}, []string{"a.csv", "folder/b.csv"}, "", ""},
		"names, as v1 tells several files": {map[string]string{"finetune.yaml": "automatic: predict"}, []string{"=b.csv", "=b.csv"}, []string{"folder/b.csv"}, "", ""},
		"beside settings and results":      {map[string]string{"finetune.yaml": "automatic: predict"}, []string{"a.csv", "finetune.yaml", "finetune/run/report.html"}, []string{"a.csv"}, "", ""},
		"only settings and results":        {map[string]string{"finetune.yaml": "automatic: predict"}, []string{"finetune.yaml", "finetune/run/report.html"}, nil, noNewData, ""},
		"beside files that are left out":   {map[string]string{"finetune.yaml": "automatic: predict", ".clowderignore": "folder/"}, []string{"a.csv", "folder/b.csv", ".clowderignore"}, []string{"a.csv"}, "", ""},
		"only files that are left out":     {map[string]string{"finetune.yaml": "automatic: predict", ".clowderignore": "folder/"}, []string{"folder/b.csv"}, nil, noNewData, ""},
		"files that are gone":              {map[string]string{"finetune.yaml": "automatic: predict"}, []string{"gone.csv"}, nil, noNews, ""},
		"without settings":                 {nil, []string{"a.csv"}, nil, notAsked, ""},
		"settings that ask for nothing":    {map[string]string{"finetune.yaml": "epochs: 3"}, []string{"a.csv"}, nil, notAsked, ""},
		"settings of a result":             {map[string]string{"finetune/run/finetune.yaml": "automatic: predict"}, []string{"a.csv"}, nil, notAsked, ""},
		"the settings nearest to the top":  {map[string]string{"x/finetune.yaml": "automatic: predict", "finetune.yml": "automatic: no"}, []string{"a.csv"}, nil, notAsked, ""},
		"settings that are wrong":          {map[string]string{"finetune.yaml": "automatic: train"}, []string{"a.csv"}, nil, "", "finetune.yaml, line 1: automatic must be predict or no"},
		"settings that are too large":      {map[string]string{"finetune.yaml": strings.Repeat("#", options.MaxBytes+1)}, []string{"a.csv"}, nil, "", "larger than 1 MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, version := range []int{1, 2} {
				d := newDeliveryTo(t, version, alice)
				files := map[string]string{"a.csv": "a", "folder/b.csv": "b", "finetune/run/report.html": "r", "finetune/run/manifest.json": "{}"}
				maps.Copy(files, tc.settings)
				ids, paths := map[string]string{"gone.csv": "655fd7c3e4b0a1b2c3d4e5f6"}, map[string]string{}
				for path, body := range files {
					id, err := d.server.AddFile(d.rec.Request.DatasetID, path, strings.NewReader(body))
					require.NoError(t, err)
					ids[path], paths[id] = id, path
				}
				rec := d.rec
				for _, path := range tc.announced {
					if after, ok := strings.CutPrefix(path, "="); ok {
						rec.Request.Announced = append(rec.Request.Announced, job.Announced{Name: after})
					} else {
						rec.Request.Announced = append(rec.Request.Announced, job.Announced{File: ids[path], JobID: path})
					}
				}
				dir := disk.Folder{Volume: t.TempDir()}
				news, reason, err := d.platform.News(t.Context(), rec, dir)
				if tc.fault != "" {
					require.ErrorContains(t, err, tc.fault)
					kind, _ := job.Classify(err)
					require.Equal(t, job.KindPermanent, kind)
					continue
				}
				require.NoError(t, err)
				require.Equal(t, tc.reason, reason)
				var got []string
				for _, a := range news {
					got = append(got, paths[a.File])
				}
				require.ElementsMatch(t, tc.want, got, "version %d", version)
				if len(news) == 0 {
					continue
				}
				rec.Request.Announced = news
				inputs, _, err := d.platform.Stage(t.Context(), rec, dir, quiet)
				require.NoError(t, err)
				require.Len(t, inputs, len(tc.want), "nothing else is staged")
			}
		})
	}
}
