package message_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/clowder/message"
	"github.com/ncsa/clowder-ray/internal/job"
)

// fromV1 is a message of v1 with the fields that each one has, and some more.
func fromV1(fields string) string {
	return `{"notifies":["alice@example.org"],"source":{"id":{"resourceType":"'dataset","id":"` + datasetID + `"},"extra":{}},"jobid":"` + jobID + `",
"msgid":"6b0197f2c3a1d2e4f506172b","flags":"","intermediateId":"` + datasetID + `","host":"http://127.0.0.1:8899","fileSize":"0","target":"{}",
"secretKey":"KEY",` + fields + `}`
}

func TestOnlySubmissionsOfV1AreRequests(t *testing.T) {
	t.Parallel()
	const file, dataset = `"id":"` + fileID + `","datasetId":"` + datasetID + `",`, `"id":"` + datasetID + `","datasetId":"` + datasetID + `",`
	for name, tc := range map[string]struct {
		fields    string
		resource  string // that a status is about
		submitted bool
	}{
		"a dataset that a person submits":       {dataset + `"datasetname":"d","activity":"submitted","routing_key":"extractors.q","parameters":"{}","action":"manual-submission"`, datasetID, true},
		"a file that a person submits":          {file + `"filename":"a.csv","activity":"submitted","routing_key":"extractors.q","parameters":{},"action":"manual-submission"`, fileID, true},
		"a file that was uploaded":              {file + `"filename":"a.csv","activity":"created","routing_key":"clowder.file.text.csv"`, fileID, false},
		"a file that was added to a dataset":    {file + `"activity":"added","routing_key":"clowder.dataset.file.added"`, fileID, false},
		"files that were added to a dataset":    {dataset + `"activity":"added","routing_key":"clowder.dataset.files.added","filenames":"List(a.csv, b.csv)"`, datasetID, false},
		"a file that was removed":               {file + `"activity":"removed","routing_key":"clowder.dataset.file.removed"`, fileID, false},
		"metadata that was added to a dataset":  {dataset + `"activity":"added","routing_key":"clowder.metadata.added.dataset","metadata":{"a":1},"resourceType":"dataset"`, datasetID, false},
		"metadata that was removed from a file": {`"id":"` + fileID + `","datasetId":"","activity":"removed","routing_key":"clowder.metadata.removed.file"`, fileID, false},
		"an event of a resource without an id":  {`"id":"../../x","activity":"added","routing_key":"clowder.dataset.file.added"`, "", false},
		"an action that is not known":           {dataset + `"action":"something-else"`, datasetID, false},
		"an action that is no text":             {dataset + `"action":["manual-submission"]`, datasetID, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			req, key, err := decode(t, fromV1(tc.fields))
			require.Equal(t, []any{1, jobID, "clowder.abc", "KEY"}, []any{req.APIVersion, req.JobID, req.ReplyTo, key.Reveal()})
			require.Equal(t, tc.resource, req.ResourceID)
			if tc.submitted {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, message.ErrEvent)
			kind, _ := job.Classify(err)
			require.Equal(t, job.KindPermanent, kind)
		})
	}
}

func TestAMessageOfV2NeedsNoAction(t *testing.T) {
	t.Parallel()
	_, _, err := decode(t, with(t, map[string]any{"action": "added"}))
	require.NoError(t, err)
}

func TestEventsSayWhichFilesWereAdded(t *testing.T) {
	t.Parallel()
	const added, several = `"activity":"added","routing_key":"clowder.dataset.file.added"`, `"activity":"added","routing_key":"other.dataset.files.added",`
	const file, dataset = `"id":"` + fileID + `","datasetId":"` + datasetID + `",`, `"id":"` + datasetID + `","datasetId":"` + datasetID + `",`
	one := func(name string) job.Announced { return job.Announced{Name: name, JobID: jobID} }
	for name, tc := range map[string]struct {
		fields string
		want   []job.Announced
	}{
		"one file":                    {file + added, []job.Announced{{File: fileID, JobID: jobID}}},
		"several files":               {dataset + several + `"filenames":"List(a.csv, b (1).csv)"`, []job.Announced{one("a.csv"), one("b (1).csv")}},
		"several files without names": {dataset + several + `"filenames":"List()"`, nil},
		"names in another form":       {dataset + several + `"filenames":"a.csv"`, nil},
		"names that are a list":       {dataset + several + `"filenames":["a.csv"]`, nil},
		"a name that is too long":     {dataset + several + `"filenames":"List(` + strings.Repeat("x", 2000) + `, a)"`, []job.Announced{one("a")}},
		"very many names":             {dataset + several + `"filenames":"List(` + strings.Repeat("a, ", 3000) + `)"`, slices.Repeat([]job.Announced{one("a")}, 1000)},
		"a file outside of a dataset": {`"id":"` + fileID + `","datasetId":"",` + added, nil},
		"an id that is none":          {`"id":"../x","datasetId":"` + datasetID + `",` + added, nil},
		"a wrong key":                 {file + added + `,"secretKey":"a b"`, nil},
		"a file that was removed":     {file + `"activity":"removed","routing_key":"clowder.dataset.file.removed"`, nil},
		"a file that was uploaded":    {file + `"activity":"created","routing_key":"clowder.file.text.csv"`, nil},
		"metadata":                    {dataset + `"activity":"added","routing_key":"clowder.metadata.added.dataset"`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			req, _, err := decode(t, fromV1(tc.fields))
			require.ErrorIs(t, err, message.ErrEvent)
			require.Equal(t, tc.want, req.Announced)
		})
	}
	req, _, err := decode(t, fromV1(file+added+`,"action":"manual-submission"`))
	require.NoError(t, err)
	require.Empty(t, req.Announced, "what a person submits announces nothing")
}
