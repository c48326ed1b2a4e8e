package request

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/job/jobtest"
)

func TestHowARunIsCalled(t *testing.T) {
	t.Parallel()
	rec := jobtest.Record("ft-bfp4m575kz3xq2ln7a4t", "h1")
	rec.Settings = job.NewSettings(map[string]any{"run_name": "Nightly run"})
	for wanted, want := range map[string]bool{
		"": true, "ft-bfp4m575kz3xq2ln7a4t": true, "bfp4m575": true, "nightly run": true, rec.Request.JobID: true,
		"finetune/2026-11-21-bert-tiny-bfp4m575": true, "2026-11-21-bert-tiny-bfp4m575": true, "ft-bfp4": true,
		"bfp": false, "ft": false, "m575": false, "nightly": false, "finetune": false,
	} {
		require.Equal(t, want, isNamed(rec, wanted), wanted)
	}
}
