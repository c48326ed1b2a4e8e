package clowder

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
)

// TestALicenceThatForbidsTheDownload ends a job before the download where it is that of the first file, and else names the files.
func TestALicenceThatForbidsTheDownload(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		barred     []string
		want       string
		downloaded bool
	}{
		"all files":  {[]string{"a.csv", "b.csv", "c.csv"}, "the licence of a.csv forbids the download", false},
		"some files": {[]string{"b.csv", "c.csv"}, "the licence of b.csv and c.csv forbids the download", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDeliveryTo(t, 1, alice)
			for _, file := range []string{"a.csv", "b.csv", "c.csv"} {
				id, err := d.server.AddFile(d.rec.Request.DatasetID, file, strings.NewReader(file))
				require.NoError(t, err)
				for _, barred := range tc.barred {
					if barred == file {
						d.server.Bar(id)
					}
				}
			}
			var said []string
			_, _, err := d.platform.Stage(t.Context(), d.rec, disk.Folder{Volume: t.TempDir()}, hear(&said))
			require.ErrorContains(t, err, tc.want)
			kind, _ := job.Classify(err)
			require.Equal(t, job.KindPermanent, kind)
			require.Equal(t, tc.downloaded, len(said) > 0)
		})
	}
}

func TestManyDatasetsDoWithoutFilesThatTheirLicenceKeeps(t *testing.T) {
	t.Parallel()
	m := newMany(t, 1)
	one, two := capture(t, m.server, alice, "plot 1", "x.csv"), m.server.AddDataset(alice, "plot 2")
	id, err := m.server.AddFile(two, "y.csv", strings.NewReader("y"))
	require.NoError(t, err)
	m.server.Bar(id)
	inputs, left, _, err := m.stage(t, one+","+two)
	require.NoError(t, err)
	require.Equal(t, []string{"plot 1/x.csv"}, names(inputs))
	require.Equal(t, []job.NotRead{{Name: "plot 2/y.csv", Reason: whyBarred}}, left)
}

func TestALicenceThatHasEndedIsNoted(t *testing.T) {
	t.Parallel()
	for ends, want := range map[time.Time]string{
		time.Date(2024, 3, 1, 0, 0, 0, 0, time.UTC): "the licence Plots of 2023 of the dataset ended on 2024-03-01",
		time.Now().Add(time.Hour):                   "",
		{}:                                          "",
	} {
		d := newDeliveryTo(t, 2, alice)
		_, err := d.server.AddFile(d.rec.Request.DatasetID, "a.csv", strings.NewReader("a"))
		require.NoError(t, err)
		d.server.License(d.rec.Request.DatasetID, "Plots of 2023", ends)
		var said []string
		_, _, err = d.platform.Stage(t.Context(), d.rec, disk.Folder{Volume: t.TempDir()}, hear(&said))
		require.NoError(t, err)
		require.Contains(t, strings.Join(said, "\n"), want)
		require.Equal(t, want != "", strings.Contains(strings.Join(said, "\n"), "licence"))
	}
}
