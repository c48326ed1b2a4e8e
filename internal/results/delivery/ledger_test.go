package delivery

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/job"
)

func TestLedgerBeginsNothingBeforeItIsOnDisk(t *testing.T) {
	t.Parallel()
	full := errors.New("disk full")
	fail := true
	l, err := OpenLedger(nil, func(json.RawMessage) error {
		if fail {
			return full
		}
		return nil
	})
	require.NoError(t, err)
	made := 0
	step := Step{
		Kind: KindFolder, Name: "finetune",
		Look: func(_ context.Context, prior Entry) (string, bool, error) {
			require.NotEqual(t, StateDone, prior.State)
			return "f1", made > 0, nil
		},
		Do: func(context.Context) (string, error) { made++; return "f1", nil },
	}
	_, err = l.Do(t.Context(), step)
	require.ErrorIs(t, err, full)
	require.Zero(t, made, "nothing is done before pending is on disk")
	fail = false
	id, err := l.Do(t.Context(), step)
	require.NoError(t, err)
	require.Equal(t, "f1", id)
	id, err = l.Do(t.Context(), step)
	require.NoError(t, err)
	require.Equal(t, "f1", id)
	require.Equal(t, 1, made)
}

func TestLedgerDoesWhatIsPlannedWithoutAnotherWrite(t *testing.T) {
	t.Parallel()
	saves := 0
	old := json.RawMessage(`[{"kind":"file","name":"report.html","sha256":"old","size":1,"state":"done","id":"f1"}]`)
	l, err := OpenLedger(old, func(json.RawMessage) error { saves++; return nil })
	require.NoError(t, err)
	report := Entry{Kind: KindFile, Name: "report.html", SHA256: "new", Size: 2}
	plan := []Entry{report, {Kind: KindFile, Name: "log.txt", SHA256: "log", Size: 3}, {Kind: KindMetadata, Name: "run"}}
	require.NoError(t, l.Plan(plan))
	require.NoError(t, l.Plan(plan))
	require.Equal(t, 1, saves, "what is planned is not planned again")
	require.Equal(t, "old", l.Entries()[0].SHA256, "what was delivered with other content is not forgotten")

	do := func(e Entry) (prior Entry) {
		_, err := l.Do(t.Context(), Step{
			Kind: e.Kind, Name: e.Name, SHA256: e.SHA256, Size: e.Size,
			Look: func(_ context.Context, p Entry) (string, bool, error) { prior = p; return "", false, nil },
			Do:   func(context.Context) (string, error) { return "id of " + e.Name, nil },
		})
		require.NoError(t, err)
		return prior
	}
	require.Equal(t, StatePending, do(plan[1]).State)
	require.Equal(t, StatePending, do(plan[2]).State)
	require.Equal(t, 1, saves)
	require.Equal(t, StateDone, do(report).State)
	require.Equal(t, 2, saves, "that it may be there with new content was not planned")
	for _, e := range l.Entries() {
		require.Equal(t, "id of "+e.Name, e.ID)
	}
}

func TestLedgerLooksForNothingWhereNothingCanBe(t *testing.T) {
	t.Parallel()
	l, err := OpenLedger(nil, func(json.RawMessage) error { return nil })
	require.NoError(t, err)
	l.Fresh()
	looks := 0
	step := Step{
		Kind: KindFile, Name: "report.html",
		Look: func(context.Context, Entry) (string, bool, error) { looks++; return "f1", true, nil },
		Do:   func(context.Context) (string, error) { return "", job.Unknown(errors.New("no answer")) },
	}
	id, err := l.Do(t.Context(), step)
	require.NoError(t, err)
	require.Equal(t, "f1", id)
	require.Equal(t, 1, looks, "only for what may have happened since")
	require.False(t, l.Made(KindFile, "report.html"), "nobody knows who has made it")
	require.False(t, l.Made(KindFile, "log.txt"))

	step.Name, step.Do = "log.txt", func(context.Context) (string, error) { return "f2", nil }
	_, err = l.Do(t.Context(), step)
	require.NoError(t, err)
	require.True(t, l.Made(KindFile, "log.txt"))
}

func TestOpenLedgerRefusesWhatIsNoLedger(t *testing.T) {
	t.Parallel()
	_, err := OpenLedger(json.RawMessage(`{"x":`), nil)
	require.Error(t, err)
}
