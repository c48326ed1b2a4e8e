package runs

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/studio/web"
)

func runsOf(l List) (out []string) {
	for _, row := range l.Runs {
		out = append(out, row.Run)
	}
	return out
}

func TestEachRunIsOnOnePageOfAList(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		runs, limit, pages int
		why                string
	}{
		{7, 3, 3, ""}, {6, 3, 2, "the last page is full"}, {1, 50, 1, ""}, {0, 3, 1, "no run"}, {60, 0, 2, "without a limit a page has fifty"}, {60, -1, 2, ""}, {210, 1000, 2, "no page has more than two hundred"},
	} {
		h := newFixture(t)
		var want []string
		for i := range c.runs {
			want = append(want, h.add(fmt.Sprintf("ft-%03d", i)).Run)
			h.add(fmt.Sprintf("ft-request-%03d", i), to("ncsa.ray.runs"))
		}
		slices.Reverse(want)
		var got []string
		f := Filter{Dataset: "ds1", Limit: c.limit}
		pages := 0
		for pages == 0 || f.Cursor != "" {
			l, err := h.list(h.as(alice), f)
			require.NoError(t, err)
			require.NotNil(t, l.Runs, "an empty list is one in JSON, too")
			require.Equal(t, clowder.RoleOwner, l.Role)
			got, f.Cursor = append(got, runsOf(l)...), l.Next
			pages++
		}
		require.Equal(t, want, got, c.why)
		require.Equal(t, c.pages, pages, "%d runs in pages of %d", c.runs, c.limit)
	}
}

func TestAPageLooksAtABoundedNumberOfRecords(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	h.add("ft-wanted", func(rec *job.Record) { rec.Settings.RunName = "The needle" })
	for i := range maxScanned + batch {
		h.add(fmt.Sprintf("ft-%05d", i))
	}
	f := Filter{Dataset: "ds1", Text: "needle"}
	l, err := h.list(h.as(alice), f)
	require.NoError(t, err)
	require.Empty(t, l.Runs)
	require.NotEmpty(t, l.Next, "the list goes on")
	require.Equal(t, maxScanned/batch, h.read)
	f.Cursor = l.Next
	l, err = h.list(h.as(alice), f)
	require.NoError(t, err)
	require.Equal(t, []string{"ft-wanted"}, runsOf(l))
	require.Empty(t, l.Next)
}

func TestRunsAreFoundByTheirWords(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	rec := f.add("ft-abc", func(rec *job.Record) {
		rec.Settings.RunName, rec.Request.Name, rec.Request.JobID = "Größer", "Film reviews", "6740"
		rec.Ending = &job.Ending{State: job.Failed, Text: "train.csv has no column of labels."}
	})
	for text, want := range map[string]bool{
		"": true, " größer ": true, "GRÖSS": false, "film REVIEWS": true, "6740": true, "FT-ABC": true, "no column": true, "no  column": false, "alice": false,
	} {
		require.Equal(t, want, f.matches(rec, Filter{Text: text}), "%q", text)
	}
	rec.Ending = nil
	require.False(t, f.matches(rec, Filter{Text: "no column"}), "a run that goes on has no last sentence")
}

func TestFiltersAreAllApplied(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	version := func(name string, number int) func(*job.Record) {
		return func(rec *job.Record) {
			rec.Model = fmt.Appendf(nil, `{"name":%q,"version":%d,"run":%q}`, name, number, rec.Run)
		}
	}
	f.add("ft-1", version("reviews", 1))
	f.add("ft-2", version("reviews", 2), in(job.Failed))
	f.add("ft-3", version("letters", 1), by(bob))
	f.add("ft-4", to("ncsa.ray.predict"), func(rec *job.Record) { rec.Model = []byte(`{"name":"reviews","version":1,"run":"ft-1"}`) })
	f.add("ft-5", to("ncsa.ray.script"), in(job.Accepted))
	f.add("ft-6", in(job.Uploaded), func(rec *job.Record) { rec.Ending = &job.Ending{State: job.Done} }, func(rec *job.Record) { rec.Model = []byte("{}") })
	f.add("ft-7", in(job.Running), to("of.an.older.version"))
	for _, c := range []struct {
		filter Filter
		want   string
	}{
		{Filter{}, "7 6 5 4 3 2 1"},
		{Filter{Model: "reviews"}, "4 2 1"},
		{Filter{Model: "reviews/1"}, "4 1"},
		{Filter{Model: "reviews/3"}, ""},
		{Filter{Model: "reviews", Kind: KindPredict}, "4"},
		{Filter{Model: "reviews", State: StateFailed}, "2"},
		{Filter{Kind: KindScript}, "5"},
		{Filter{Kind: KindTrain, State: StateRunning}, "7"},
		{Filter{Kind: KindRuns}, ""},
		{Filter{By: bob}, "3"},
		{Filter{By: "me"}, "7 6 5 4 2 1"},
		{Filter{By: bob, State: StateFailed}, ""},
		{Filter{State: StateWaiting, Text: "ft-5"}, "5"},
	} {
		c.filter.Dataset = "ds1"
		l, err := f.list(f.as(alice), c.filter)
		require.NoError(t, err)
		require.Equal(t, c.want, strings.ReplaceAll(strings.Join(runsOf(l), " "), "ft-", ""), "%+v", c.filter)
	}
}

