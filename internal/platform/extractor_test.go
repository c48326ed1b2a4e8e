package platform_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/platform"
	"github.com/ncsa/clowder-ray/internal/platform/platformtest"
)

func TestARequestKnowsItsExtractor(t *testing.T) {
	t.Parallel()
	all := platformtest.Extractors(t)
	all[2].Queue = "renamed"
	for name, want := range map[string]job.Work{"ncsa.ray.predict": job.Predict, "ncsa.ray.script": job.Script, "ncsa.ray.finetune": job.Train, "ncsa.ray.finetune-advanced": job.Train, "": job.Train, "of.another.service": job.Train} {
		require.Equal(t, want, all.Of(job.Request{Extractor: name}).Kind, name)
	}
	require.Equal(t, "renamed", all[2].Name(), "Clowder knows it by its queue")
}

func TestAnnouncedFilesGoOnWithPredictionsAfterAutomaticRunsWereSwitchedOff(t *testing.T) {
	t.Parallel()
	all := platformtest.Extractors(t)
	announced := []job.Announced{{File: "f1"}}
	automatic := platform.Extractor{Kind: job.Predict, Info: all[2].Info, Automatic: true}
	for name, tc := range map[string]struct {
		all       platform.Extractors
		announced []job.Announced
		want      job.Work
	}{
		"announced files":                       {all, announced, job.Predict},
		"a request of a user":                   {all, nil, job.Train},
		"no predictions here":                   {platform.Extractors{all[0], all[3]}, announced, job.Train},
		"another extractor that runs by itself": {platform.Extractors{all[0], automatic}, announced, job.Train},
	} {
		got := tc.all.Of(job.Request{Extractor: "ncsa.ray.switched-off", Announced: tc.announced})
		require.Equal(t, tc.want, got.Kind, name)
		require.False(t, got.Automatic, name)
	}
	all[0].Queue = "renamed"
	require.Equal(t, []string{"renamed", all[1].Name(), all[2].Name(), all[3].Name(), all[4].Name()}, all.Names(), "the one that trains is first")
}
