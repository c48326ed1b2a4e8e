package clowder

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// newer is the name of a run that was accepted after run.
const newer = "ft-newer"

// delivered names everything that the user finds in the dataset.
func (d *deliveryTest) delivered(t *testing.T) (all []string) {
	t.Helper()
	s, dataset := d.client.As(d.rec.SecretKey), d.rec.Request.DatasetID
	files, err := s.Files(t.Context(), dataset)
	require.NoError(t, err)
	for _, f := range files {
		all = append(all, "file "+f.ID+" "+f.Path)
	}
	shown, err := s.Visualizations(t.Context(), dataset)
	require.NoError(t, err)
	for _, v := range shown {
		all = append(all, append([]string{"visualization " + v.ConfigID}, v.DataIDs...)...)
	}
	notes, err := s.Metadata(t.Context(), dataset)
	require.NoError(t, err)
	for _, n := range notes {
		all = append(all, "metadata "+n.ID)
	}
	return all
}

func TestALateDeliveryLeavesWhatANewerRunDelivered(t *testing.T) {
	t.Parallel()
	older := newDelivery(t, alice)
	next := *older
	next.rec.Run = newer
	require.NoError(t, next.deliver(t, "1", 0))
	before := next.delivered(t)
	require.NotEmpty(t, before)
	require.NoError(t, older.deliver(t, "1", 0))
	after := older.delivered(t)
	require.Subset(t, after, before)
	require.Len(t, after, 2*len(before))
}
