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
