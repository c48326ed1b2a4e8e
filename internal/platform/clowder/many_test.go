package clowder

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/clowder/clowdertest"
	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/platform"
	"github.com/ncsa/clowder-ray/internal/platform/platformtest"
)

// capture adds a dataset of a user with files, each of which has its own name as content.
func capture(tb testing.TB, server *clowdertest.Server, user, name string, files ...string) string {
	tb.Helper()
	id := server.AddDataset(user, name)
	for _, file := range files {
		_, err := server.AddFile(id, file, strings.NewReader(name+file))
		require.NoError(tb, err)
	}
	return id
}

// manyTest is a job of many datasets.
type manyTest struct {
	*deliveryTest
	room platform.Room
}

func newMany(tb testing.TB, version int) *manyTest {
	tb.Helper()
	d := newDeliveryWith(tb, clowdertest.Options{Version: version}, alice)
	shared := tb.TempDir()
	return &manyTest{d, platform.Room{Inputs: disk.Folder{Volume: shared, Name: "runs/" + run + "/inputs"}, Notes: disk.Folder{Volume: shared, Name: "deliver/" + run}, Wanted: nobody, Kept: &platform.Kept{}}}
}

// nobody says that no other job waits for the place of one, and somebody that one does.
func nobody() bool { return false }

func somebody() bool { return true }

// stage stages the datasets that asked names, in as many turns as that takes.
func (m *manyTest) stage(tb testing.TB, asked string, own ...job.Input) (inputs []job.Input, left []job.NotRead, turns int, err error) {
	tb.Helper()
	m.rec.Settings = job.NewSettings(map[string]any{"data.datasets": asked})
	for turns = 1; ; turns++ {
		inputs, left, err = m.platform.StageMany(tb.Context(), m.rec, own, m.room, hear(&m.said))
		if kind, _ := job.Classify(err); err == nil || kind != job.KindLater {
			return inputs, left, turns, err
		}
	}
}

func names(inputs []job.Input) []string {
	var out []string
	for _, in := range inputs {
		out = append(out, in.Name)
	}
	slices.Sort(out)
	return out
}

// TestTheDatasetsOfAJob: what a user can name them by, in both versions of Clowder.
func TestTheDatasetsOfAJob(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		version int
		ask     func(m *manyTest, a, b string) string
		want    []string
		fault   string
	}{
		"ids, v1":          {1, func(_ *manyTest, a, b string) string { return a + ", " + b }, []string{"plot 1/x.csv", "plot 2/x.csv"}, ""},
		"ids on lines, v2": {2, func(_ *manyTest, a, b string) string { return a + "\n" + b + "\n" + a }, []string{"plot 1/x.csv", "plot 2/x.csv"}, ""},
		"addresses, v2":    {2, func(m *manyTest, a, _ string) string { return m.server.URL + "/datasets/" + a + "?space=1" }, []string{"plot 1/x.csv"}, ""},
		"a collection, v1": {1, func(m *manyTest, a, b string) string { return "collection:" + m.server.AddHolder("season", a, b) }, []string{"plot 1/x.csv", "plot 2/x.csv"}, ""},
		"its address, v1": {1, func(m *manyTest, a, _ string) string {
			return m.server.URL + "/collection/" + m.server.AddHolder("s", a)
		}, []string{"plot 1/x.csv"}, ""},
		"collections in it, v1": {1, nested, []string{"plot 1/x.csv", "plot 2/x.csv"}, ""},
		"a space, v1":           {1, func(m *manyTest, a, b string) string { return "space:" + m.server.AddHolder("space", a, b) }, []string{"plot 1/x.csv", "plot 2/x.csv"}, ""},
		"a search, v2":          {2, func(*manyTest, string, string) string { return "search: plot 2" }, []string{"plot 2/x.csv"}, ""},
		"a feed of datasets, v2": {2, func(m *manyTest, _, _ string) string {
			return "feed:" + m.server.AddFeed("or", "name", "1", "name", "2")
		}, []string{"plot 1/x.csv", "plot 2/x.csv"}, ""},
		"a feed without hits, v2":  {2, func(m *manyTest, _, _ string) string { return "feed:" + m.server.AddFeed("and", "name", "nowhere") }, nil, ""},
		"a feed of nothing, v2":    {2, func(m *manyTest, _, _ string) string { return "feed:" + m.server.AddFeed("and") }, nil, "has no criteria"},
		"the own dataset, v2":      {2, func(m *manyTest, a, _ string) string { return m.rec.Request.DatasetID + "," + a }, []string{"plot 1/x.csv"}, ""},
		"a collection, v2":         {2, func(*manyTest, string, string) string { return "collection:" + strings.Repeat("0", 24) }, nil, "search:WORDS or feed:ID"},
		"a search, v1":             {1, func(*manyTest, string, string) string { return "search:plot" }, nil, "collection:ID or space:ID"},
		"a collection of nobody":   {1, func(*manyTest, string, string) string { return "collection:" + strings.Repeat("0", 24) }, nil, "collection"},
		"a feed of nobody":         {2, func(*manyTest, string, string) string { return "feed:" + strings.Repeat("0", 24) }, nil, "feed"},
		"words":                    {2, func(*manyTest, string, string) string { return "all plots" }, nil, "write ids or addresses"},
		"an address of a user, v2": {2, func(m *manyTest, a, _ string) string { return m.server.URL + "/users/" + a }, nil, "write ids or addresses"},
		"a search for nothing, v2": {2, func(*manyTest, string, string) string { return "search: " }, nil, "write ids or addresses"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMany(t, tc.version)
			a, b := capture(t, m.server, alice, "plot 1", "x.csv"), capture(t, m.server, alice, "plot 2", "x.csv")
			capture(t, m.server, bob, "plot 1 of bob", "secret.csv")
			inputs, left, _, err := m.stage(t, tc.ask(m, a, b))
			if tc.fault != "" {
				require.ErrorContains(t, err, tc.fault)
				kind, _ := job.Classify(err)
				require.Equal(t, job.KindPermanent, kind)
				return
			}
			require.NoError(t, err)
			require.Equal(t, tc.want, names(inputs))
			require.Empty(t, left)
			for _, in := range inputs {
				body, err := os.ReadFile(filepath.Join(m.room.Inputs.Path(), in.Path))
				require.NoError(t, err)
				require.Equal(t, in.Dataset+"x.csv", string(body))
				require.Contains(t, []string{a, b}, in.DatasetID)
			}
		})
	}
}

