package objects

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"go.uber.org/zap/zaptest"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/pipeline/volume"
	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/s3"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// memory is a store that keeps what it is given. The real one has tests of its own on a MinIO.
type memory struct {
	mu      sync.Mutex
	sources map[string][]job.Input // what Stage returns, by address
	files   map[string]string
	sets    []string
	who     []s3.Requester
	fails   error
	changed chan struct{}
}

func (s *memory) Stage(_ context.Context, r s3.Request, _ func(string)) (all []job.Input, err error) {
	s.who = append(s.who, r.Who)
	for _, in := range s.sources[r.Address] {
		in.Name, in.Path = path.Join(r.Name, in.Name), path.Join(r.Place, in.Name)
		all = append(all, in)
	}
	return all, s.fails
}

func (s *memory) Check(address string, _ s3.Requester) error {
	if address != "s3://out/runs" {
		return job.Permanent(fmt.Errorf("%s cannot be written to", address))
	}
	return nil
}

func (s *memory) Upload(_ context.Context, _ string, who s3.Requester, set s3.Set) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer func() { s.changed <- struct{}{} }()
	if s.fails != nil {
		return s.fails
	}
	for _, f := range set.Files {
		body, err := f.Open()
		if err != nil {
			return err
		}
		content, err := io.ReadAll(body)
		if err := errors.Join(err, body.Close()); err != nil {
			return err
		}
		s.files[path.Join(set.Run, set.Name, f.Name)] = string(content)
	}
	s.who = append(s.who, who)
	s.sets = append(s.sets, set.Name)
	return nil
}

func (s *memory) Sets(_ context.Context, _ string, _ s3.Requester, _, folder string) (names []string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range s.sets {
		if path.Dir(name) == folder {
			names = append(names, path.Base(name))
		}
	}
	return names, nil
}

func (s *memory) Remove(_ context.Context, _ string, _ s3.Requester, _, name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sets = slices.DeleteFunc(s.sets, func(one string) bool { return one == name })
	return nil
}

const run = "ft-one"

// fixture is a mover over a volume and a store in memory.
type fixture struct {
	*Mover
	store *memory
	dir   string
	said  chan string
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	w := &fixture{store: &memory{files: map[string]string{}, changed: make(chan struct{}, 100)}, dir: t.TempDir(), said: make(chan string, 100)}
	user := func(context.Context, job.Record) (string, error) { return "ada@example.org", nil }
	w.Mover = New(w.store, volume.Volume{Dir: w.dir}, user, zaptest.NewLogger(t))
	require.NoError(t, os.MkdirAll(filepath.Join(w.dir, "runs", run), 0o755))
	return w
}

func record(values map[string]any) job.Record {
	return job.Record{Run: run, Request: job.Request{DatasetID: "d1"}, Settings: job.NewSettings(values)}
}

func (f *fixture) write(t *testing.T, name, content string) {
	t.Helper()
	file := filepath.Join(f.dir, "runs", run, name)
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
	require.NoError(t, os.WriteFile(file, []byte(content), 0o600))
}

func TestCodeAndDataJoinTheDataset(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.store.sources = map[string][]job.Input{"s3://lab/code": {{Name: "train.py"}}, "s3://lab/set": {{Name: "a.csv"}, {Name: "deep/b.csv"}}}
	inputs, err := f.Stage(t.Context(), record(map[string]any{"code_source": "s3://lab/code", "data_source": " s3://lab/set ", "output_target": "s3://out/runs"}),
		[]job.Input{{Name: "notes.txt"}}, func(string) {})
	require.NoError(t, err)
	require.Equal(t, []job.Input{
		{Name: "train.py", Path: ".s3/code/train.py"}, {Name: "data/a.csv", Path: ".s3/data/a.csv"}, {Name: "data/deep/b.csv", Path: ".s3/data/deep/b.csv"},
	}, inputs)
	require.Equal(t, s3.Requester{User: "ada@example.org", Dataset: "d1"}, f.store.who[0])
}

func TestAddressesThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		values map[string]any
		none   bool
		want   string
	}{
		"a file that the dataset has too":   {map[string]any{"code_source": "s3://lab/code"}, false, "both the dataset and s3://lab/code have a file train.py: rename one"},
		"two sources with the same file":    {map[string]any{"code_source": "s3://lab/tree", "data_source": "s3://lab/set"}, false, "both s3://lab/tree and s3://lab/set have a file data/a.csv"},
		"a target that cannot be written":   {map[string]any{"output_target": "s3://other"}, false, "s3://other cannot be written to"},
		"no store at all":                   {map[string]any{"data_source": "s3://lab/set"}, true, "ask the administrator of the extractor to set S3_SOURCES"},
		"no store at all, only for results": {map[string]any{"output_target": "s3://out/runs"}, true, "set S3_SOURCES"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.store.sources = map[string][]job.Input{"s3://lab/code": {{Name: "train.py"}}, "s3://lab/set": {{Name: "a.csv"}}, "s3://lab/tree": {{Name: "data/a.csv"}}}
			if tc.none {
				f.Mover.store = nil
			}
			_, err := f.Stage(t.Context(), record(tc.values), []job.Input{{Name: "train.py"}}, func(string) {})
			kind, _ := job.Classify(err)
			require.Equal(t, job.KindPermanent, kind)
			require.ErrorContains(t, err, tc.want)
		})
	}
}

