package clowder

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/clowder/clienttest"
	"github.com/ncsa/clowder-ray/internal/clowder/clowdertest"
	"github.com/ncsa/clowder-ray/internal/clowder/form"
	"github.com/ncsa/clowder-ray/internal/clowder/versions"
	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/platform"
	"github.com/ncsa/clowder-ray/internal/platform/platformtest"
	"github.com/ncsa/clowder-ray/internal/results/delivery"
)

const alice, bob = "alice@example.org", "bob@example.org"

// deliveryTest is the Clowder platform on a double with an empty dataset of alice's, and a finished run to deliver.
type deliveryTest struct {
	server   *clowdertest.Server
	line     *httptest.Server // between the client and the server; it ends with lifetime
	life     *lifetime
	platform *Platform
	client   *clowder.Client
	rec      job.Record
	dir      string          // an empty folder of this test
	bodies   string          // the folder of what Clowder has stored
	saved    json.RawMessage // what is on disk, last what the delivery noted at its end
	last     json.RawMessage
	said     []string
	shown    int    // artifacts that the dataset's page is to show
	model    string // sha256 of model.zip
}

func newDelivery(t *testing.T, user string) *deliveryTest {
	t.Helper()
	return newDeliveryTo(t, 2, user)
}

// newDeliveryTo is newDelivery with a version of Clowder.
func newDeliveryTo(t *testing.T, version int, user string) *deliveryTest {
	t.Helper()
	return newDeliveryWith(t, clowdertest.Options{Version: version}, user)
}

// newDeliveryWith is newDelivery to a double that is as the options say.
func newDeliveryWith(tb testing.TB, options clowdertest.Options, user string) *deliveryTest {
	tb.Helper()
	bodies, version := tb.TempDir(), options.Version
	options.Dir = bodies
	server, err := clowdertest.New(options)
	require.NoError(tb, err)
	tb.Cleanup(func() { require.NoError(tb, server.Close()) })
	dataset := server.AddDataset(alice, "Reviews")
	server.Share(dataset, bob, map[int]string{1: "editor", 2: "uploader"}[version])
	d := newDeliveryBehind(tb, server, job.Request{APIVersion: version, Kind: job.Dataset, DatasetID: dataset, ResourceID: dataset}, server.Key(user))
	d.server, d.bodies = server, bodies
	for _, e := range d.platform.extractors {
		require.NoError(tb, server.Heartbeat(e.Info.Heartbeat(e.Queue, form.Owner{}, "test")))
	}
	return d
}

// newDeliveryBehind is a delivery to any Clowder, for the job of a request with the key of its user.
func newDeliveryBehind(tb testing.TB, site http.Handler, req job.Request, key string) *deliveryTest {
	tb.Helper()
	d := &deliveryTest{dir: tb.TempDir(), life: new(lifetime)}
	d.line = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if d.life.over() {
			panic(http.ErrAbortHandler)
		}
		site.ServeHTTP(w, r)
		if d.life.ends() {
			panic(http.ErrAbortHandler)
		}
	}))
	tb.Cleanup(d.line.Close)
	var err error
	d.client, err = clowder.NewClient(clowder.Config{URL: d.line.URL, Cache: disk.Folder{Volume: tb.TempDir()}, Attempts: 1})
	require.NoError(tb, err)
	tb.Cleanup(func() { require.NoError(tb, d.client.Close()) })
	d.platform = New(d.client, platformtest.Extractors(tb))
	d.rec = job.New(run, job.Train, req, job.Secret(key))
	return d
}

// lifetime of a service: it is killed after so many calls and saves. The zero value never ends.
type lifetime struct {
	mu     sync.Mutex
	mortal bool
	left   int
}

func (l *lifetime) begin(left int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.mortal, l.left = left > 0, left
}

// over reports whether it was killed already.
func (l *lifetime) over() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.mortal && l.left <= 0
}

// ends reports whether the kill comes now.
func (l *lifetime) ends() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.left--
	return l.mortal && l.left == 0
}

