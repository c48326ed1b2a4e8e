package pipeline

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/job/jobtest"
)

// submitFile stores a job about a file, as the intake does, in the name of a sender.
func (b *bench) submitFile(t *testing.T, run string, sender job.Sender, alter func(*job.Record)) {
	t.Helper()
	rec := jobtest.Record(run, "hash of "+run)
	rec.Request.Kind, rec.Request.ResourceID = job.File, strings.Repeat("f", 24)
	if sender == job.Feed {
		rec.Request.Parameters = nil
	}
	if alter != nil {
		alter(&rec)
	}
	b.platform.mu.Lock()
	if b.platform.senders == nil {
		b.platform.senders = map[string]job.Sender{}
	}
	b.platform.senders[run] = sender
	b.platform.mu.Unlock()
	_, _, err := b.store.Accept(t.Context(), rec)
	require.NoError(t, err)
}

// A new version of a file brings every older job of it again. Only the content and the settings say whether one of them has work to do.
func TestWhatClowderSubmitsByItselfTrainsOncePerContentAndSettings(t *testing.T) {
	otherSettings := func(r *job.Record) { r.Request.Parameters = map[string]any{"epochs": "9"} }
	for name, tc := range map[string]struct {
		sender job.Sender
		alter  func(*job.Record)
		first  func(*job.Record) // the earlier job
		body   string            // of a second file that the later job reads
		state  job.State
	}{
		"the same again":                    {job.NewVersion, nil, nil, "", job.Skipped},
		"other content":                     {job.NewVersion, nil, nil, "new", job.Done},
		"other settings":                    {job.NewVersion, otherSettings, nil, "", job.Done},
		"another extractor":                 {job.NewVersion, func(r *job.Record) { r.Request.Extractor = "ncsa.ray.finetune-advanced" }, nil, "", job.Done},
		"another user":                      {job.NewVersion, func(r *job.Record) { *r = job.New(r.Run, r.Kind, r.Request, "key of bob") }, nil, "", job.Done},
		"another file":                      {job.NewVersion, func(r *job.Record) { r.Request.ResourceID = strings.Repeat("e", 24) }, nil, "", job.Done},
		"a person asks again":               {job.Person, nil, nil, "", job.Done},
		"a job of a feed, after one of the": {job.Feed, nil, func(r *job.Record) { r.Request.Parameters = nil }, "", job.Skipped},
		"the first one was refused":         {job.NewVersion, otherSettings, func(r *job.Record) { r.Request.Parameters = map[string]any{"epochs": 0} }, "", job.Done},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := setup(t)
				b.submitFile(t, run, job.Person, tc.first)
				b.runUntilOver(t)
				if tc.body != "" {
					b.platform.files = map[string]string{"more.csv": tc.body}
				}
				b.submitFile(t, "ft-two", tc.sender, tc.alter)
				again := setupOn(t, b.dir, b.store)
				again.platform.senders, again.platform.files = b.platform.senders, b.platform.files
				again.runUntilOver(t)
				rec := b.get(t, "ft-two")
				require.Equal(t, tc.state, rec.State)
				if tc.state == job.Done {
					require.NotEmpty(t, rec.Settings.Values)
					require.NotNil(t, rec.Resolved)
				}
				if tc.state == job.Skipped {
					require.Contains(t, rec.Ending.Text, "Run ft-one has the result")
					require.Contains(t, rec.Ending.Text, "Results in folder x", "and where")
					require.Contains(t, rec.Ending.Text, "To run it again, submit the dataset")
					require.Empty(t, again.submitted())
				}
			})
		})
	}
}

func TestEqualJobsThatComeAtOnceTrainOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, func(c *Config) { c.MaxJobs, c.MaxDownloads = 20, 8 })
		for i := range 8 {
			b.submitFile(t, "ft-"+strconv.Itoa(i), job.NewVersion, nil)
		}
		b.runUntilOver(t)
		states := map[job.State]int{}
		for i := range 8 {
			rec := b.get(t, "ft-"+strconv.Itoa(i))
			states[rec.State]++
			if rec.State == job.Skipped {
				require.Regexp(t, `Run ft-\d (is at work on|has the result for) the same content`, rec.Ending.Text)
			}
		}
		require.Equal(t, map[job.State]int{job.Done: 1, job.Skipped: 7}, states)
		require.Len(t, b.submitted(), 1)
	})
}

