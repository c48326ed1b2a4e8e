package pipeline

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/pipeline/model"
	"github.com/ncsa/clowder-ray/internal/registry"
	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/delivery"
	"github.com/ncsa/clowder-ray/internal/results/manifest"
)

func TestATrainingIsRegisteredOnceAndShownInItsReport(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t)
		var shown manifest.Meta
		b.deliverer.BuildFiles = func(ctx context.Context, run, to disk.Folder, r *results.Result, m manifest.Meta) ([]delivery.Artifact, error) {
			shown = m
			return delivery.Build(ctx, run, to, r, m)
		}
		b.accept(t, run, nil)
		b.runUntilOver(t)
		rec := b.get(t, run)
		v, err := model.Of(rec)
		require.NoError(t, err)
		require.Equal(t, run, v.Run)
		require.Equal(t, rec.Created, v.Created, "not the time of the day")
		require.True(t, v.Won())
		require.NotEmpty(t, v.Files)
		require.Equal(t, manifest.ModelVersion{Name: "model", Version: 1, Champion: "model/1", BestSoFar: true}, shown.Model)

		// A kill after the registration, before the record says so.
		rec.Model, rec.State = nil, job.Finished
		apply, err := b.deliverer.Collect(t.Context(), rec)
		require.NoError(t, err)
		require.NoError(t, apply(&rec))
		require.JSONEq(t, string(b.get(t, run).Model), string(rec.Model))
		all, err := b.registry.All(registry.Dataset{ID: rec.Request.DatasetID})
		require.NoError(t, err)
		require.Len(t, all, 1)
	})
}