// nested is a collection that has another one, in which it is itself.
func nested(m *manyTest, a, b string) string {
	outer, inner := m.server.AddHolder("season", a), m.server.AddHolder("day", b, a)
	m.server.Nest(outer, inner)
	m.server.Nest(inner, outer)
	return "collection:" + outer
}

// TestDatasetsThatTheUserMayNotRead are left out by their number, and nothing of them is told. One that the user named ends the job.
func TestDatasetsThatTheUserMayNotRead(t *testing.T) {
	t.Parallel()
	m := newMany(t, 1)
	a, secret := capture(t, m.server, alice, "plot 1", "x.csv"), capture(t, m.server, bob, "hidden name", "hidden.csv")
	space := m.server.AddHolder("space", secret, a)
	inputs, left, _, err := m.stage(t, "space:"+space)
	require.NoError(t, err)
	require.Equal(t, []string{"plot 1/x.csv"}, names(inputs))
	require.Len(t, left, 1)
	require.Equal(t, "1 dataset", left[0].Name)
	require.NotContains(t, fmt.Sprint(left, m.said), "hidden")

	_, _, _, err = m.stage(t, "space:"+m.server.AddHolder("another", secret))
	require.ErrorContains(t, err, "none of the 1 dataset")
	for _, version := range []int{1, 2} {
		m := newMany(t, version)
		secret := capture(t, m.server, bob, "hidden name", "hidden.csv")
		_, _, _, err := m.stage(t, secret)
		require.ErrorContains(t, err, secret)
		require.NotContains(t, err.Error(), "hidden")
		kind, _ := job.Classify(err)
		require.Equal(t, job.KindPermanent, kind)
	}
}

// TestDatasetsOfOneNameKeepApart, and none is mixed with what the job's own dataset has.
func TestDatasetsOfOneNameKeepApart(t *testing.T) {
	t.Parallel()
	m := newMany(t, 2)
	var asked []string
	for _, name := range []string{"Plot", "plot", "own", "a/b", "..", "", strings.Repeat("é", 90), strings.Repeat("é", 90)} {
		asked = append(asked, capture(t, m.server, alice, name, "x.csv"))
	}
	own := job.Input{Name: "own/x.csv", Path: "own/x.csv"}
	inputs, _, _, err := m.stage(t, strings.Join(asked, ","), own)
	require.NoError(t, err)
	require.Len(t, inputs, len(asked)+1)
	folders, paths := map[string]bool{}, map[string]bool{}
	for _, in := range inputs[1:] {
		folder, file, _ := strings.Cut(in.Path, "/")
		require.Equal(t, "x.csv", file)
		require.Equal(t, in.Dataset, folder)
		require.True(t, filepath.IsLocal(in.Path))
		folders[strings.ToLower(folder)], paths[strings.ToLower(in.Path)] = true, true
	}
	require.Len(t, folders, len(asked))
	require.Len(t, paths, len(asked))
	require.NotContains(t, folders, "own")
	require.NotEmpty(t, inputs[0].Dataset)
}

