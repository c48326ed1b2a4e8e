package job_test

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/job/jobtest"
)

func TestADamagedStoreSaysWhatToDo(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func(doc []byte) []byte{
		"another file":           func([]byte) []byte { return []byte("this is a text and no database, and it is long enough") },
		"zeros at the beginning": func(doc []byte) []byte { clear(doc[:4096]); return doc },
		"a torn file":            func(doc []byte) []byte { return doc[:len(doc)/2+100] },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "jobs.db")
			s := openStore(t, path)
			for i := range 50 {
				accept(t, s, fmt.Sprintf("ft-%d", i))
			}
			require.NoError(t, s.Close())
			doc, err := os.ReadFile(path)
			require.NoError(t, err)
			doc = damage(doc)
			require.NoError(t, os.WriteFile(path, doc, 0o600))
			_, err = job.OpenSQLite(t.Context(), path)
			require.ErrorContains(t, err, path)
			require.ErrorContains(t, err, "restore it from a backup")
			require.NotContains(t, err.Error(), "\n")
			left, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Equal(t, doc, left, "what may still be recovered stays as it is")
		})
	}
}

// alter changes the file of a store as another program could.
func alter(t *testing.T, path, statement string, args ...any) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path)
	require.NoError(t, err)
	_, err = db.ExecContext(t.Context(), statement, args...)
	require.NoError(t, err)
	require.NoError(t, db.Close())
}

func TestASealedKeyOpensOnlyInItsOwnRecordAndUnchanged(t *testing.T) {
	t.Parallel()
	for name, statement := range map[string]string{
		"moved from another job": "UPDATE jobs SET secret = (SELECT secret FROM jobs WHERE run = 'ft-two') WHERE run = 'ft-one'",
		"cut short":              "UPDATE jobs SET secret = substr(secret, 1, 12) WHERE run = 'ft-one'",
		"no base64":              "UPDATE jobs SET secret = '!' || secret WHERE run = 'ft-one'",
		"a key in clear":         "UPDATE jobs SET secret = 'key-of-the-attacker' WHERE run = 'ft-one'",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "jobs.db")
			s := openStore(t, path, job.WithKeys(keyring(t, stateKey(1))))
			accept(t, s, "ft-one")
			accept(t, s, "ft-two")
			alter(t, path, statement)
			_, err := s.Get(t.Context(), "ft-one")
			require.ErrorContains(t, err, "ft-one: the record of this job is damaged: the sealed key of the user was changed in the store")
			require.ErrorIs(t, err, job.ErrDamaged)
			require.NotContains(t, err.Error(), "attacker")
			require.NotContains(t, err.Error(), canary)
			rec, err := s.Get(t.Context(), "ft-two")
			require.NoError(t, err)
			require.Equal(t, canary, rec.SecretKey.Reveal())
		})
	}
}

func TestARotationThatFailsChangesNothing(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "jobs.db")
	s := openStore(t, path, job.WithKeys(keyring(t, stateKey(1))))
	for i := range 20 {
		accept(t, s, fmt.Sprintf("ft-%d", i))
	}
	alter(t, path, "UPDATE jobs SET secret = 'AAAA' WHERE run = 'ft-7'")
	both := openStore(t, path, job.WithKeys(keyring(t, stateKey(2)+" "+stateKey(1))))
	require.ErrorContains(t, both.Reseal(t.Context()), "was changed in the store")
	require.NoError(t, both.Close())
	rec, err := s.Get(t.Context(), "ft-8")
	require.NoError(t, err, "the old key still opens all others")
	require.Equal(t, canary, rec.SecretKey.Reveal())
}

