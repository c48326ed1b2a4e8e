package jobsapi

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/rayjob"
)

const listed = `[{"type": "SUBMISSION", "job_id": null, "submission_id": "a", "driver_info": {"id": "1"}, "status": "FAILED", "message": "x\ny", "error_type": null, "driver_exit_code": 1},
	{"type": "DRIVER", "submission_id": null, "status": "RUNNING"}, {"type": "SUBMISSION", "submission_id": "odd", "status": 5},
	{"type": "SUBMISSION", "submission_id": "b", "status": "PENDING", "message": null, "driver_exit_code": null, "new": []}]`

func TestDecodeListing(t *testing.T) {
	t.Parallel()
	code := 1
	var got []details
	require.NoError(t, decodeListing(strings.NewReader(listed), func(d details) { got = append(got, d) }))
	require.Equal(t, []details{
		{Type: submission, SubmissionID: "a", Status: "FAILED", Message: "x\ny", ExitCode: &code},
		{Type: submission, SubmissionID: "b", Status: "PENDING"},
	}, got)
	for name, doc := range map[string]string{
		"nothing": "", "a page": "<html>", "an object": `{"error": "no"}`, "null": "null", "cut off": listed[:len(listed)-1], "cut off in a job": listed[:200],
	} {
		require.Error(t, decodeListing(strings.NewReader(doc), func(details) {}), name)
	}
}

func FuzzDecodeListing(f *testing.F) {
	f.Add([]byte(listed))
	f.Add([]byte(`[{"type": "SUBMISSION", "submission_id": "a", "status": "` + "\u2028" + `"}]`))
	f.Add([]byte(`[1, null, [], {}]`))
	f.Fuzz(func(t *testing.T, doc []byte) {
		_ = decodeListing(bytes.NewReader(doc), func(d details) {
			require.NotEmpty(t, d.SubmissionID)
			checkVerdict(t, d)
		})
	})
}

func FuzzDecodeJob(f *testing.F) {
	f.Add([]byte(`{"type": "SUBMISSION", "status": "FAILED", "message": "Job entrypoint command failed with exit code 1\nValueError: x", "driver_exit_code": 1, "metadata": {"a": "b"}}`))
	f.Add([]byte(`{"status": "FAILED", "error_type": "RUNTIME_ENV_SETUP_FAILURE", "message": "runtime_env setup failed: \u0000\n"}`))
	f.Add([]byte(`{"detail": "proxy"}`))
	f.Fuzz(func(t *testing.T, doc []byte) {
		d, err := decodeOwned(bytes.NewReader(doc))
		if err != nil {
			require.Zero(t, d)
			return
		}
		checkVerdict(t, d.details)
	})
}

// checkVerdict holds for every job that Ray may ever tell of.
func checkVerdict(t *testing.T, d details) {
	t.Helper()
	obs, known := d.judge()
	require.Equal(t, obs.Verdict == rayjob.Failed, d.Status == "FAILED")
	require.Equal(t, obs.Verdict == rayjob.Succeeded, d.Status == "SUCCEEDED")
	if !known {
		require.Equal(t, rayjob.Observation{Verdict: rayjob.Running}, obs)
	}
	require.LessOrEqual(t, utf8.RuneCountInString(obs.Reason), rayjob.MaxReason)
	require.False(t, strings.ContainsFunc(obs.Reason, func(r rune) bool { return !unicode.IsPrint(r) }), "%q", obs.Reason)
}

func FuzzDecodeVersion(f *testing.F) {
	f.Add([]byte(`{"version": "4", "ray_version": "2.60.0", "session_name": "session_1"}`))
	f.Add([]byte(`[]`))
	f.Fuzz(func(t *testing.T, doc []byte) {
		v, err := decodeVersion(bytes.NewReader(doc))
		require.Equal(t, err == nil, v.Ray != "" && v.Session != "")
		_ = old(v.Ray)
	})
}

// FuzzCopyLogs compares the streaming decoder with encoding/json.
func FuzzCopyLogs(f *testing.F) {
	f.Add([]byte(`{"logs": "a\nb\u00fc\ud83d\ude00\ud83dx\"\\"}`), int64(100))
	f.Add([]byte(` { "logs" : null }`), int64(5))
	f.Add([]byte(`{"logs": "\ud83d\u0041\udc00"}`), int64(100))
	f.Add([]byte(`{"logs": "cut`), int64(100))
	f.Fuzz(func(t *testing.T, doc []byte, limit int64) {
		limit = max(0, min(limit, 1<<20))
		var out bytes.Buffer
		err := copyLogs(&out, bytes.NewReader(doc), limit)
		require.LessOrEqual(t, int64(out.Len()), limit+100)
		var want map[string]*string
		if json.Unmarshal(doc, &want) != nil || len(want) != 1 || want["logs"] == nil || !utf8.Valid(doc) || !bytes.HasPrefix(doc, []byte(`{"logs":`)) {
			return
		}
		if bytes.Count(doc, []byte("logs")) > 1 { // a repeated key, or a text about it
			return
		}
		require.NoError(t, err)
		if int64(len(*want["logs"])) < limit {
			require.Equal(t, *want["logs"], out.String())
		}
	})
}

func TestCopyLogsThatAreNone(t *testing.T) {
	t.Parallel()
	for name, doc := range map[string]string{
		"nothing": "", "a page": "<html>", "another key": `{"error": "x"}`, "a number": `{"logs": 5}`, "cut off": `{"logs": "abc`, "cut in an escape": `{"logs": "\u00`,
		"an escape that is none": `{"logs": "\q"}`, "digits that are none": `{"logs": "\uzzzz"}`, "a key that is cut": `{"lo`,
	} {
		require.Error(t, copyLogs(&bytes.Buffer{}, strings.NewReader(doc), 100), name)
	}
	f, err := os.Open(t.TempDir())
	require.NoError(t, err)
	require.Error(t, copyLogs(f, strings.NewReader(`{"logs": "abc"}`), 100), "what cannot be written is an error")
	require.NoError(t, f.Close())
}