// TestAJobOfManyDatasetsGoesOn after the end of a turn, an error and a kill: nothing is listed or downloaded twice, and what a collection gets
// meanwhile is not in it.
func TestAJobOfManyDatasetsGoesOn(t *testing.T) {
	t.Parallel()
	m := newMany(t, 1)
	var sets []string
	for n := range 3*manyAtOnce + 1 {
		sets = append(sets, capture(t, m.server, alice, fmt.Sprintf("plot %d", n), "a.csv", "b.csv"))
	}
	collection := m.server.AddHolder("season", sets...)
	m.rec.Settings = job.NewSettings(map[string]any{"data.datasets": "collection:" + collection})
	m.room.Wanted = somebody
	_, _, err := m.platform.StageMany(t.Context(), m.rec, nil, m.room, quiet)
	kind, _ := job.Classify(err)
	require.Equal(t, job.KindLater, kind, "it lets others go first after some datasets: %v", err)
	m.server.Hold(collection, capture(t, m.server, alice, "too late", "late.csv"))

	m.server.Fail(clowdertest.Fault{Method: http.MethodGet, Path: "/datasets/" + sets[manyAtOnce+3] + "/files", Status: http.StatusGatewayTimeout})
	_, _, err = m.platform.StageMany(t.Context(), m.rec, nil, m.room, quiet)
	kind, _ = job.Classify(err)
	require.Equal(t, job.KindRetryable, kind, "%v", err)
	m.server.ClearFaults()

	listed := filepath.Join(m.room.Notes.Path(), listedFile)
	doc, err := os.ReadFile(listed)
	require.NoError(t, err)
	require.Equal(t, manyAtOnce, strings.Count(string(doc), "\n"))
	require.NoError(t, os.WriteFile(listed, append(doc, `{"files":[{"id":"torn`...), 0o600), "a kill cuts a line")

	asked := m.server.Requests(http.MethodGet, "/files")
	inputs, left, turns, err := m.stage(t, "collection:"+collection)
	require.NoError(t, err)
	require.Empty(t, left)
	require.Len(t, inputs, 2*len(sets))
	require.Greater(t, turns, 1)
	require.NotContains(t, fmt.Sprint(names(inputs)), "too late")
	for _, id := range sets {
		require.LessOrEqual(t, m.server.Requests(http.MethodGet, "/datasets/"+id+"/files"), 5, "one listing, and four tries of the one that failed")
	}
	require.LessOrEqual(t, m.server.Requests(http.MethodGet, "/files")-asked, 3*(len(sets)-manyAtOnce)*2)
	require.Equal(t, 1, m.server.Requests(http.MethodGet, "/collections/"+collection+"/datasets"))
	for _, in := range inputs {
		require.Equal(t, 1, downloads(m.server, in.ID), in.Name)
	}

	other := m.room
	other.Notes.Name += "-of-another-run"
	m.room = other
	inputs, _, _, err = m.stage(t, "collection:"+collection)
	require.NoError(t, err)
	require.Len(t, inputs, 2*len(sets)+1, "another run sees what the collection has now")
}

// TestATurnDoesNothingAgain of what the turns before it did: neither lists nor lays files, so that many turns cost no more than one.
func TestATurnDoesNothingAgain(t *testing.T) {
	t.Parallel()
	m := newMany(t, 2)
	for n := range 3 * manyAtOnce {
		capture(t, m.server, alice, fmt.Sprintf("plot %d", n), "x.csv")
	}
	m.room.Wanted = somebody
	m.rec.Settings = job.NewSettings(map[string]any{"data.datasets": "search:plot"})
	turn := func() ([]job.Input, error) {
		inputs, _, err := m.platform.StageMany(t.Context(), m.rec, nil, m.room, quiet)
		return inputs, err
	}
	_, err := turn()
	require.ErrorIs(t, err, errTurn)
	require.Equal(t, manyAtOnce, m.room.Kept.Files)
	laid, err := os.ReadDir(m.room.Inputs.Path())
	require.NoError(t, err)
	require.Len(t, laid, manyAtOnce)
	require.NoError(t, os.RemoveAll(filepath.Join(m.room.Inputs.Path(), laid[0].Name())))
	require.NoError(t, os.Remove(filepath.Join(m.room.Notes.Path(), chosenFile)))

	_, err = turn()
	require.ErrorIs(t, err, errTurn)
	inputs, err := turn()
	require.NoError(t, err)
	require.Len(t, inputs, 3*manyAtOnce)
	require.Nil(t, m.room.Kept.Part)
	require.NoDirExists(t, filepath.Join(m.room.Inputs.Path(), laid[0].Name()), "what was laid is not laid again")
	require.Equal(t, 1, m.server.Requests(http.MethodPost, "/_msearch"))

	m.room.Notes.Name += "-of-another-run"
	_, err = turn()
	require.ErrorIs(t, err, errTurn)
	require.NoError(t, m.room.Kept.Part.Close(), "a job that is cancelled between two turns")
}

