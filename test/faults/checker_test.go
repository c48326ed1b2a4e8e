package faults

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/clowder/clowdertest"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/results/delivery"
)

// good is the history of one job in which every promise is kept.
func good(tb testing.TB) History {
	tb.Helper()
	ledger, err := json.Marshal([]delivery.Entry{
		{Kind: delivery.KindFolder, Name: "run", State: delivery.StateDone},
		{Kind: delivery.KindFile, Name: "model.zip", SHA256: "aa", State: delivery.StateDone},
	})
	require.NoError(tb, err)
	return History{
		Sent: []Sent{{JobID: "1", Confirmed: true}},
		Statuses: []Status{
			{"1", "STARTED", "Accepted"}, {"1", "PROCESSING", "Training"}, {"1", "SUCCEEDED", "Accuracy 0.9"},
		},
		Files:     []File{{Run: "ft-ax", Dataset: "d", Path: "finetune/ax/model.zip", SHA256: "aa"}},
		Notes:     []Note{{Run: "ft-ax", Resource: "d", Listener: "l"}},
		Trainings: []string{"ft-ax-a1"},
		Trail:     []Step{{"ft-ax", 1, job.Accepted}, {"ft-ax", 1, job.Running}, {"ft-ax", 1, job.Done}},
		Records:   []job.Record{{Run: "ft-ax", State: job.Done, Request: job.Request{JobID: "1"}, Ledger: ledger}},
		Texts:     map[string]string{"the log": "all is well"},
		Gauges:    []Gauge{{Name: "goroutines", Before: 40, After: 44, Slack: 5}},
	}
}

func TestAGoodHistoryBreaksNoPromise(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*History){
		"as it is":                    func(*History) {},
		"nothing happened":            func(h *History) { *h = History{} },
		"a message that still waits":  func(h *History) { h.Sent = append(h.Sent, Sent{"2", true}); h.Waiting = []string{"2"} },
		"a message that was not safe": func(h *History) { h.Sent = append(h.Sent, Sent{"2", false}) },
		"a second attempt of a lost one": func(h *History) {
			h.Trail = []Step{{"ft-ax", 1, job.Running}, {"ft-ax", 2, job.Staged}, {"ft-ax", 2, job.Done}}
			h.Trainings = append(h.Trainings, "ft-ax-a2")
		},
		"a run that goes on in the job that asked for its retry": func(h *History) {
			h.Sent = append(h.Sent, Sent{"0", true})
			h.Statuses = append(h.Statuses, Status{"0", "ERROR", "Cancelled by alice"})
			h.Records = append(h.Records, job.Record{Run: "ft-y", State: job.Done, Request: job.Request{JobID: "1"}})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := good(t)
			change(&h)
			require.Empty(t, Check(h))
		})
	}
}

func TestEveryBrokenPromiseIsFound(t *testing.T) {
	t.Parallel()
	say := func(s ...Status) func(*History) { return func(h *History) { h.Statuses = append(h.Statuses, s...) } }
	for name, tc := range map[string]struct {
		change func(*History)
		want   Rule
		text   string
	}{
		"a job without an end":          {func(h *History) { h.Statuses = h.Statuses[:2] }, Lost, "job 1 has no end"},
		"a job that was never heard of": {func(h *History) { h.Sent = append(h.Sent, Sent{"2", true}) }, Lost, "job 2 has no end"},
		"a record that stays": {func(h *History) {
			h.Records[0].State, h.Statuses, h.Sent[0].Confirmed = job.Collected, nil, false
		}, Lost, "stays collected"},
		"a result that is gone":        {func(h *History) { h.Files = nil }, Lost, "does not have it"},
		"an end that is told twice":    {say(Status{"1", "SUCCEEDED", "Accuracy 0.9"}), Doubled, "told its end twice"},
		"an attempt that is run twice": {func(h *History) { h.Trainings = append(h.Trainings, "ft-ax-a1") }, Doubled, "trained twice"},
		"a file that is there twice":   {func(h *History) { h.Files = append(h.Files, h.Files[0]) }, Doubled, "model.zip"},
		"metadata that is there twice": {func(h *History) { h.Notes = append(h.Notes, h.Notes[0]) }, Doubled, "metadata"},
		"statuses of nobody's job":     {say(Status{"9", "STARTED", "Accepted"}), Invented, `job "9"`},
		"a record of nobody's job": {func(h *History) {
			h.Records = append(h.Records, job.Record{Run: "ft-z", State: job.Done})
		}, Invented, "ft-z"},
		"a training of no run":             {func(h *History) { h.Trainings = append(h.Trainings, "ft-z-a1") }, Invented, "ft-z-a1"},
		"a file of no run":                 {func(h *History) { h.Files = append(h.Files, File{Path: "finetune/z/a"}) }, Invented, "finetune/z/a"},
		"metadata of no run":               {func(h *History) { h.Notes = append(h.Notes, Note{Run: "ft-z"}) }, Invented, "ft-z"},
		"a file of other bytes":            {func(h *History) { h.Files[0].SHA256 = "bb" }, Torn, "other bytes"},
		"a file without a body":            {func(h *History) { h.Files[0].Unfinished = true }, Torn, "without a body"},
		"a ledger that cannot be read":     {func(h *History) { h.Records[0].Ledger = json.RawMessage("{") }, Torn, "ledger"},
		"a state that goes back":           {func(h *History) { h.Trail = append(h.Trail[:2], Step{"ft-ax", 1, job.Staged}) }, Backwards, "running"},
		"an attempt that goes back":        {func(h *History) { h.Trail[0].Attempt = 2 }, Backwards, "attempt 2"},
		"an end that becomes another":      {func(h *History) { h.Trail = append(h.Trail, Step{"ft-ax", 1, job.Failed}) }, Backwards, "failed"},
		"a word after the last":            {say(Status{"1", "PROCESSING", "Uploading"}), Contradicted, "Uploading"},
		"a second end":                     {say(Status{"1", "ERROR", "no"}), Contradicted, "no"},
		"an end that the store denies":     {func(h *History) { h.Records[0].State = job.Failed }, Contradicted, "the store says"},
		"a key in a text":                  {func(h *History) { h.Texts["a header"] = "x" + clowdertest.JobKeyMark + "y" }, Leaked, "a header"},
		"goroutines that do not come back": {func(h *History) { h.Gauges[0].After = 46 }, Leaked, "goroutines grew from 40 to 46"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := good(t)
			tc.change(&h)
			found := Check(h)
			require.Len(t, found, 1, "%v", found)
			require.Equal(t, tc.want, found[0].Rule)
			require.Contains(t, found[0].String(), tc.text)
		})
	}
}
