//go:build integration

package faults

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/clowder/clowdertest"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/test/broker"
)

func TestADownloadOverABadLine(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		line  []string
		files *clowdertest.Fault
		// silent says that nothing is noticed for a long time.
		silent bool
	}{
		"that cuts every answer":        {line: []string{someBytes}},
		"that resets every connection":  {line: []string{reset}},
		"that is slow and thin":         {line: []string{slow, thin}},
		"that swallows everything":      {line: []string{blackHole}, silent: true},
		"that cuts the body of a file":  {files: &clowdertest.Fault{Method: http.MethodGet, Path: "/files/", Cut: 5, Times: 3}},
		"that adds bytes to its body":   {files: &clowdertest.Fault{Method: http.MethodGet, Path: "/files/", Extra: 7, Times: 2}},
		"that is an error now and then": {files: &clowdertest.Fault{Status: http.StatusBadGateway, Skip: 1, Times: 4}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newFixture(t, broker.ForTest(t))
			s.start(t, nil)
			end := s.clowder.inject(t, tc.line...)
			if tc.files != nil {
				s.Clowder.Fail(*tc.files)
			}
			id := s.submit(t, nil)
			await(t, "it does not ask for the dataset", func() bool {
				return len(s.Records(t)) == 1 && (tc.files == nil || s.Clowder.Requests(http.MethodGet, "/files/") > 0)
			})
			if tc.files == nil {
				await(t, "it meets no trouble", func() bool {
					r := s.Records(t)[0]
					return r.Failures > 0 || r.State != job.Accepted || name == "that swallows everything"
				})
			}
			end()
			s.clowder.reconnect(t)
			s.succeeds(t, id)
			s.check(t)
		})
	}
}

func TestUploadsThatGoWrong(t *testing.T) {
	t.Parallel()
	post := func(path string, f clowdertest.Fault) clowdertest.Fault {
		f.Method, f.Path = http.MethodPost, path
		return f
	}
	for name, faults := range map[string][]clowdertest.Fault{
		"before their effect": {
			post("/files", clowdertest.Fault{Status: 500, Times: 2}), post("/folders", clowdertest.Fault{Status: 503, Times: 1}),
			post("/metadata", clowdertest.Fault{Status: 500, Times: 1}), post("/visualizations", clowdertest.Fault{Status: 500, Times: 1}),
		},
		"after their effect": {
			post("/files", clowdertest.Fault{Status: 500, After: true, Times: 2}), post("/folders", clowdertest.Fault{Status: 500, After: true, Times: 2}),
			post("/metadata", clowdertest.Fault{Status: 500, After: true, Times: 1}),
			post("/visualizations", clowdertest.Fault{Status: 500, After: true, Times: 2}),
		},
		"with an answer that is cut": {
			post("/files", clowdertest.Fault{Cut: -1, Times: 3}), post("/metadata", clowdertest.Fault{Cut: -1, Times: 1}),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newFixture(t, broker.ForTest(t))
			s.start(t, nil)
			for _, f := range faults {
				s.Clowder.Fail(f)
			}
			id := s.submit(t, nil)
			s.succeeds(t, id)
			require.EqualValues(t, 1, s.Trainings.Load())
			s.check(t)
		})
	}
}

func TestAnUploadThatHangsAfterItsEffect(t *testing.T) {
	t.Parallel()
	s := newFixture(t, broker.ForTest(t))
	s.start(t, nil)
	s.Clowder.Fail(clowdertest.Fault{Method: http.MethodPost, Path: "/files", Hang: true, After: true, Times: 1})
	id := s.submit(t, nil)
	await(t, "nothing is uploaded", func() bool { return s.Clowder.Requests(http.MethodPost, "/files") > 0 })
	s.clowder.reconnect(t) // what a client does that waits no longer
	s.succeeds(t, id)
	s.check(t)
}

