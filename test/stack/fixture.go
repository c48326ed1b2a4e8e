package stack

import (
	"context"
	"database/sql"
	"io/fs"
	"maps"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/clowder/clowdertest"
	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/rayjob/raytest"
	"github.com/ncsa/clowder-ray/test/broker"
)

// The extractors as Clowder knows them, and the user who submits.
const (
	Extractor = "ncsa.ray.finetune"
	Advanced  = "ncsa.ray.finetune-advanced"
	Predictor = "ncsa.ray.predict"
	Scripter  = "ncsa.ray.script"
	Manager   = "ncsa.ray.runs"
	User      = "alice@example.org"
)

// Extractors is how many of them the service announces.
const Extractors = 5

// extractors is how many extractors a service with these settings announces.
func extractors(env map[string]string) int {
	if env["AUTOMATIC_AFTER"] != "" {
		return Extractors + 1
	}
	return Extractors
}

// StepTimeout is how long a test waits for one step while other tests use the machine.
const StepTimeout = 4 * time.Minute

// storePoll is the time between two looks at the store of the service.
const storePoll = 100 * time.Millisecond

// Fixture is everything around one service: a virtual host of a real RabbitMQ, the double of Clowder with a dataset, and the
// double of Ray, whose jobs play a training within milliseconds.
type Fixture struct {
	Env     map[string]string
	Clowder *clowdertest.Server
	Ray     *raytest.Server
	// Session acts as User, and Dataset is the user's.
	Session *clowder.Session
	Dataset string
	// Trainings counts the jobs that Ray has started.
	Trainings atomic.Int64

	program string
	hold    atomic.Pointer[chan struct{}]
	started atomic.Pointer[func(raytest.Driver)]
	player  atomic.Pointer[FakeTrainer]
}

// FakeTrainer plays a training program: it works in the run folder until it ends or ctx does, and returns its exit code.
type FakeTrainer func(ctx context.Context, folder string, d raytest.Driver) int

// NewFixture builds a fixture for program, which ends with the test.
func NewFixture(tb testing.TB, program string, files map[string]string) *Fixture {
	tb.Helper()
	return NewFixtureOn(tb, program, broker.ForTest(tb).Vhost(tb), files)
}

// NewFixtureOn builds a fixture on the RabbitMQ at uri.
func NewFixtureOn(tb testing.TB, program, uri string, files map[string]string) *Fixture {
	tb.Helper()
	return NewFixtureWith(tb, program, clowdertest.Options{AMQPURI: uri, UploadDelay: 10 * time.Millisecond, StoreDelay: 50 * time.Millisecond}, files)
}

// NewFixtureWith builds a fixture around a double of Clowder that is as options say, on the RabbitMQ that they name.
func NewFixtureWith(tb testing.TB, program string, options clowdertest.Options, files map[string]string) *Fixture {
	tb.Helper()
	dir, uri, w := tb.TempDir(), options.AMQPURI, &Fixture{program: program}
	var err error
	w.Clowder, err = clowdertest.New(options)
	require.NoError(tb, err)
	tb.Cleanup(func() { require.NoError(tb, w.Clowder.Close()) })
	w.Ray = raytest.NewServer(raytest.Config{Run: w.train})
	tb.Cleanup(w.Ray.Close)
	head := httptest.NewServer(w.Ray)
	tb.Cleanup(head.Close)
	w.Env = map[string]string{
		"RABBITMQ_URI": uri, "CLOWDER_URL": w.Clowder.URL, "RAY_ADDRESS": head.URL, "RAY_POLL": "200ms", "RAY_PYTHON": "python", "WARM_WORKERS": "0",
		"SHARED_DIR": filepath.Join(dir, "shared"), "STATE_DIR": filepath.Join(dir, "state"), "RAY_AUTH_TOKEN": "", "RAY_AUTH_TOKEN_PATH": "",
		"MAX_RUNNING": "0", "MIN_FREE_BYTES": "0",
	}
	client, err := clowder.NewClient(clowder.Config{URL: w.Clowder.URL, Cache: disk.Folder{Volume: filepath.Join(dir, "cache")}})
	require.NoError(tb, err)
	tb.Cleanup(func() { require.NoError(tb, client.Close()) })
	w.Session = client.As(job.Secret(w.Clowder.Key(User)))
	w.Dataset = w.Clowder.AddDataset(User, "Reviews")
	for name, body := range files {
		_, err := w.Clowder.AddFile(w.Dataset, name, strings.NewReader(body))
		require.NoError(tb, err)
	}
	return w
}

