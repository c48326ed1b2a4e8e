package clowder

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/clowder"
)

// liveOnes are the cards that show runs that go on, with their data.
func (d *deliveryTest) liveOnes(t *testing.T) (whole []clowder.Visualization) {
	t.Helper()
	on, ok := d.session(t).(cards)
	require.True(t, ok)
	all, err := on.Visualizations(t.Context(), d.rec.Request.DatasetID)
	require.NoError(t, err)
	for _, v := range all {
		if v.Parameters["artifact"] == liveArtifact {
			require.NotEmpty(t, v.DataIDs, "a card without its page")
			whole = append(whole, v)
		}
	}
	return whole
}

func TestARunThatGoesOnIsShownOnceHoweverTheServiceIsKilled(t *testing.T) {
	t.Parallel()
	for cut := range 5 {
		t.Run(strconv.Itoa(cut), func(t *testing.T) {
			t.Parallel()
			d := newDelivery(t, alice)
			d.life.begin(cut)
			_ = d.platform.ShowLive(t.Context(), d.rec, "<p>live</p>") // killed
			d.life.begin(0)
			for range 2 {
				require.NoError(t, d.platform.ShowLive(t.Context(), d.rec, "<p>live</p>"))
				shown := d.liveOnes(t)
				require.Len(t, shown, 1)
				require.Equal(t, clowder.ComponentHTML, shown[0].Component)
				require.Contains(t, shown[0].Name, d.rec.Run)
			}

			d.life.begin(cut)
			_ = d.platform.HideLive(t.Context(), d.rec) // killed
			d.life.begin(0)
			require.NoError(t, d.platform.HideLive(t.Context(), d.rec))
			require.Empty(t, d.liveOnes(t))
		})
	}
}

func TestTheReportTakesThePlaceOfARunThatGoesOn(t *testing.T) {
	t.Parallel()
	d := newDelivery(t, alice)
	require.NoError(t, d.platform.ShowLive(t.Context(), d.rec, "<p>live</p>"))
	require.NoError(t, d.deliver(t, "1.0.0", 0))
	require.NoError(t, d.platform.HideLive(t.Context(), d.rec))
	d.requireOneOfEach(t)
	require.Empty(t, d.liveOnes(t))
}

func TestAnotherRunIsLeftAlone(t *testing.T) {
	t.Parallel()
	d := newDelivery(t, alice)
	require.NoError(t, d.platform.ShowLive(t.Context(), d.rec, "<p>live</p>"))
	other := d.rec
	other.Run = "ft-other"
	require.NoError(t, d.platform.HideLive(t.Context(), other))
	require.Len(t, d.liveOnes(t), 1)
}

func TestClowder1ShowsNoRunThatGoesOn(t *testing.T) {
	t.Parallel()
	d := newDeliveryTo(t, 1, alice)
	require.NoError(t, d.platform.ShowLive(t.Context(), d.rec, "<p>live</p>"))
	require.NoError(t, d.platform.HideLive(t.Context(), d.rec))
}