func TestClowderIsDownWhenATrainingEnds(t *testing.T) {
	t.Parallel()
	s := newFixture(t, broker.ForTest(t))
	release := s.HoldTrainings()
	first := s.start(t, nil)
	id := s.submit(t, nil)
	s.training(t, 1)
	s.clowder.down()
	release()
	await(t, "it does not try again", func() bool { r := s.Records(t)[0]; return r.State == job.Collected && r.Failures >= 2 })
	require.NoError(t, first.Stop(time.Minute)) // nor does a restart lose anything
	s.startBlind(t)
	await(t, "the second one does not try", func() bool { return s.Records(t)[0].Failures >= 3 })
	require.FileExists(t, filepath.Join(s.Env["SHARED_DIR"], "runs", s.Records(t)[0].Run, "result.json"))
	s.clowder.up(t)
	s.succeeds(t, id)
	require.EqualValues(t, 1, s.Trainings.Load(), "what was trained is not trained again")
	s.check(t)
}

func TestARightThatGoesWhileAJobTrains(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]string{
		http.StatusUnauthorized: "401", http.StatusForbidden: "403", http.StatusNotFound: "404",
	} {
		t.Run(http.StatusText(status), func(t *testing.T) {
			t.Parallel()
			s := newFixture(t, broker.ForTest(t))
			release := s.HoldTrainings()
			s.start(t, nil)
			id := s.submit(t, nil)
			s.training(t, 1)
			s.Clowder.Fail(clowdertest.Fault{Path: "/datasets/" + s.Dataset, Status: status})
			release()
			var last string
			await(t, "the job has no end", func() bool {
				j, err := s.Session.Job(t.Context(), id)
				last = j.Message
				return err == nil && j.Status == "ERROR"
			})
			require.Contains(t, last, want)
			require.Equal(t, status != http.StatusNotFound, strings.Contains(last, "with ncsa.ray.runs"), "what the user can do: %s", last)
			s.Clowder.ClearFaults()
			rec := s.AwaitRecords(t, 1)[0]
			require.Equal(t, job.Failed, rec.State)
			require.FileExists(t, filepath.Join(s.Env["SHARED_DIR"], "runs", rec.Run, "result.json"), "the results are kept for a retry")
			s.check(t)
		})
	}
}

func TestAResultThatIsGoneBeforeItIsCollected(t *testing.T) {
	t.Parallel()
	s := newFixture(t, broker.ForTest(t))
	release := s.HoldTrainings()
	first := s.start(t, nil)
	id := s.submit(t, nil)
	s.training(t, 1)
	require.NoError(t, first.Stop(time.Minute))
	release()
	out := filepath.Join(s.Env["SHARED_DIR"], "runs", s.Records(t)[0].Run, "out", "model", "model.safetensors")
	await(t, "nothing is trained", func() bool {
		_, err := os.Stat(filepath.Join(filepath.Dir(out), "..", "..", "result.json"))
		return err == nil
	})
	require.NoError(t, os.Remove(out))
	s.start(t, map[string]string{"MAX_RETRY": "2"})
	last, _ := s.AwaitJob(t, id)
	require.Equal(t, "ERROR", last.Status)
	require.Contains(t, last.Message, "model.safetensors")
	files, err := s.Session.Files(t.Context(), s.Dataset)
	require.NoError(t, err)
	require.Len(t, files, 1, "half of a result is not delivered")
	s.check(t)
}

// TestAKeyThatIsRevokedWhileAJobTrains: the job ends clearly, and goes on with the new key of who retries it.
func TestAKeyThatIsRevokedWhileAJobTrains(t *testing.T) {
	t.Parallel()
	s := newFixture(t, broker.ForTest(t))
	release := s.HoldTrainings()
	s.start(t, nil)
	id := s.submit(t, nil)
	s.training(t, 1)
	rec := s.Records(t)[0]
	s.Clowder.RevokeKey(rec.SecretKey.Reveal())
	release()
	var last string
	await(t, "the job has no end", func() bool {
		j, err := s.Session.Job(t.Context(), id)
		last = j.Message
		return err == nil && j.Status == "ERROR"
	})
	require.Contains(t, last, "was revoked or has expired")
	require.Contains(t, last, "retry "+rec.Run)
	again := s.submitTo(t, "ncsa.ray.runs", map[string]any{"action": "retry", "run": rec.Run})
	ended, _ := s.AwaitJob(t, again)
	require.Equal(t, "SUCCEEDED", ended.Status, ended.Message)
	files, err := s.Session.Files(t.Context(), s.Dataset)
	require.NoError(t, err)
	require.Greater(t, len(files), 1, "the results are delivered")
	s.check(t)
}