// HoldTrainings lets no training end before the returned function is called.
func (w *Fixture) HoldTrainings() (release func()) {
	gate := make(chan struct{})
	w.hold.Store(&gate)
	return func() { close(gate) }
}

// HoldStore lets the service write nothing into its store before the returned function is called.
func (w *Fixture) HoldStore(tb testing.TB) (release func()) {
	tb.Helper()
	// The service may be writing just now: it is waited for.
	db, err := sql.Open("sqlite", "file:"+filepath.Join(w.Env["STATE_DIR"], "jobs.db")+"?_txlock=immediate&_pragma=busy_timeout(30000)")
	require.NoError(tb, err)
	tb.Cleanup(func() { require.NoError(tb, db.Close()) })
	tx, err := db.BeginTx(tb.Context(), nil)
	require.NoError(tb, err)
	return func() { require.NoError(tb, tx.Rollback()) }
}

// PlayTrainings has play take the place of the training program from now on.
func (w *Fixture) PlayTrainings(play FakeTrainer) { w.player.Store(&play) }

// Play plays a training that ends well.
func Play(_ context.Context, folder string, _ raytest.Driver) int {
	if err := play(folder); err != nil {
		return 1
	}
	return 0
}

// OnTraining calls f when Ray starts a training.
func (w *Fixture) OnTraining(f func(raytest.Driver)) { w.started.Store(&f) }

// train plays the training program.
func (w *Fixture) train(ctx context.Context, d raytest.Driver) int {
	w.Trainings.Add(1)
	for name, value := range d.Env {
		if strings.Contains(value, clowdertest.JobKeyMark) {
			panic("the key of a user is in the variable " + name + " of a training")
		}
	}
	if f := w.started.Load(); f != nil {
		(*f)(d)
	}
	if gate := w.hold.Load(); gate != nil {
		select {
		case <-*gate:
		case <-ctx.Done():
			return 1
		}
	}
	words := strings.Fields(d.Entrypoint)
	play := FakeTrainer(Play)
	if p := w.player.Load(); p != nil {
		play = *p
	}
	return play(ctx, path.Dir(words[len(words)-1]), d)
}

// Start starts the service, with env on top of the fixture's, and returns once Clowder could submit to it.
func (w *Fixture) Start(tb testing.TB, env map[string]string) *Service {
	tb.Helper()
	all := map[string]string{}
	maps.Copy(all, w.Env)
	maps.Copy(all, env)
	s, err := StartService(tb.Context(), w.program, all, nil)
	require.NoError(tb, err)
	tb.Cleanup(func() {
		s.Kill()
		if strings.Contains(s.Log(), "DATA RACE") {
			tb.Error("the race detector found a data race in the service")
		}
		if tb.Failed() {
			tb.Logf("what the service said:\n%s", s.Log())
		}
	})
	require.Eventually(tb, func() bool { // before, Clowder would publish into nothing
		select {
		case <-s.Exited():
			return true
		default:
		}
		return w.Clowder.Registered() == extractors(all)
	}, StepTimeout, 50*time.Millisecond)
	return s
}

// Serve starts the service beside a real Clowder, with env on top of the fixture's, and returns once it is ready.
func (w *Fixture) Serve(tb testing.TB, env map[string]string) *Service {
	tb.Helper()
	all := maps.Clone(w.Env)
	maps.Copy(all, env)
	s, err := StartService(tb.Context(), w.program, all, nil)
	require.NoError(tb, err)
	tb.Cleanup(func() {
		s.Kill()
		if tb.Failed() {
			tb.Logf("what the service said:\n%s", s.Log())
		}
	})
	require.NoError(tb, s.AwaitReady(tb.Context()))
	return s
}

