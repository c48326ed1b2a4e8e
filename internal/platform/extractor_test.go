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
	for name, want := range map[string]platform.Kind{"ncsa.ray.predict": platform.Predict, "ncsa.ray.script": platform.Script, "ncsa.ray.finetune": platform.Train, "ncsa.ray.finetune-advanced": platform.Train, "": platform.Train, "of.another.service": platform.Train} {
		require.Equal(t, want, all.Of(job.Request{Extractor: name}).Kind, name)
	}
	require.Equal(t, "renamed", all[2].Name(), "Clowder knows it by its queue")
}

func TestAJobStopsEarlyIfItHasSomethingToKeep(t *testing.T) {
	t.Parallel()
	all := platformtest.Extractors(t)
	for extractor, refused := range map[string]string{
		"ncsa.ray.finetune": "", "ncsa.ray.script": "",
		"ncsa.ray.predict": "run ft-one is a prediction, which has nothing to keep before it ends: cancel it instead",
	} {
		rec := job.Record{Run: "ft-one", State: job.Running, Request: job.Request{Extractor: extractor}}
		err := all.Stop(&rec, "alice")
		if refused == "" {
			require.NoError(t, err)
			require.Equal(t, "alice", rec.StoppedBy, extractor)
			continue
		}
		require.EqualError(t, err, refused)
	}
}

func TestAnnouncedFilesGoOnWithPredictionsAfterAutomaticRunsWereSwitchedOff(t *testing.T) {
	t.Parallel()
	all := platformtest.Extractors(t)
	announced := []job.Announced{{File: "f1"}}
	automatic := platform.Extractor{Kind: platform.Predict, Info: all[2].Info, Automatic: true}
	for name, tc := range map[string]struct {
		all       platform.Extractors
		announced []job.Announced
		want      platform.Kind
	}{
		"announced files":                       {all, announced, platform.Predict},
		"a request of a user":                   {all, nil, platform.Train},
		"no predictions here":                   {platform.Extractors{all[0], all[3]}, announced, platform.Train},
		"another extractor that runs by itself": {platform.Extractors{all[0], automatic}, announced, platform.Train},
	} {
		got := tc.all.Of(job.Request{Extractor: "ncsa.ray.switched-off", Announced: tc.announced})
		require.Equal(t, tc.want, got.Kind, name)
		require.False(t, got.Automatic, name)
	}
	all[0].Queue = "renamed"
	require.Equal(t, []string{"renamed", all[1].Name(), all[2].Name(), all[3].Name(), all[4].Name()}, all.Names(), "the one that trains is first")
}

func TestARequestAboutAJobIsNotStoppedEarly(t *testing.T) {
	t.Parallel()
	rec := job.Record{Run: "ft-one", State: job.Running, Request: job.Request{Extractor: "ncsa.ray.runs"}}
	err := platformtest.Extractors(t).Stop(&rec, "alice")
	require.EqualError(t, err, "run ft-one is a request, which has nothing to keep before it ends: cancel it instead")
	kind, _ := job.Classify(err)
	require.Equal(t, job.KindPermanent, kind)
	require.Empty(t, rec.StoppedBy, "it goes on")
}