func TestOnesOwnRunsAreThoseThatOneMayStillSee(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.rename("ds2", "Letters", alice)
	f.roles["ds3 "+bob] = clowder.RoleViewer
	f.add("ft-mine", by(bob))
	f.add("ft-of-alice")
	f.add("ft-forbidden", by(bob), on("ds2"))
	f.add("ft-gone", by(bob), on("ds-gone"))
	f.add("ft-shared", by(bob), on("ds3"))
	f.add("ft-of-nothing", by(bob), on(""))
	f.add("ft-elsewhere", by(bob), func(rec *job.Record) { rec.Request.Host = "https://other.example.org" })
	for _, filter := range []Filter{{}, {By: alice}, {By: "me"}} {
		l, err := f.list(f.as(bob), filter)
		require.NoError(t, err)
		require.Equal(t, []string{"ft-shared", "ft-gone", "ft-mine"}, runsOf(l), "nobody lists the runs of others without a dataset")
	}
	f.down = clowder.NewAnswerError(503, "busy")
	l, err := f.list(f.as(bob), Filter{})
	require.NoError(t, err)
	require.Equal(t, []string{"ft-shared", "ft-mine"}, runsOf(l), "a dataset is gone only where Clowder says so")
	f.lost = clowder.NewAnswerError(500, "broken")
	_, err = f.list(f.as(bob), Filter{})
	require.Equal(t, 502, problem(t, err).Status)
}

func TestAListThatCannotBeReadIsAnError(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	_, err := f.list(f.as(dave), Filter{Dataset: "ds1"})
	require.Equal(t, web.NotFound, err)
	f.broken = errors.New("the disk is full")
	_, err = f.list(f.as(alice), Filter{Dataset: "ds1"})
	p := problem(t, err)
	require.Equal(t, 500, p.Status)
	require.NotContains(t, p.Error(), "disk", "a visitor learns nothing of the inside")
	_, _, err = f.find(f.as(alice), "ft-1")
	require.Equal(t, 500, problem(t, err).Status)
}

func TestACursorIsReadBackOrRefused(t *testing.T) {
	t.Parallel()
	want := job.Position{Created: noon.Add(123 * time.Nanosecond), Run: "ft-abc"}
	got, err := decodeCursor(encodeCursor(want))
	require.NoError(t, err)
	require.Equal(t, want, got)
	got, err = decodeCursor("")
	require.NoError(t, err)
	require.Zero(t, got, "the newest")
	for _, wrong := range []string{
		"%", "MTIz", encodeCursor(job.Position{Created: noon}), encodeCursor(job.Position{Created: noon, Run: strings.Repeat("a", maxRunName+1)}), "bm8gbnVtYmVy",
	} {
		_, err := decodeCursor(wrong)
		p := problem(t, err)
		require.Equal(t, []any{400, "cursor", "Begin with the first page again."}, []any{p.Status, p.Type, p.Do}, wrong)
	}
}

func TestAListCountsItsRuns(t *testing.T) {
	t.Parallel()
	of := func(next string, names ...string) List {
		l := List{Next: next}
		for _, name := range names {
			l.Runs = append(l.Runs, Row{State: State{Name: name}})
		}
		return l
	}
	for want, l := range map[string]List{
		"0 runs":                               of(""),
		"1 run: 1 done":                        of("", StateDone),
		"3 runs: 1 waiting, 2 failed":          of("", StateFailed, StateWaiting, StateFailed),
		"The newest 2 runs: 1 running, 1 done": of("more", StateDone, StateRunning),
		"1 run":                                of("", "of a newer version"),
	} {
		require.Equal(t, want, l.tally())
	}
}

func TestAFewAreLookedAtAtOnce(t *testing.T) {
	t.Parallel()
	var now, most, done atomic.Int32
	together(100, func(int) {
		n := now.Add(1)
		for seen := most.Load(); n > seen && !most.CompareAndSwap(seen, n); seen = most.Load() {
		}
		done.Add(1)
		now.Add(-1)
	})
	require.EqualValues(t, 100, done.Load())
	require.LessOrEqual(t, most.Load(), int32(atOnce))
	together(0, func(int) { t.Error("nothing is to be done") })
}
