package pipeline

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/rayjob"
)

// listingRay is a Ray that lists an attempt that no record needs.
type listingRay struct{ *fakeRay }

func (listingRay) List(context.Context) ([]rayjob.Handle, error) {
	return []rayjob.Handle{{ID: "ft-unknown-a1"}}, nil
}

func TestAServiceThatRunsReleasesOrphans(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t)
		b.releaser.Backend = listingRay{b.ray}
		stopAfter(t, b, time.Minute)
		require.Equal(t, []string{"ft-unknown-a1"}, b.ray.released)
	})
}
