package runs

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/results/report/chart"
)

func TestEachStateOfARecordHasAWordForPeople(t *testing.T) {
	t.Parallel()
	for state, want := range map[job.State]State{
		job.Accepted:  {Name: StateWaiting, Word: "being prepared", Sign: "◌"},
		job.Staged:    {Name: StateWaiting, Word: "waiting", Sign: "◌"},
		job.Submitted: {Name: StateWaiting, Word: "waiting", Sign: "◌"},
		job.Running:   {Name: StateRunning, Word: "running", Sign: "◐"},
		job.Finished:  {Name: StateRunning, Word: "saving its results", Sign: "◐"},
		job.Collected: {Name: StateRunning, Word: "saving its results", Sign: "◐"},
		job.Uploaded:  {Name: StateRunning, Word: "saving its results", Sign: "◐"},
		job.Done:      {Name: StateDone, Word: "done", Sign: "✓", Over: true},
		job.Failed:    {Name: StateFailed, Word: "failed", Sign: "✕", Over: true},
		job.Cancelled: {Name: StateCancelled, Word: "cancelled", Sign: "⊘", Over: true},
		job.Skipped:   {Name: StateCancelled, Word: "skipped", Sign: "⊘", Over: true},
	} {
		require.Equal(t, want, stateOf(job.Record{State: state}), state)
	}
	for _, state := range job.States() {
		require.Equal(t, state.Terminal(), stateOf(job.Record{State: state}).Over, state)
	}
	require.Equal(t, StateWaiting, nameOf("of a newer version"), "a state that this version does not know waits")
}

func TestACommandShowsInTheWordBeforeItHasWorked(t *testing.T) {
	t.Parallel()
	decided := &job.Ending{State: job.Failed}
	for _, c := range []struct {
		rec        job.Record
		name, word string
	}{
		{job.Record{State: job.Accepted, CancelledBy: "bob"}, StateWaiting, "being cancelled"},
		{job.Record{State: job.Running, CancelledBy: "bob"}, StateRunning, "being cancelled"},
		{job.Record{State: job.Running, StoppedBy: "bob"}, StateRunning, "stopping"},
		{job.Record{State: job.Running, StoppedBy: "bob", CancelledBy: "eve"}, StateRunning, "being cancelled"},
		{job.Record{State: job.Finished, StoppedBy: "bob"}, StateRunning, "saving its results"},
		{job.Record{State: job.Running, CancelledBy: "bob", Ending: decided}, StateFailed, "failed"},
		{job.Record{State: job.Collected, Ending: &job.Ending{State: job.Done}}, StateDone, "done"},
		{job.Record{State: job.Accepted, Ending: &job.Ending{State: job.Cancelled}}, StateCancelled, "cancelled"},
		{job.Record{State: job.Cancelled, CancelledBy: "bob"}, StateCancelled, "cancelled"},
	} {
		got := stateOf(c.rec)
		require.Equal(t, []string{c.name, c.word}, []string{got.Name, got.Word}, "%+v", c.rec)
		require.Equal(t, c.rec.Ending != nil || c.rec.State.Terminal(), got.Over, "an end that is decided stands: %+v", c.rec)
	}
}

func TestRunsOfOnePictureHaveDifferentColours(t *testing.T) {
	t.Parallel()
	var names []string
	for i := range chart.RunColours {
		names = append(names, fmt.Sprintf("ft-%d", i))
	}
	seen := map[int]bool{}
	for i, c := range colours(names) {
		require.False(t, seen[c], "the colour of %s is taken", names[i])
		require.True(t, c >= 0 && c < chart.RunColours, c)
		seen[c] = true
	}
	require.Equal(t, colourOf(names[0]), colours(names)[0], "the first run keeps the colour that it has elsewhere")
	require.Equal(t, []int{colourOf("ft-1"), (colourOf("ft-1") + 1) % chart.RunColours}, colours([]string{"ft-1", "ft-1"}))
	many := colours(append(names, "ft-more", "ft-most"))
	require.Len(t, many, chart.RunColours+2, "where all colours are taken, one is used twice")
	require.Equal(t, colourOf("ft-more"), many[chart.RunColours])
	require.Empty(t, colours(nil))
}
