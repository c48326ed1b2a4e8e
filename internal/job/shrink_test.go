package job_test

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/job/jobtest"
)

// nested is a JSON object of about n bytes that takes a hundred times as many when it is decoded.
func nested(n int) json.RawMessage {
	var b bytes.Buffer
	b.WriteString(`{"epochs":"2"`)
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, `,"%d":[[[[[[[[[[{"a":{}}]]]]]]]]]]`, i)
	}
	b.WriteString("}")
	return b.Bytes()
}

// plant puts a record into the store as the version before wrote it: without any limit.
func plant(t *testing.T, path string, rec job.Record, alter func(doc map[string]json.RawMessage)) {
	t.Helper()
	own, err := json.Marshal(rec)
	require.NoError(t, err)
	doc := map[string]json.RawMessage{}
	require.NoError(t, json.Unmarshal(own, &doc))
	alter(doc)
	body, err := json.Marshal(doc)
	require.NoError(t, err)
	db, err := sql.Open("sqlite", "file:"+path)
	require.NoError(t, err)
	_, err = db.ExecContext(t.Context(), `INSERT INTO jobs (run, version, state, active, created, updated, secret, record) VALUES (?, 1, ?, ?, ?, ?, ?, ?)`,
		rec.Run, rec.State, rec.Active(), rec.Created.UnixNano(), rec.Updated.UnixNano(), rec.SecretKey.Reveal(), body)
	require.NoError(t, err)
	require.NoError(t, db.Close())
}

// withParameters gives a planted record these parameters.
func withParameters(t *testing.T, parameters json.RawMessage) func(map[string]json.RawMessage) {
	t.Helper()
	return func(doc map[string]json.RawMessage) {
		request := map[string]json.RawMessage{}
		require.NoError(t, json.Unmarshal(doc["request"], &request))
		request["parameters"] = parameters
		body, err := json.Marshal(request)
		require.NoError(t, err)
		doc["request"] = body
	}
}

// storeWith makes a store of the version before with one small record, and plants others.
func storeWith(t *testing.T, planted ...func(path string)) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "jobs.db")
	s := openStore(t, path)
	accept(t, s, "ft-small")
	require.NoError(t, s.Close())
	for _, plant := range planted {
		plant(path)
	}
	return path
}

// old is a record as the version before would have written it now.
func old(run string, alter func(*job.Record)) job.Record {
	rec := jobtest.Record(run, "h1")
	rec.Created = time.Now().UTC()
	rec.Updated = rec.Created
	alter(&rec)
	return rec
}

const sentence = "the parameters of this request are too large (4.2 MB, at most 64 kB are taken): submit it again with the fields of the form only"

func TestARecordThatIsTooLargeIsMadeSmallWithoutDecodingIt(t *testing.T) {
	path := storeWith(t, func(path string) {
		plant(t, path, old("ft-large", func(r *job.Record) {
			r.Handle, r.StartSent, r.Attempt, r.State = &job.Handle{Backend: "x", ID: "ft-large-a2"}, true, 2, job.Running
		}), withParameters(t, nested(4<<20)))
	})
	before := allocated()
	s := openStore(t, path)
	list, err := s.List(t.Context(), job.Query{})
	require.NoError(t, err)
	require.Len(t, list, 1, "one record that cannot be read hides no other")
	_, err = s.Get(t.Context(), "ft-large")
	require.ErrorIs(t, err, job.ErrTooLarge)
	_, err = s.Change(t.Context(), "ft-large", func(*job.Record) error { return nil })
	require.ErrorIs(t, err, job.ErrTooLarge)

	runs, err := s.Shrink(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"ft-large"}, runs)
	list, err = s.List(t.Context(), job.Query{Active: true})
	require.NoError(t, err)
	require.Len(t, list, 2)
	require.Less(t, allocated()-before, uint64(4<<20), "bytes in Go, opening and all looks together")

	rec := list[1]
	require.Equal(t, &job.Ending{State: job.Failed, Text: sentence, BadInput: true}, rec.Ending)
	require.Equal(t, job.Running, rec.State, "whose attempt is released when the end is told")
	require.Equal(t, 2, rec.Attempt)
	require.Equal(t, &job.Handle{Backend: "x", ID: "ft-large-a2"}, rec.Handle)
	require.Equal(t, canary, rec.SecretKey.Reveal())
	require.True(t, rec.StartSent)
	require.Nil(t, rec.Stale)
	want := jobtest.Record("ft-large", "h1")
	want.Request.Parameters = nil
	require.Equal(t, want.Request, rec.Request)
	require.Equal(t, want.Owner, rec.Owner)
	require.EqualValues(t, 2, rec.Version)

	rec, err = s.Change(t.Context(), "ft-large", (*job.Record).Close)
	require.NoError(t, err)
	require.Equal(t, job.Failed, rec.State)
	require.ErrorContains(t, rec.Retry(), "no longer has its parameters")
	runs, err = s.Shrink(t.Context())
	require.NoError(t, err)
	require.Empty(t, runs, "done once")
}