// deliver delivers what version of the service makes of the run. After as many calls and saves as cut says, 0 for never, a kill
// comes: what was asked for has happened and nobody hears of it.
func (d *deliveryTest) deliver(tb testing.TB, version string, cut int) error {
	tb.Helper()
	return d.handOver(tb, d.assemble(tb, version), cut)
}

// complete delivers again and again while a file of a delivery that was cut is still being stored, as the pipeline does.
func (d *deliveryTest) complete(tb testing.TB, version string) error {
	tb.Helper()
	for {
		err := d.deliver(tb, version, 0)
		if kind, _ := job.Classify(err); err == nil || kind != job.KindLater {
			return err
		}
	}
}

// assemble makes what version of the service delivers of the run.
func (d *deliveryTest) assemble(tb testing.TB, version string) platform.Delivery {
	tb.Helper()
	made := deliveryOf(tb, d.rec.Run, version)
	d.shown = 0
	for _, a := range made.Artifacts {
		if isShown(d.session(tb), a) {
			d.shown++
		}
		if a.Name == modelArchive {
			d.model = a.SHA256
		}
	}
	return made
}

func (d *deliveryTest) handOver(tb testing.TB, made platform.Delivery, cut int) error {
	tb.Helper()
	d.life.begin(cut)
	defer d.life.begin(0)
	_, err := d.platform.Deliver(tb.Context(), d.rec, made, platform.LedgerFile{Saved: d.saved, Save: d.save, Last: func(doc json.RawMessage) { d.last = doc }},
		func(text string) { d.said = append(d.said, text) })
	if err == nil && d.life.over() {
		return errCut // a call that the delivery can do without
	}
	return err
}

// save puts the notes of the ledger on disk, if it comes to that.
func (d *deliveryTest) save(doc json.RawMessage) error {
	if d.life.over() {
		return errCut
	}
	if d.saved = doc; d.life.ends() {
		return errCut
	}
	return nil
}

var errCut = errors.New("killed")

// session is that of the user who looks at the results.
func (d *deliveryTest) session(tb testing.TB) versions.Session {
	tb.Helper()
	s, err := d.platform.session(d.rec)
	require.NoError(tb, err)
	return s
}

// requireOneOfEach looks at the dataset as its user does.
func (d *deliveryTest) requireOneOfEach(tb testing.TB) {
	tb.Helper()
	s, dataset := d.session(tb), d.rec.Request.DatasetID
	files, err := s.Files(tb.Context(), dataset)
	require.NoError(tb, err)
	names, model := map[string]int{}, ""
	for _, f := range files {
		names[path.Base(f.Path)]++
		if f.Name == modelArchive {
			model = f.ID
		}
		require.True(tb, strings.HasPrefix(f.Path, resultsRoot+"/"), f.Path)
	}
	for _, name := range []string{modelArchive, "metrics.json", "predictions.csv", "report.html", "loss.png", overlay, "log.txt"} {
		require.Equal(tb, 1, names[name], name)
	}
	for name, n := range names {
		require.Equal(tb, 1, n, name)
	}
	shown, overlays := 0, 0
	for _, f := range files {
		if on, ok := s.(previews); ok {
			have, err := on.Previews(tb.Context(), f.ID)
			require.NoError(tb, err)
			shown += len(have)
			overlays += map[bool]int{f.Name == overlay: len(have)}[true]
		}
	}
	if on, ok := s.(cards); ok {
		have, err := on.Visualizations(tb.Context(), dataset)
		require.NoError(tb, err)
		shown = len(have)
		for _, v := range have {
			if v.Parameters["artifact"] == overlay {
				require.Equal(tb, []any{"Overlay", clowder.ComponentImage, "image/png", 1}, []any{v.Name, v.Component, v.MimeType, len(v.DataIDs)})
				overlays++
			}
		}
	}
	require.Equal(tb, 1, overlays, "the picture that the run names is seen once")
	require.Equal(tb, d.shown, shown)
	require.Positive(tb, d.shown)
	notes, err := s.Metadata(tb.Context(), dataset)
	require.NoError(tb, err)
	require.Len(tb, notes, 1)
	onModel, err := clienttest.FileMetadata(tb.Context(), s, model)
	require.NoError(tb, err)
	require.Len(tb, onModel, 1)
	require.Equal(tb, notes[0].Content["run"], onModel[0].Content["run"])
	require.Equal(tb, d.model, onModel[0].Content["sha256"])
}