// TestWhatOtherDatasetsLeaveOutIsSaid, once, however many of them do.
func TestWhatOtherDatasetsLeaveOutIsSaid(t *testing.T) {
	t.Parallel()
	m := newMany(t, 2)
	for _, name := range []string{"plot 1", "plot 2"} {
		id := capture(t, m.server, alice, name, "x.csv", "y.tif", "z.tif")
		_, err := m.server.AddFile(id, ".clowderignore", strings.NewReader("*.tif"))
		require.NoError(t, err)
	}
	inputs, _, _, err := m.stage(t, "search:plot")
	require.NoError(t, err)
	require.Equal(t, []string{"plot 1/x.csv", "plot 2/x.csv"}, names(inputs))
	require.Contains(t, m.said, "Left out 4 files, as .clowderignore asks")
}

// TestADatasetThatIsDeletedWhileOthersAreStaged is one of those that cannot be read.
func TestADatasetThatIsDeletedWhileOthersAreStaged(t *testing.T) {
	t.Parallel()
	m := newMany(t, 2)
	capture(t, m.server, alice, "plot 1", "x.csv")
	gone := capture(t, m.server, alice, "plot 2", "x.csv", "y.csv")
	m.server.Fail(clowdertest.Fault{Path: "/datasets/" + gone + "/files", Status: http.StatusNotFound})
	inputs, left, _, err := m.stage(t, "search:plot")
	require.NoError(t, err)
	require.Equal(t, []string{"plot 1/x.csv"}, names(inputs))
	require.Equal(t, "1 dataset", left[0].Name)
}

// TestMoreDatasetsThanTheServiceTakes end the job before a file is downloaded.
func TestMoreDatasetsThanTheServiceTakes(t *testing.T) {
	t.Parallel()
	m := newMany(t, 2)
	limit := m.client.Config().MaxFiles
	var ids []string
	for n := range limit + 1 {
		ids = append(ids, fmt.Sprintf("%024x", n+1))
	}
	_, _, _, err := m.stage(t, strings.Join(ids, "\n"))
	kind, _ := job.Classify(err)
	require.Equal(t, job.KindPermanent, kind)
	require.Zero(t, m.server.Requests(http.MethodGet, "/files"))
}

// TestASearchReadsAllItsPages, also while datasets come.
func TestASearchReadsAllItsPages(t *testing.T) {
	t.Parallel()
	m := newMany(t, 2)
	for n := range 1203 {
		capture(t, m.server, alice, fmt.Sprintf("plot %d", n))
	}
	m.rec.Settings = job.NewSettings(map[string]any{"data.datasets": "search:plot"})
	n, sets, err := openNotes(m.room.Notes, "search:plot", "", func() ([]oneSet, error) {
		s, err := m.platform.session(m.rec)
		if err != nil {
			return nil, err
		}
		return (&many{c: m.platform, s: s, rec: m.rec, say: quiet, sofar: &sofar{}}).choose(t.Context())
	})
	require.NoError(t, err)
	n.close()
	require.Len(t, sets, 1203)
	require.GreaterOrEqual(t, m.server.Requests(http.MethodPost, "/_msearch"), 3)
	_, _, err = openNotes(m.room.Notes, "search:plot", "", func() ([]oneSet, error) { return nil, errors.New("listed again") })
	require.NoError(t, err)
}

// TestUploadsThatNeverEndCostAJobOfManyDatasetsLittle: it waits in vain in a few datasets, in all its turns together, and then in none.
func TestUploadsThatNeverEndCostAJobOfManyDatasetsLittle(t *testing.T) {
	t.Parallel()
	m := newMany(t, 2)
	for n := range 3 * manyAtOnce {
		id := capture(t, m.server, alice, fmt.Sprintf("plot %d", n), "a.csv")
		m.server.AddUnfinishedFile(id, "late.csv")
	}
	m.room.Wanted = somebody
	client, err := clowder.NewClient(clowder.Config{URL: m.server.URL, Cache: disk.Folder{Volume: t.TempDir()}, InFlightWait: 500 * time.Millisecond})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	m.platform = New(client, platformtest.Extractors(t))
	inputs, left, _, err := m.stage(t, "search:plot")
	require.NoError(t, err)
	require.Len(t, inputs, 3*manyAtOnce)
	require.Len(t, left, 3*manyAtOnce)
	// Each dataset costs a listing and a download. A slow listing takes the time of a wait, so that nothing is listed again.
	waits := m.server.Requests(http.MethodGet, "/files") - 2*3*manyAtOnce
	require.Positive(t, waits)
	require.LessOrEqual(t, waits, maxPatience)
}
