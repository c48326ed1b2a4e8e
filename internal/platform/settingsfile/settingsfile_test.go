package settingsfile_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/platform/settingsfile"
)

func TestASettingsFileSaysWhatItAsksFor(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		doc   string
		want  settingsfile.Options
		fault string
	}{
		"nothing":                           {"epochs: 3\n", settingsfile.Options{}, ""},
		"an empty file":                     {"", settingsfile.Options{}, ""},
		"only a comment":                    {"# automatic: predict\n", settingsfile.Options{}, ""},
		"predictions":                       {"epochs: 3\nautomatic: predict\n", settingsfile.Options{Predict: true}, ""},
		"predictions in JSON":               {`{"automatic": "predict"}`, settingsfile.Options{Predict: true}, ""},
		"no":                                {"automatic: no\n", settingsfile.Options{}, ""},
		"something that is not known":       {"automatic: train\n", settingsfile.Options{}, "automatic must be predict or no"},
		"yes, which does not say what":      {"automatic: yes\n", settingsfile.Options{}, "automatic must be predict or no"},
		"a list":                            {"automatic: [predict]\n", settingsfile.Options{}, "automatic must be predict or no"},
		"labels from metadata":              {"label_from: metadata.species\n", settingsfile.Options{LabelFrom: "metadata.species"}, ""},
		"labels from metadata in its group": {"data:\n  label_from: metadata.species\n", settingsfile.Options{LabelFrom: "metadata.species"}, ""},
		"labels in another form":            {"data.label_from: metadata.species\n", settingsfile.Options{LabelFrom: "metadata.species"}, ""},
		"a text":                            {"just a text", settingsfile.Options{}, "cannot be read"},
		"broken YAML":                       {"a: [", settingsfile.Options{}, "cannot be read"},
		"a duplicate":                       {"automatic: no\nautomatic: predict\n", settingsfile.Options{Predict: true}, ""},
		"too much":                          {strings.Repeat("#", settingsfile.MaxBytes+1), settingsfile.Options{}, "larger than 1 MiB"},
		"a few lines that mean a billion":   {"a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: &f [*e,*e,*e,*e,*e,*e,*e,*e,*e]\ng: &g [*f,*f,*f,*f,*f,*f,*f,*f,*f]\nh: [*g,*g,*g,*g,*g,*g,*g,*g,*g]\n", settingsfile.Options{}, "cannot be read"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := settingsfile.Parse("finetune.yaml", []byte(tc.doc))
			if tc.fault == "" {
				require.NoError(t, err)
				require.Equal(t, tc.want, got)
				return
			}
			require.ErrorContains(t, err, tc.fault)
			kind, _ := job.Classify(err)
			require.Equal(t, job.KindPermanent, kind)
		})
	}
}

func TestTheSettingsFileNearestToTheTopCounts(t *testing.T) {
	t.Parallel()
	require.True(t, settingsfile.Is("deep/FineTune.YML"))
	require.False(t, settingsfile.Is("finetune.yaml/data.csv"))
	require.True(t, settingsfile.Better("finetune.yml", "a/finetune.yaml"))
	require.True(t, settingsfile.Better("a/finetune.yaml", "b/finetune.yaml"))
}

func FuzzParse(f *testing.F) {
	for _, doc := range []string{"automatic: predict", "data: {label_from: metadata.x}", "a: &a [*a]", "- 1", "\x00"} {
		f.Add([]byte(doc))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		if _, err := settingsfile.Parse("finetune.yaml", doc); err != nil {
			kind, _ := job.Classify(err)
			require.Equal(t, job.KindPermanent, kind)
		}
	})
}