func TestWhatARecordThatIsTooLargeKeeps(t *testing.T) {
	t.Parallel()
	blob := json.RawMessage(`"` + strings.Repeat("x", 2<<20) + `"`)
	for name, tc := range map[string]struct {
		record func(*job.Record)
		alter  func(doc map[string]json.RawMessage)
		check  func(t *testing.T, rec job.Record)
	}{
		"one that is over stays as it ended": {
			record: func(r *job.Record) {
				r.State, r.Ending = job.Done, &job.Ending{State: job.Done, Text: "accuracy 0.9"}
				r.Model, r.Ledger = []byte(`{"name":"m"}`), []byte(`[1]`)
			},
			alter: withParameters(t, nested(5<<18)),
			check: func(t *testing.T, rec job.Record) {
				t.Helper()
				require.Equal(t, job.Done, rec.State)
				require.Equal(t, "accuracy 0.9", rec.Ending.Text)
				require.JSONEq(t, `{"name":"m"}`, string(rec.Model))
				require.JSONEq(t, `[1]`, string(rec.Ledger))
			},
		},
		"an end that is decided stands": {
			record: func(r *job.Record) { r.Ending = &job.Ending{State: job.Cancelled, Text: "Cancelled by alice"} },
			alter:  withParameters(t, nested(5<<18)),
			check: func(t *testing.T, rec job.Record) {
				t.Helper()
				require.Equal(t, &job.Ending{State: job.Cancelled, Text: "Cancelled by alice"}, rec.Ending)
			},
		},
		"one whose parameters are not to blame": {
			record: func(*job.Record) {},
			alter:  func(doc map[string]json.RawMessage) { doc["ledger"], doc["last_error"] = blob, blob },
			check: func(t *testing.T, rec job.Record) {
				t.Helper()
				require.Equal(t, "what must be remembered of this job is too large (4.2 MB, at most 1.0 MB are kept): submit it again", rec.Ending.Text)
				require.Nil(t, rec.Ledger)
				require.Empty(t, rec.LastError)
			},
		},
		"texts that are too long": {
			record: func(*job.Record) {},
			alter: func(doc map[string]json.RawMessage) {
				doc["owner"], doc["handle"] = blob, blob
			},
			check: func(t *testing.T, rec job.Record) {
				t.Helper()
				require.Len(t, rec.Owner, 1000)
				require.Nil(t, rec.Handle)
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := storeWith(t, func(path string) { plant(t, path, old("ft-large", tc.record), tc.alter) })
			s := openStore(t, path)
			runs, err := s.Shrink(t.Context())
			require.NoError(t, err)
			require.Len(t, runs, 1)
			rec, err := s.Get(t.Context(), "ft-large")
			require.NoError(t, err)
			require.True(t, rec.Trimmed)
			tc.check(t, rec)
		})
	}
}

func TestAListNamesWhatItLeavesOut(t *testing.T) {
	t.Parallel()
	path := storeWith(t, func(path string) {
		plant(t, path, old("ft-large", func(*job.Record) {}), withParameters(t, nested(5<<18)))
	})
	var left []string
	s := openStore(t, path, job.WithLeftOut(func(run string, why error) {
		left = append(left, run)
		require.ErrorIs(t, why, job.ErrTooLarge)
	}))
	_, err := s.List(t.Context(), job.Query{})
	require.NoError(t, err)
	require.Equal(t, []string{"ft-large"}, left)
}

func TestARecordThatIsTooLargeIsNotWrittenAndItsJobCanBeEnded(t *testing.T) {
	t.Parallel()
	s := openStore(t, filepath.Join(t.TempDir(), "jobs.db"))
	large := jobtest.Record("ft-large", "h1")
	large.Request.Parameters = map[string]any{"text": strings.Repeat("x", 1<<20)}
	requireTooLarge := func(err error) {
		t.Helper()
		require.ErrorIs(t, err, job.ErrTooLarge)
		kind, _ := job.Classify(err)
		require.Equal(t, job.KindPermanent, kind)
		require.Regexp(t, `^what must be remembered of this job is too large \([12]\.. MB, at most 1\.0 MB are kept\): submit it again`, err.Error())
	}
	_, _, err := s.Accept(t.Context(), large)
	requireTooLarge(err)
	_, err = s.Get(t.Context(), "ft-large")
	require.ErrorIs(t, err, job.ErrNotFound)

	accept(t, s, "ft-full")
	rec, err := s.Change(t.Context(), "ft-full", func(r *job.Record) error {
		r.Ledger = json.RawMessage(`"` + strings.Repeat("x", 1<<20-2000) + `"`)
		return nil
	})
	require.NoError(t, err)
	_, err = s.Amend(t.Context(), rec, func(r *job.Record) error { r.Model = r.Ledger; return nil })
	requireTooLarge(err)
	rec, err = s.Amend(t.Context(), rec, func(r *job.Record) error {
		r.End(job.Failed, strings.Repeat("<", 100_000))
		return r.Close()
	})
	require.NoError(t, err, "the end has room of its own")
	stored, err := s.Get(t.Context(), "ft-full")
	require.NoError(t, err)
	require.Equal(t, rec, stored)
}

func TestAKilledShrinkGoesOnAtTheNextStart(t *testing.T) {
	t.Parallel()
	path := storeWith(t, func(path string) {
		for _, run := range []string{"ft-1", "ft-2", "ft-3"} {
			plant(t, path, old(run, func(*job.Record) {}), withParameters(t, nested(5<<18)))
		}
	})
	s := openStore(t, path)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := s.Shrink(ctx)
	require.Error(t, err)
	runs, err := s.Shrink(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"ft-1", "ft-2", "ft-3"}, runs)
	list, err := s.List(t.Context(), job.Query{})
	require.NoError(t, err)
	require.Len(t, list, 4)
}

// allocated is how many bytes this program has allocated in Go so far.
func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}