func TestKeysAreRotatedWhileJobsChange(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "jobs.db")
	old := openStore(t, path, job.WithKeys(keyring(t, stateKey(1))))
	const jobs, changes = 10, 10
	for i := range jobs {
		accept(t, old, fmt.Sprintf("ft-%d", i))
	}
	both := openStore(t, path, job.WithKeys(keyring(t, stateKey(2)+" "+stateKey(1))))
	var all sync.WaitGroup
	for i := range jobs {
		all.Go(func() {
			for range changes {
				if _, err := both.Change(t.Context(), fmt.Sprintf("ft-%d", i), func(r *job.Record) error { r.Failures++; return nil }); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Go(func() {
		if err := both.Reseal(t.Context()); err != nil {
			t.Error(err)
		}
	})
	all.Wait()
	fresh := openStore(t, path, job.WithKeys(keyring(t, stateKey(2))))
	for i := range jobs {
		rec, err := fresh.Get(t.Context(), fmt.Sprintf("ft-%d", i))
		require.NoError(t, err)
		require.Equal(t, canary, rec.SecretKey.Reveal())
		require.Equal(t, changes, rec.Failures, "no change was lost")
	}
}

func TestARecordChangesOnlyAsItsStatesAllow(t *testing.T) {
	t.Parallel()
	other := errors.New("other")
	for name, tc := range map[string]struct {
		change func(*job.Record) error
		want   string
	}{
		"an unknown state":       {func(r *job.Record) error { r.State = "paused"; return nil }, `unknown state "paused"`},
		"a state before":         {func(r *job.Record) error { r.State = job.Accepted; return nil }, "running (attempt 1) to accepted (attempt 1): a job never goes backwards"},
		"an attempt before":      {func(r *job.Record) error { r.Attempt = 0; return nil }, "a job never goes backwards"},
		"another name":           {func(r *job.Record) error { r.Run = "ft-two"; return nil }, "its identity cannot be changed"},
		"another request":        {func(r *job.Record) error { r.Request.BodyHash = "h2"; return nil }, "its identity cannot be changed"},
		"an error of the caller": {func(r *job.Record) error { r.State = job.Done; return other }, "other"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := openStore(t, filepath.Join(t.TempDir(), "jobs.db"))
			accept(t, s, "ft-one")
			before, err := s.Change(t.Context(), "ft-one", func(r *job.Record) error { r.Advance(job.Running); return nil })
			require.NoError(t, err)
			_, err = s.Change(t.Context(), "ft-one", tc.change)
			require.ErrorContains(t, err, tc.want)
			after, err := s.Get(t.Context(), "ft-one")
			require.NoError(t, err)
			require.Equal(t, before.Version, after.Version, "nothing was written")
			require.Equal(t, job.Running, after.State)
		})
	}
}

func TestPostponedErrorsAreBoundedAndForgottenByProgress(t *testing.T) {
	t.Parallel()
	rec := jobtest.Record("ft-one", "h1")
	until := time.Unix(100, 0).UTC()
	rec.Postpone(until, "Ray is down")
	rec.Postpone(until, strings.Repeat("ä", 1<<20))
	require.Equal(t, 2, rec.Failures)
	require.Equal(t, until, rec.NotBefore)
	require.Less(t, len(rec.LastError), 9<<10)
	require.True(t, strings.HasSuffix(rec.LastError, "ä…"), "no character is cut in two")
	rec.Advance(job.Staged)
	require.Zero(t, rec.Failures)
	require.True(t, rec.NotBefore.IsZero())
	require.Empty(t, rec.LastError)
	require.ErrorContains(t, rec.Close(), "no end is decided")
}

func TestPredictionsGoWhereTheFormSays(t *testing.T) {
	t.Parallel()
	for write, want := range map[string]bool{"": false, "file": false, "metadata": true, "both": true, "BOTH": false} {
		require.Equal(t, want, job.NewSettings(map[string]any{"write": write}).WritesMetadata(), write)
	}
}

// overwrite changes bytes in the closed file of a store, as a failing disk could. Both texts have the same length.
func overwrite(t *testing.T, path, before, after string) {
	t.Helper()
	require.Len(t, after, len(before))
	doc, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, 1, bytes.Count(doc, []byte(before)))
	require.NoError(t, os.WriteFile(path, bytes.Replace(doc, []byte(before), []byte(after), 1), 0o600))
}

func TestADamagedRecordIsLeftOutOfAListAndHarmsNoOther(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func(t *testing.T, path string){
		"a lost character": func(t *testing.T, path string) {
			t.Helper()
			overwrite(t, path, `{"run":"ft-bad"`, `{"run";"ft-bad"`)
		},
		"a zero": func(t *testing.T, path string) {
			t.Helper()
			overwrite(t, path, `{"run":"ft-bad"`, "\x00"+`"run":"ft-bad"`)
		},
		"another kind of document": func(t *testing.T, path string) {
			t.Helper()
			alter(t, path, "UPDATE jobs SET record = x'5b315d' WHERE run = 'ft-bad'")
		},
		"a field of another kind": func(t *testing.T, path string) {
			t.Helper()
			alter(t, path, `UPDATE jobs SET record = CAST('{"attempt": "two"}' AS BLOB) WHERE run = 'ft-bad'`)
		},
		"a key that was changed": func(t *testing.T, path string) {
			t.Helper()
			alter(t, path, "UPDATE jobs SET secret = 'AAAA' WHERE run = 'ft-bad'")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "jobs.db")
			s := openStore(t, path, job.WithKeys(keyring(t, stateKey(1))))
			for _, run := range []string{"ft-before", "ft-bad", "ft-after"} {
				accept(t, s, run)
			}
			require.NoError(t, s.Close())
			damage(t, path)

			left := map[string]error{}
			s = openStore(t, path, job.WithKeys(keyring(t, stateKey(1))), job.WithLeftOut(func(run string, why error) { left[run] = why }))
			recs, err := s.List(t.Context(), job.Query{Active: true})
			require.NoError(t, err)
			require.Len(t, recs, 2)
			require.Equal(t, "ft-before", recs[0].Run)
			require.Equal(t, "ft-after", recs[1].Run)
			require.Len(t, left, 1)
			require.ErrorIs(t, left["ft-bad"], job.ErrDamaged)
			require.NotContains(t, left["ft-bad"].Error(), canary)
			_, err = s.List(t.Context(), job.Query{Dataset: recs[0].Request.DatasetID})
			require.NoError(t, err)

			_, err = s.Get(t.Context(), "ft-bad")
			require.ErrorIs(t, err, job.ErrDamaged, "it is not taken for a job that is gone")
			_, err = s.Change(t.Context(), "ft-bad", func(r *job.Record) error { r.Attempt++; return nil })
			require.ErrorIs(t, err, job.ErrDamaged)
			_, err = s.Change(t.Context(), "ft-after", func(r *job.Record) error { r.Attempt++; return nil })
			require.NoError(t, err)
			_, err = s.Shrink(t.Context())
			require.NoError(t, err)
		})
	}
}

func TestADamagedRecordDoesNotKeepOldOnes(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "jobs.db")
	s := openStore(t, path)
	for _, run := range []string{"ft-bad", "ft-old"} {
		accept(t, s, run)
		_, err := s.Change(t.Context(), run, func(r *job.Record) error {
			r.Ending = &job.Ending{State: job.Failed, Text: "it failed"}
			return r.Close()
		})
		require.NoError(t, err)
	}
	require.NoError(t, s.Close())
	overwrite(t, path, `{"run":"ft-bad"`, `{"run";"ft-bad"`)
	s = openStore(t, path)
	n, err := s.Forget(t.Context(), time.Now().Add(time.Hour))
	require.NoError(t, err)
	require.Equal(t, 1, n)
	_, err = s.Get(t.Context(), "ft-bad")
	require.ErrorIs(t, err, job.ErrDamaged, "a backup can still replace it")
}
