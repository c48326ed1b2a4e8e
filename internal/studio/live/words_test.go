package live

import (
	"math"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/results"
)

func TestACardSaysHowFarARunIs(t *testing.T) {
	t.Parallel()
	best := 0.9316
	for name, c := range map[string]struct {
		state job.State
		said  Progress
		want  string
	}{
		"a run that waits":           {job.Staged, Progress{}, "Waiting to start."},
		"one that saves":             {job.Collected, Progress{Epochs: 3}, "Saving the results."},
		"one that failed":            {job.Failed, Progress{Sentence: "secret.csv has no rows"}, "Failed."},
		"one that was cancelled":     {job.Cancelled, Progress{}, "Cancelled."},
		"one that was skipped":       {job.Skipped, Progress{}, "Skipped."},
		"one that has said nothing":  {job.Running, Progress{Sentence: "Reading secret.csv", Phase: "prepare"}, "Running."},
		"a script":                   {job.Running, Progress{Fraction: 0.499}, "Running, 50 %."},
		"the first epoch":            {job.Running, Progress{Epochs: 3, Epoch: 1}, "Epoch 1 of 3."},
		"the time that is left":      {job.Running, Progress{Epochs: 3, Epoch: 2, Fraction: 0.5, ETASeconds: 600}, "Epoch 2 of 3, 50 %, about 10 min left."},
		"the best value":             {job.Running, Progress{Epochs: 3, Epoch: 2, Metric: "f1", Best: &best}, "Epoch 2 of 3, best validation F1 so far 0.932."},
		"a metric of a script's own": {job.Running, Progress{Metric: "<b>\x1b[1m", Best: &best}, "Running, best validation <b> [1m so far 0.932."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, cardSentence(job.Record{State: c.state}, c.said))
		})
	}
}

func TestTheCurveOfACardStaysInItsPicture(t *testing.T) {
	t.Parallel()
	var long []Point
	for i := range 1000 {
		long = append(long, Point{float64(i), math.Sin(float64(i))})
	}
	for name, c := range map[string]struct {
		points []Point
		want   string
	}{
		"it falls":                   {[]Point{{0, 9}, {1, 1}, {2, 5}}, "2.0,2.0 150.0,58.0 298.0,30.0"},
		"it is flat":                 {[]Point{{0, 3}, {1, 3}}, "2.0,30.0 298.0,30.0"},
		"one point":                  {[]Point{{7, 3}}, "150.0,30.0"},
		"numbers that nearly end":    {[]Point{{0, -math.MaxFloat64 / 2}, {1, math.MaxFloat64 / 2}}, "2.0,58.0 298.0,2.0"},
		"very many points are fewer": {long, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := polyline(c.points)
			if c.want != "" {
				require.Equal(t, c.want, got)
			}
			places := strings.Fields(got)
			require.LessOrEqual(t, len(places), curvePoints)
			for _, place := range places {
				x, y, _ := strings.Cut(place, ",")
				for text, limit := range map[string]float64{x: curveWidth, y: curveHeight} {
					v, err := strconv.ParseFloat(text, 64)
					require.NoError(t, err)
					require.True(t, v >= 0 && v <= limit, place)
				}
			}
		})
	}
}

func TestClowderShowsALinkAndTheCardWhereItIsWanted(t *testing.T) {
	t.Parallel()
	_, section := site(t, newFixture(t), "")
	with, err := section.cards.Visualization(run, true)
	require.NoError(t, err)
	without, err := section.cards.Visualization(`ft-"><script>`, false)
	require.NoError(t, err)
	const link = `<a href="https://studio.example.org/ray/runs/`
	require.Contains(t, with, link+run+`" target="_blank" rel="noopener">`)
	require.Contains(t, with, `<iframe src="`+section.cards.Address(run)+`"`)
	require.Contains(t, without, link)
	require.NotContains(t, without, "<iframe")
	require.NotContains(t, without, "<script")
	require.NotContains(t, without, "?t=", "the address of a card is a secret of those who see the dataset")
}

func TestACardIsFramedByClowderOnly(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"https://clowder.example.org/sub?x": "https://clowder.example.org", "http://localhost:8000": "http://localhost:8000",
		"": "'none'", "clowder.example.org": "'none'", "https://": "'none'", "https://a b": "'none'", "/sub": "'none'",
	} {
		require.Equal(t, want, origin(address), address)
	}
}

func TestALogThatIsNotThereIsNotFound(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	server, _ := site(t, f, "alice@example.org")
	path := "/api/v1/runs/" + run + "/log"
	require.Equal(t, http.StatusNotFound, get(t, server, path).StatusCode, "it has printed nothing")
	theirs := filepath.Join(t.TempDir(), "secret")
	require.NoError(t, os.WriteFile(theirs, []byte("secret"), 0o600))
	require.NoError(t, os.Symlink(theirs, filepath.Join(f.dir, run, results.LogFile)))
	linked := get(t, server, path)
	require.GreaterOrEqual(t, linked.StatusCode, 400)
	require.NotContains(t, body(t, linked), "secret", "a script of a user could make such a link")
	require.NoError(t, os.RemoveAll(filepath.Join(f.dir, run)))
	require.Equal(t, http.StatusNotFound, get(t, server, path).StatusCode, "its folder was removed")
}

func TestTheEndOfALogBeginsWithAWholeLine(t *testing.T) {
	t.Parallel()
	f, p := newFixture(t), printed{}
	for i := range 40 {
		f.write(t, results.LogFile, strings.Repeat(strconv.Itoa(i%10), 999)+"\n")
		_, ok, err := p.next(f.Folder(run))
		require.NoError(t, err)
		require.True(t, ok)
	}
	lines := strings.SplitAfter(strings.TrimSuffix(p.end, "\n"), "\n")
	require.Len(t, lines, maxPrinted/1000)
	for _, line := range lines {
		require.Len(t, strings.TrimSuffix(line, "\n"), 999)
	}
	require.NoError(t, os.Truncate(filepath.Join(f.dir, run, results.LogFile), 0))
	f.write(t, results.LogFile, "again\n")
	news, ok, err := p.next(f.Folder(run))
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, Printed{"again\n", true}, news, "a log that was begun again replaces what viewers have")
	require.Equal(t, "again\n", p.end)
}