// Submit submits the dataset for training as Clowder's page does and returns the id of the job.
func (w *Fixture) Submit(tb testing.TB, dataset string, parameters map[string]any) string {
	tb.Helper()
	return w.SubmitTo(tb, Extractor, dataset, parameters)
}

// SubmitTo submits the dataset to one of the extractors.
func (w *Fixture) SubmitTo(tb testing.TB, extractor, dataset string, parameters map[string]any) string {
	tb.Helper()
	id, err := w.Session.Submit(tb.Context(), dataset, extractor, parameters)
	require.NoError(tb, err)
	return id
}

// Records reads the store of the service.
func (w *Fixture) Records(tb testing.TB) []job.Record {
	tb.Helper()
	store := w.openStore(tb)
	defer func() { require.NoError(tb, store.Close()) }()
	return list(tb, store)
}

// AwaitRecords waits until the store of the service holds n records, all over, which is after their last statuses.
func (w *Fixture) AwaitRecords(tb testing.TB, n int) []job.Record {
	tb.Helper()
	store := w.openStore(tb) // once: to open it costs more than all the looks of a wait
	defer func() { require.NoError(tb, store.Close()) }()
	var all []job.Record
	require.Eventually(tb, func() bool {
		all = list(tb, store)
		return len(all) == n && !slices.ContainsFunc(all, func(r job.Record) bool { return r.Active() })
	}, StepTimeout, storePoll, "the jobs are not over")
	return all
}

// openStore opens the store of the service, as another process does.
func (w *Fixture) openStore(tb testing.TB) *job.SQLite {
	tb.Helper()
	store, err := job.OpenSQLite(tb.Context(), filepath.Join(w.Env["STATE_DIR"], "jobs.db"))
	require.NoError(tb, err)
	return store
}

func list(tb testing.TB, store *job.SQLite) []job.Record {
	tb.Helper()
	all, err := store.List(tb.Context(), job.Query{})
	require.NoError(tb, err)
	return all
}

// AwaitJob waits until Clowder shows a job as over.
func (w *Fixture) AwaitJob(tb testing.TB, id string) (clowder.Job, []clowder.JobUpdate) {
	tb.Helper()
	var last clowder.Job
	require.Eventually(tb, func() bool {
		var err error
		last, err = w.Session.Job(tb.Context(), id)
		return err == nil && (last.Status == "SUCCEEDED" || last.Status == "ERROR" || last.Status == "SKIPPED")
	}, StepTimeout, 50*time.Millisecond)
	updates, err := w.Session.JobUpdates(tb.Context(), id)
	require.NoError(tb, err)
	return last, updates
}

// large is the size from which on RequireNoKey does not read a file: it is a sparse one of a hostile training.
const large = 64 << 20

// RequireNoKey fails where the key that the messages carried is found: in the texts, in what lies on the shared volume, or in
// what was uploaded.
func (w *Fixture) RequireNoKey(tb testing.TB, texts ...string) {
	tb.Helper()
	for _, text := range texts {
		require.NotContains(tb, text, clowdertest.JobKeyMark)
	}
	volume := os.DirFS(w.Env["SHARED_DIR"])
	require.NoError(tb, fs.WalkDir(volume, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		if info, err := d.Info(); err != nil || info.Size() > large {
			return err
		}
		body, err := fs.ReadFile(volume, path)
		require.NotContains(tb, string(body), clowdertest.JobKeyMark, path)
		return err
	}))
	files, err := w.Session.Files(tb.Context(), w.Dataset)
	require.NoError(tb, err)
	for _, f := range files {
		body, err := w.Clowder.ReadFile(f.ID)
		require.NoError(tb, err)
		require.NotContains(tb, string(body), clowdertest.JobKeyMark, f.Path)
	}
}
