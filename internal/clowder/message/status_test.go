package message_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/clowder/message"
	"github.com/ncsa/clowder-ray/internal/job"
)

func encoded(t *testing.T, version int, kind message.StatusKind, text string) map[string]string {
	t.Helper()
	req := job.Request{ResourceID: datasetID, JobID: jobID, APIVersion: version}
	at := time.Date(2026, 11, 21, 6, 3, 41, 987654321, time.FixedZone("CET", 3600))
	var out map[string]string
	require.NoError(t, json.Unmarshal(message.EncodeStatus(req, "ncsa.ray.finetune", message.Status{Kind: kind, Text: text, At: at}), &out))
	return out
}

func TestEncodeStatusIsWhatPyclowderSends(t *testing.T) {
	t.Parallel()
	require.Equal(t, map[string]string{
		"file_id": datasetID, "extractor_id": "ncsa.ray.finetune", "job_id": jobID, "status": "StatusMessage.start: Queued, position 2 of 3",
		"start": "2026-11-21T05:03:41+00:00", "message_type": "StatusMessage.start", "message": "Queued, position 2 of 3",
	}, encoded(t, 2, message.StatusStart, "Queued, position 2 of 3"))
}

func TestEncodeStatusLeavesOutAMissingJobID(t *testing.T) {
	t.Parallel()
	body := message.EncodeStatus(job.Request{ResourceID: datasetID}, "x", message.Status{Kind: message.StatusDone, At: time.Unix(0, 0)})
	require.NotContains(t, string(body), "job_id")
}

func TestStatusTextsAreMadeSafe(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		version    int
		kind       message.StatusKind
		text, want string
	}{
		"lines become one":                                {2, message.StatusProcessing, " a\n\tb \x00 c\u202e\xff ", "a b c"},
		"an error does not end like a success":            {2, message.StatusError, "Not Done processing.", "Not Done processing"},
		"a success does not end like a start":             {2, message.StatusDone, "Started processing.", "Started processing"},
		"a start may":                                     {2, message.StatusStart, "Started processing.", "Started processing."},
		"prefixes inside stay readable":                   {2, message.StatusError, "Ray said ERROR: no StatusMessage.done: here", "Ray said ERROR - no StatusMessage.done - here"},
		"v1 takes done anywhere as the end":               {1, message.StatusProcessing, "Not done, abandoned DONE", "Not finished, abando\u2060ned finished"},
		"v1 leaves names as they look":                    {1, message.StatusError, "done.csv and x/Done-1.txt are not done.", "do\u2060ne.csv and x/Do\u2060ne-1.txt are not finished."},
		"v2 does not":                                     {2, message.StatusProcessing, "Not done", "Not done"},
		"the end of a v1 job may say done":                {1, message.StatusDone, "All done", "All done"},
		"an empty text is replaced":                       {2, message.StatusStart, " ", "Started processing."},
		"an empty error does not look like nothing":       {1, message.StatusError, "", "The run failed."},
		"a prefix left by a cut has no blank after it":    {2, message.StatusError, strings.Repeat("x", 193) + " ERROR: y", strings.Repeat("x", 193) + " ERROR…"},
		"the folder at the end of a long success is told": {2, message.StatusDone, strings.Repeat("x", 240) + " in folder finetune/a", strings.Repeat("x", 240) + " in folder finetune/a"},
		"long texts are cut by runes and not by octets":   {2, message.StatusError, strings.Repeat("é", 300), strings.Repeat("é", 199) + "…"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tc.want, encoded(t, tc.version, tc.kind, tc.text)["message"])
		})
	}
}

func TestV1HearsTheTextOfAnEndBeforeTheEnd(t *testing.T) {
	t.Parallel()
	const words = "Results in folder finetune/x"
	for name, tc := range map[string]struct {
		version int
		kind    message.StatusKind
		want    []string
	}{
		"the end of a job of v1":           {1, message.StatusDone, []string{"processing: " + words, "done: " + words}},
		"a skipped job of v1":              {1, message.StatusSkip, []string{"processing: Skipped: " + words, "done: " + words}},
		"an error of v1":                   {1, message.StatusError, []string{"error: " + words}},
		"progress of v1":                   {1, message.StatusProcessing, []string{"processing: " + words}},
		"the end of a job of v2":           {2, message.StatusDone, []string{"done: " + words}},
		"a skipped job of v2":              {2, message.StatusSkip, []string{"skip: " + words}},
		"the end of a job of old versions": {0, message.StatusDone, []string{"done: " + words}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at := time.Unix(5, 0)
			var got []string
			for _, s := range (message.Status{Kind: tc.kind, Text: words, At: at}).InWordsOf(job.Request{APIVersion: tc.version}) {
				require.Equal(t, at, s.At)
				got = append(got, string(s.Kind)+": "+s.Text)
			}
			require.Equal(t, tc.want, got)
		})
	}
}

func FuzzEncodeStatus(f *testing.F) {
	f.Add("error", "x Done processing.", 2)
	f.Add("processing", "abanDONEd ERROR: \r\n", 1)
	f.Add("done", "STARTED: STARTED: ", 2)
	f.Fuzz(func(t *testing.T, kind, text string, version int) {
		if !slices.Contains([]string{"start", "processing", "done", "error", "retry", "skip"}, kind) {
			return
		}
		status := encoded(t, version, message.StatusKind(kind), text)["status"]
		require.True(t, utf8.ValidString(status))
		require.LessOrEqual(t, utf8.RuneCountInString(status), 330)
		require.False(t, kind != "start" && strings.HasSuffix(status, "Started processing."), status)
		require.False(t, kind != "done" && strings.HasSuffix(status, "Done processing."), status)
		require.False(t, version == 1 && kind != "done" && strings.Contains(strings.ToLower(status), "done"), status)
	})
}
