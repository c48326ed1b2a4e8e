package live

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/job"
)

func TestEventsGoOnWhereTheLastAnswerEnded(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	path := "/api/v1/runs/" + run + "/events"
	server, _ := site(t, f, "alice@example.org")
	require.Contains(t, body(t, get(t, server, path)), `"events":[]`, "a run that has said nothing has a list, too")

	lines := []string{training, progress(1, 0.9), progress(2, 0.8), progress(3, 0.7)}
	f.tell(t, lines...)
	f.write(t, "events.jsonl", progress(4, 0.6)) // without an end: it is still being written
	f.end(job.Done, "All is well.")
	read := func(after int64, limit int) (LogEvents, []int) {
		var got LogEvents
		require.NoError(t, json.Unmarshal([]byte(body(t, get(t, server, fmt.Sprintf("%s?after=%d&limit=%d", path, after, limit)))), &got))
		var steps []int
		for _, e := range got.Events {
			steps = append(steps, e.Event.Step)
		}
		return got, steps
	}
	whole, steps := read(0, 200)
	require.Equal(t, []int{0, 1, 2, 3}, steps)
	require.True(t, whole.Over)
	require.False(t, whole.More)
	for i, e := range whole.Events {
		_, rest := read(e.Offset, 200)
		require.Equal(t, steps[i+1:], append([]int{}, rest...), "the offset of an event is where the next one begins")
	}
	require.Equal(t, whole.Events[3].Offset, whole.After)

	for name, c := range map[string]struct {
		after       int64
		limit, next int
		steps       []int
		more        bool
	}{
		"one at a time":            {0, 1, 0, []int{0}, true},
		"the last but one":         {whole.Events[1].Offset, 1, 2, []int{2}, true},
		"the last":                 {whole.Events[2].Offset, 1, 3, []int{3}, false},
		"nothing more":             {whole.After, 1, 3, nil, false},
		"an offset within a line":  {int64(len(training)) + 5, 200, 3, []int{2, 3}, false},
		"an offset of another log": {1 << 40, 200, 3, []int{0, 1, 2, 3}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, steps := read(c.after, c.limit)
			require.Equal(t, c.steps, steps)
			require.Equal(t, whole.Events[c.next].Offset, got.After)
			require.Equal(t, c.more, got.More)
			require.Equal(t, !c.more, got.Over, "a run is over for a reader who has all")
		})
	}
	for _, query := range []string{"?after=-1", "?limit=0", "?limit=1001", "?after=x"} {
		require.Equal(t, http.StatusUnprocessableEntity, get(t, server, path+query).StatusCode, query)
	}
}

// The log is read a megabyte at a time. That a part ends where the limit does says nothing of what follows.
func TestMoreEventsFollowThanOneReadOfTheLogHolds(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	line := `{"time":"2026-11-21T05:03:52Z","attempt":1,"kind":"log","text":"` + strings.Repeat("x", 1000) + `"}`
	for range 1200 {
		f.tell(t, line)
	}
	section := &Section{runs: f}
	all, err := section.events(run, 0, 1200)
	require.NoError(t, err)
	require.Len(t, all.Events, 1200)
	require.False(t, all.More)
	inOneRead := (1 << 20) / (len(line) + 1)
	for name, c := range map[string]struct {
		after int64
		limit int
		more  bool
	}{
		"as many as one read":    {0, inOneRead, true},
		"one more":               {0, inOneRead + 1, true},
		"all but one":            {0, 1199, true},
		"an offset behind them":  {1 << 40, 1200, false},
		"the rest of the second": {all.Events[inOneRead-1].Offset, 1200, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := section.events(run, c.after, c.limit)
			require.NoError(t, err)
			require.Equal(t, c.more, got.More)
			last := got.Events[len(got.Events)-1]
			require.Equal(t, last.Offset, got.After)
			if !c.more {
				require.Equal(t, all.After, got.After)
			}
		})
	}
}

func TestCurvesAreRefusedWhileTheServiceStops(t *testing.T) {
	t.Parallel()
	server, section := site(t, newFixture(t), "alice@example.org")
	section.hub.Close()
	refused := get(t, server, "/api/v1/runs/"+run+"/series")
	require.Equal(t, http.StatusServiceUnavailable, refused.StatusCode)
	require.Equal(t, "10", refused.Header.Get("Retry-After"))
	require.Contains(t, body(t, refused), "The service is about to restart.")
}

func TestACurveHasOneValueForEachTime(t *testing.T) {
	t.Parallel()
	train := `{"time":"2026-11-21T05:03:52Z","attempt":1,"kind":"eval","epoch":1,"step":5000,"split":"train","metrics":{"loss":0.4,"accuracy":0.9}}`
	test := `{"time":"2026-11-21T05:03:52Z","attempt":1,"kind":"eval","epoch":1,"step":5000,"split":"test","metrics":{"loss":9}}`
	rate := `{"time":"2026-11-21T05:03:51Z","attempt":1,"kind":"progress","epoch":1,"epochs":2,"fraction":0.5,"learning_rate":0.001}`
	rmse := `{"time":"2026-11-21T05:03:52Z","attempt":1,"kind":"eval","epoch":1,"split":"validation","metrics":{"rmse":2}}`
	early := `{"time":"2026-11-21T05:03:51Z","attempt":1,"kind":"progress","fraction":0.5,"loss":7}`
	for name, c := range map[string]struct {
		events []string
		want   []Curve
	}{
		"the training rows have their mean loss only": {[]string{progress(5000, 0.5), train}, []Curve{
			{"loss", "Loss", "training", "lower", []Point{{1, 0.5}}}, {"train/loss", "Loss", "training, mean of each epoch", "lower", []Point{{1, 0.4}}},
		}},
		"the test rows have no curve":            {[]string{test}, nil},
		"a learning rate has a chart of its own": {[]string{rate}, []Curve{{"learning_rate", "Learning rate", "learning rate", "", []Point{{1, 0.001}}}}},
		"a loss without epochs has no place":     {[]string{early}, nil},
		"a number that comes again is replaced":  {[]string{scalar("lr", 5, 1), scalar("lr", 5, 2)}, []Curve{{"lr", "lr", "lr", "", []Point{{5, 2}}}}},
		"a name of one word about data stays":    {[]string{scalar("test", 5, 1)}, []Curve{{"test", "test", "test", "", []Point{{5, 1}}}}},
		"an error of the validation goes down":   {[]string{rmse}, []Curve{{"validation/rmse", "Validation RMSE", "validation", "lower", []Point{{1, 2}}}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []Curve
			for _, line := range fold(t, c.events...).lines {
				got = append(got, *line)
			}
			require.ElementsMatch(t, c.want, got)
		})
	}
}
