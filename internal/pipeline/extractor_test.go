package pipeline

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/pipeline/intake"
)

func TestARequestNeverWaitsForTheJobsThatItMayCancel(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *Config) { c.MaxJobs = 1 })
	train, manage := b.NewIntake(b.cfg.Extractors[0], nil, 2), b.NewIntake(b.cfg.Extractors[4], nil, 2)
	b.slots.InProgress.Restore(run, "alice")
	require.Zero(t, train.Free())
	require.Positive(t, manage.Free())
}

func TestAJobThatIsOverMakesRoomForAllExtractors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t)
		var intakes []*intake.Intake
		for _, e := range b.cfg.Extractors[:4] {
			intakes = append(intakes, b.NewIntake(e, nil, 2))
		}
		b.accept(t, run, nil)
		require.Equal(t, 4, intakes[0].Free())
		b.runUntilOver(t)
		for _, in := range intakes {
			require.Equal(t, 4, in.Free())
			select {
			case <-in.Freed():
			default:
				t.Fatal("nobody told this extractor that there is room")
			}
		}
	})
}