func TestAJobWithoutAddressesNeedsNoStore(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.Mover.store = nil
	inputs, err := f.Stage(t.Context(), record(map[string]any{"data_source": ""}), nil, func(string) {})
	require.NoError(t, err)
	require.Empty(t, inputs)
	said, err := f.Deliver(t.Context(), record(nil), &results.Result{})
	require.NoError(t, err)
	require.Empty(t, said)
	f.Look(record(nil), func(string) {})
}

func TestResultsAreCopied(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.write(t, "out/model/a.pt", "")
	const empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
	result := &results.Result{Outputs: []results.Output{{Path: "out/model/a.pt", SHA256: empty}}}
	rec := record(map[string]any{"output_target": "s3://out/runs"})
	said, err := f.Deliver(t.Context(), rec, result)
	require.NoError(t, err)
	require.Equal(t, ". A copy is in s3://out/runs/ft-one", said)
	require.Equal(t, map[string]string{"ft-one/outputs/model/a.pt": ""}, f.store.files)

	f.store.fails = job.Permanent(errors.New("the store does not allow to write to s3://out/runs"))
	said, err = f.Deliver(t.Context(), rec, result)
	require.NoError(t, err, "the results are in Clowder all the same")
	require.Equal(t, ". They could not be copied to s3://out/runs: the store does not allow to write to s3://out/runs", said)

	f.store.fails = job.Retryable(errors.New("away"))
	_, err = f.Deliver(t.Context(), rec, result)
	require.ErrorContains(t, err, "away", "the job waits for the store")
}

// snapshot writes a snapshot as the trainer publishes it.
func (f *fixture) snapshot(t *testing.T, number int) {
	t.Helper()
	const empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
	folder := fmt.Sprintf("checkpoints/%06d", number)
	f.write(t, folder+"/files/out/a.pt", "")
	f.write(t, folder+"/manifest.json", `{"number": 1, "files": [{"path": "out/a.pt", "size": 0, "sha256": "`+empty+`", "mode": 420}]}`)
}

func TestSnapshotsAreCopiedWhileARunGoesOn(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); f.Run(ctx) }()
	defer func() { stop(); <-ended }()
	rec := record(map[string]any{"output_target": "s3://out/runs"})
	say := func(text string) { f.said <- text }
	f.Look(rec, say) // there is none yet
	for number := 1; number <= 4; number++ {
		f.snapshot(t, number)
		f.Look(rec, say)
		<-f.store.changed
		require.Eventually(t, func() bool {
			f.mu.Lock()
			defer f.mu.Unlock()
			return f.runs[run].done == fmt.Sprintf("%06d", number)
		}, 10*time.Second, time.Millisecond)
	}
	require.Equal(t, []string{"checkpoints/000003", "checkpoints/000004"}, f.store.sets, "older ones are removed")
	f.Look(rec, say)
	f.Forget(run)
	require.Empty(t, f.said)
	require.Empty(t, f.store.changed, "a snapshot is copied once")
}

func TestAFailedCopyIsToldOnceAndTheRunGoesOn(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.store.fails = job.Retryable(errors.New("S3_SOURCES: the bucket out has credentials that have expired: renew them"))
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); f.Run(ctx) }()
	defer func() { stop(); <-ended }()
	rec := record(map[string]any{"output_target": "s3://out/runs"})
	f.snapshot(t, 1)
	for range 3 {
		f.Look(rec, func(text string) { f.said <- text })
	}
	require.Equal(t, "The checkpoints cannot be copied to s3://out/runs now: S3_SOURCES: the bucket out has credentials that have expired: renew them; the run goes on", <-f.said)
	require.Empty(t, f.said)
}

func TestSnapshotsThatNobodyShouldCopy(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ manifest, want string }{
		"no list":            {`{"files": `, "is damaged"},
		"a file outside":     {`{"files": [{"path": "../../spec.json", "size": 1}]}`, "has a file outside of it"},
		"an absolute path":   {`{"files": [{"path": "/etc/passwd", "size": 1}]}`, "has a file outside of it"},
		"a size below zero":  {`{"files": [{"path": "a", "size": -1}]}`, "has a file outside of it"},
		"a list of a number": {`3`, "is damaged"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.write(t, "checkpoints/000001/manifest.json", tc.manifest)
			require.Equal(t, "000001", f.newest(run))
			_, err := f.Mover.snapshot(run, "000001")
			require.ErrorContains(t, err, tc.want)
		})
	}
	f := newFixture(t)
	f.write(t, "checkpoints/notes", "")
	f.write(t, "checkpoints/000002", "a file")
	require.Empty(t, f.newest(run))
}