func TestAFeedStartsNoMoreJobsThanItMay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, func(c *Config) { c.FeedJobsPerDay, c.MaxJobs, c.MaxDownloads = 3, 40, 8 })
		match := func(i int) {
			b.submitFile(t, fmt.Sprintf("ft-%02d", i), job.Feed, func(r *job.Record) { r.Request.ResourceID = fmt.Sprintf("f%023d", i) })
		}
		for i := range 20 {
			match(i)
		}
		for i := range 4 {
			b.submitFile(t, "ft-person-"+strconv.Itoa(i), job.Person, nil)
		}
		b.submitFile(t, "ft-bob", job.Feed, func(r *job.Record) { *r = job.New(r.Run, r.Kind, r.Request, "key of bob") })
		b.runUntilOver(t)
		require.Len(t, b.submitted(), 3+4+1, "a person and another user are not limited by it")
		skipped := 0
		for i := range 20 {
			if rec := b.get(t, fmt.Sprintf("ft-%02d", i)); rec.State == job.Skipped {
				skipped++
				require.Contains(t, rec.Ending.Text, "3 jobs of that kind began for you")
			}
		}
		require.Equal(t, 17, skipped)

		<-time.After(25 * time.Hour)
		again := setupOn(t, b.dir, b.store, func(c *Config) { c.FeedJobsPerDay = 3 })
		again.platform.senders = b.platform.senders
		match(20)
		again.runUntilOver(t)
		require.Equal(t, job.Done, b.get(t, "ft-20").State, "a day later")
	})
}

// The decision of a job that was killed after it is made again, and comes out the same.
func TestARepeatedDecisionAboutARepeatIsTheSame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t)
		b.submitFile(t, run, job.NewVersion, nil)
		b.runUntilOver(t)
		likeness := b.get(t, run).Likeness
		require.NotEmpty(t, likeness)

		b = setup(t)
		b.submitFile(t, run, job.NewVersion, func(r *job.Record) { r.SentBy, r.Likeness = job.NewVersion, likeness })
		b.submitFile(t, "ft-two", job.NewVersion, func(r *job.Record) { r.SentBy = job.NewVersion })
		b.runUntilOver(t)
		require.Len(t, b.submitted(), 1)
		require.ElementsMatch(t, []job.State{job.Done, job.Skipped}, b.states(t, run, "ft-two"))
	})
}

func TestARequestAboutRunsIsNeverRepeatedThroughAFile(t *testing.T) {
	for _, action := range []string{"promote", "cancel", "export", "stop and keep", "retry"} {
		t.Run(action, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := setup(t)
				b.register(t, jobtest.Record(run, "h").Request.DatasetID, "films", "ft-old")
				for i, sender := range []job.Sender{job.NewVersion, job.Person} {
					b.submitFile(t, "ft-request-"+strconv.Itoa(i), sender, func(r *job.Record) {
						r.Kind, r.Request.Extractor, r.Request.Parameters = job.Runs, "ncsa.ray.runs", map[string]any{"action": action, "run": "films/1"}
					})
				}
				b.runUntilOver(t)
				for i := range 2 {
					rec := b.get(t, "ft-request-"+strconv.Itoa(i))
					require.Equal(t, job.Failed, rec.State)
					require.True(t, rec.Ending.BadInput)
				}
				require.Empty(t, b.platform.notes)
				require.Empty(t, b.platform.delivered)
			})
		})
	}
}

func TestARetryIsTheWishOfAPerson(t *testing.T) {
	t.Parallel()
	rec := jobtest.Record(run, "h")
	rec.SentBy = job.Feed
	rec.End(job.Failed, "Ray was away")
	require.NoError(t, rec.Close())
	require.NoError(t, rec.Retry())
	require.Equal(t, job.Person, rec.SentBy)
}
