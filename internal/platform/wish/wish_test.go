package wish_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/platform/wish"
)

func TestASettingsFileSaysWhatItAsksFor(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		doc   string
		want  wish.Wish
		fault string
	}{
		"nothing":                           {"epochs: 3\n", wish.Wish{}, ""},
		"an empty file":                     {"", wish.Wish{}, ""},
		"only a comment":                    {"# automatic: predict\n", wish.Wish{}, ""},
		"predictions":                       {"epochs: 3\nautomatic: predict\n", wish.Wish{Predict: true}, ""},
		"predictions in JSON":               {`{"automatic": "predict"}`, wish.Wish{Predict: true}, ""},
		"no":                                {"automatic: no\n", wish.Wish{}, ""},
		"something that is not known":       {"automatic: train\n", wish.Wish{}, "automatic must be predict or no"},
		"yes, which does not say what":      {"automatic: yes\n", wish.Wish{}, "automatic must be predict or no"},
		"a list":                            {"automatic: [predict]\n", wish.Wish{}, "automatic must be predict or no"},
		"labels from metadata":              {"label_from: metadata.species\n", wish.Wish{LabelFrom: "metadata.species"}, ""},
		"labels from metadata in its group": {"data:\n  label_from: metadata.species\n", wish.Wish{LabelFrom: "metadata.species"}, ""},
		"labels in another form":            {"data.label_from: metadata.species\n", wish.Wish{LabelFrom: "metadata.species"}, ""},
		"a text":                            {"just a text", wish.Wish{}, "cannot be read"},
		"broken YAML":                       {"a: [", wish.Wish{}, "cannot be read"},
		"a duplicate":                       {"automatic: no\nautomatic: predict\n", wish.Wish{Predict: true}, ""},
		"too much":                          {strings.Repeat("#", wish.MaxBytes+1), wish.Wish{}, "larger than 1 MiB"},
		"a few lines that mean a billion":   {"a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: &f [*e,*e,*e,*e,*e,*e,*e,*e,*e]\ng: &g [*f,*f,*f,*f,*f,*f,*f,*f,*f]\nh: [*g,*g,*g,*g,*g,*g,*g,*g,*g]\n", wish.Wish{}, "cannot be read"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := wish.Parse("finetune.yaml", []byte(tc.doc))
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
	require.True(t, wish.IsSettings("deep/FineTune.YML"))
	require.False(t, wish.IsSettings("finetune.yaml/data.csv"))
	require.True(t, wish.Better("finetune.yml", "a/finetune.yaml"))
	require.True(t, wish.Better("a/finetune.yaml", "b/finetune.yaml"))
}

func FuzzParse(f *testing.F) {
	for _, doc := range []string{"automatic: predict", "data: {label_from: metadata.x}", "a: &a [*a]", "- 1", "\x00"} {
		f.Add([]byte(doc))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		if _, err := wish.Parse("finetune.yaml", doc); err != nil {
			kind, _ := job.Classify(err)
			require.Equal(t, job.KindPermanent, kind)
		}
	})
}