// requireAllNoted looks at the notes of a delivery that has ended.
func (d *deliveryTest) requireAllNoted(t *testing.T) {
	t.Helper()
	var notes []delivery.Entry
	require.NoError(t, json.Unmarshal(d.last, &notes))
	require.NotEmpty(t, notes)
	for _, n := range notes {
		require.Equal(t, delivery.StateDone, n.State, n.Name)
	}
}

func TestADeliveryThatIsCutAnywhereIsCompletedOnce(t *testing.T) {
	t.Parallel()
	for _, version := range []int{1, 2} {
		t.Run(fmt.Sprintf("Clowder v%d", version), func(t *testing.T) {
			t.Parallel()
			for cut := 1; ; cut++ {
				d := newDeliveryTo(t, version, alice)
				err := d.deliver(t, "1", cut)
				if err == nil {
					require.Greater(t, cut, 30, "every call and every save was cut once")
					d.requireAllNoted(t)
					t.Logf("%d cuts", cut)
					return
				}
				require.NoError(t, d.complete(t, "1"), "cut after %d calls and saves", cut)
				d.requireOneOfEach(t)
			}
		})
	}
}

func TestADeliveryWithNewContentReplacesWhatWasDelivered(t *testing.T) {
	t.Parallel()
	for _, version := range []int{1, 2} {
		d := newDeliveryTo(t, version, alice)
		require.NoError(t, d.deliver(t, "1", 0))
		require.NoError(t, d.deliver(t, "2", 0))
		d.requireOneOfEach(t)
	}
}

func TestAFileThatArrivesForTooLongIsBroken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var a arrivals
		arriving := clowder.File{ID: "1", InFlight: true}
		require.Equal(t, delivery.RemoteArriving, a.state(arriving))
		<-time.After(arrivalLimit)
		require.Equal(t, delivery.RemoteArriving, a.state(arriving))
		require.Equal(t, delivery.RemoteComplete, a.state(clowder.File{ID: "2"}))
		<-time.After(time.Second)
		require.Equal(t, delivery.RemoteBroken, a.state(arriving))
		require.Equal(t, delivery.RemoteArriving, a.state(clowder.File{ID: "3", InFlight: true}))
		require.Equal(t, delivery.RemoteComplete, a.state(clowder.File{ID: "3"}))
		require.Empty(t, a.since, "what is over is forgotten")
	})
}

func TestACollaboratorHearsWhatTheOwnerDoesNotSee(t *testing.T) {
	t.Parallel()
	for user, notes := range map[string]int{alice: 0, bob: 1} {
		d := newDelivery(t, user)
		require.NoError(t, d.deliver(t, "1", 0))
		require.Len(t, d.said, notes, user)
	}
}

func TestANoteThatIsCutAnywhereIsAddedOnce(t *testing.T) {
	t.Parallel()
	for cut, done := 1, false; !done; cut++ {
		d := newDelivery(t, alice)
		d.rec.Kind, d.rec.Request.Extractor = job.Runs, "ncsa.ray.runs"
		note := func() error {
			return d.platform.Note(t.Context(), d.rec, map[string]any{"run": d.rec.Run, "champion": "stars/2"}, platform.LedgerFile{Saved: d.saved, Save: d.save})
		}
		d.life.begin(cut)
		done = note() == nil && !d.life.over()
		d.life.begin(0)
		require.NoError(t, note(), cut)
		entries, err := d.client.As(d.rec.SecretKey).Metadata(t.Context(), d.rec.Request.DatasetID)
		require.NoError(t, err)
		require.Len(t, entries, 1, cut)
		require.Equal(t, "stars/2", entries[0].Content["champion"])
		require.Equal(t, "ncsa.ray.runs", entries[0].Listener)
	}
}
