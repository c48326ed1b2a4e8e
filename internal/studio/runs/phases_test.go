package runs

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/results"
)

// at is an event of the first attempt, so many seconds after noon.
func at(seconds int, kind results.Kind, phase string) results.Event {
	return results.Event{Time: noon.Add(time.Duration(seconds) * time.Second), Attempt: 1, Kind: kind, Phase: phase}
}

func phase(seconds int, name string) results.Event { return at(seconds, results.KindPhase, name) }

func TestThePhasesOfARunHaveTheirTimes(t *testing.T) {
	t.Parallel()
	training := []results.Event{
		phase(2, "start"), phase(5, "prepare"), at(9, results.KindWarning, ""), phase(15, "train"), at(40, results.KindProgress, ""), phase(75, "test"), phase(80, "export"), at(90, results.KindDone, ""),
	}
	earlier := training[1]
	earlier.Attempt = 2
	back := append([]results.Event{}, training[:4]...)
	back = append(back, at(10, results.KindProgress, ""), at(20, results.KindProgress, ""))
	for name, c := range map[string]struct {
		events []results.Event
		rec    job.Record
		want   []Phase
	}{
		"of a training that is done": {training, job.Record{State: job.Done, Attempt: 1, Created: noon.Add(-time.Minute), Trained: noon}, []Phase{
			{Name: "Waiting", Seconds: 60}, {Name: "Starting", Seconds: 3}, {Name: "Data", Seconds: 10}, {Name: "Training", Seconds: 60}, {Name: "Test", Seconds: 5}, {Name: "Saving", Seconds: 10},
		}},
		"of one that goes on": {training[:5], job.Record{State: job.Running, Attempt: 1}, []Phase{
			{Name: "Starting", Seconds: 3}, {Name: "Data", Seconds: 10}, {Name: "Training", Seconds: 25, Now: true},
		}},
		"no phase goes on in a run that failed in it": {training[:5], job.Record{State: job.Failed, Attempt: 1}, []Phase{
			{Name: "Starting", Seconds: 3}, {Name: "Data", Seconds: 10}, {Name: "Training", Seconds: 25},
		}},
		"of a script, which begins no phase itself": {[]results.Event{phase(0, "start"), at(4, results.KindStarted, ""), at(9, results.KindScalar, "")}, job.Record{State: job.Running, Attempt: 1}, []Phase{
			{Name: "Starting", Seconds: 4}, {Name: "Script", Seconds: 5, Now: true},
		}},
		"of a second attempt the waiting is not known": {[]results.Event{training[0], training[3], earlier}, job.Record{State: job.Running, Attempt: 2, Created: noon, Trained: noon.Add(time.Hour)}, []Phase{
			{Name: "Data", Now: true},
		}},
		"a clock that went back takes no time away": {back, job.Record{State: job.Running, Attempt: 1}, []Phase{
			{Name: "Starting", Seconds: 3}, {Name: "Data", Seconds: 10}, {Name: "Training", Seconds: 10, Now: true},
		}},
		"a phase of a newer trainer is left out":    {[]results.Event{phase(0, "start"), phase(1, "dream"), phase(5, "test")}, job.Record{State: job.Running, Attempt: 1}, []Phase{{Name: "Starting", Seconds: 1}, {Name: "Test", Now: true}}},
		"events before any phase belong to none":    {[]results.Event{at(1, results.KindWarning, ""), at(4, results.KindResource, "")}, job.Record{State: job.Running, Attempt: 1}, nil},
		"nothing is known before the first event":   {nil, job.Record{State: job.Running, Attempt: 1}, nil},
		"a run that did not wait has no such phase": {nil, job.Record{State: job.Running, Attempt: 1, Created: noon, Trained: noon}, nil},
		"a run that only waited so far":             {nil, job.Record{State: job.Running, Attempt: 1, Created: noon, Trained: noon.Add(90 * time.Second)}, []Phase{{Name: "Waiting", Seconds: 90}}},
	} {
		got := phases(c.events, c.rec)
		for i := range got {
			require.NotEmpty(t, got[i].Text, name)
			got[i].Text = ""
		}
		require.Equal(t, c.want, got, name)
	}
	require.Equal(t, "1 min 30 s", newPhase("Waiting", 90*time.Second, false).Text)
}

func TestAPhaseThatComesTwiceIsAddedUp(t *testing.T) {
	t.Parallel()
	events := []results.Event{phase(0, "train"), phase(10, "test"), phase(12, "train"), phase(20, "export"), at(21, results.KindDone, "")}
	got := phases(events, job.Record{State: job.Done, Attempt: 1})
	require.Len(t, got, 3)
	require.InDelta(t, 18.0, got[0].Seconds, 0)
	require.Equal(t, []string{"Training", "Test", "Saving"}, []string{got[0].Name, got[1].Name, got[2].Name})
}
