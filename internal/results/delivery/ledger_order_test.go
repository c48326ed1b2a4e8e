package delivery

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/job"
)

// memory is a ledger whose writes are kept, and a disk that can be full.
func memory(t *testing.T, doc string, writes *[]string, full *bool) *Ledger {
	t.Helper()
	l, err := OpenLedger(json.RawMessage(doc), func(doc json.RawMessage) error {
		if full != nil && *full {
			return errDiskFull
		}
		*writes = append(*writes, string(doc))
		return nil
	})
	require.NoError(t, err)
	return l
}

var errDiskFull = errors.New("no space left on the disk")

// neverLook fails a test that looks for an effect.
func neverLook(t *testing.T) func(context.Context, Entry) (string, bool, error) {
	t.Helper()
	return func(context.Context, Entry) (string, bool, error) {
		t.Error("there is nothing to look for")
		return "", false, nil
	}
}

func TestAFailedLookMakesNothingAndKeepsItsKind(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		err  error
		kind job.Kind
	}{
		"the other side is down":       {job.Retryable(errors.New("503")), job.KindRetryable},
		"what was found still grows":   {job.Later(arrival, errors.New("growing")), job.KindLater},
		"the other side forbids it":    {job.Permanent(errors.New("403")), job.KindPermanent},
		"an answer that never came":    {job.Unknown(errors.New("timeout")), job.KindUnknown},
		"the program is asked to stop": {context.Canceled, job.KindRetryable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var writes []string
			l := memory(t, "", &writes, nil)
			_, err := l.Do(t.Context(), Step{
				Kind: KindThumbnail, Name: "model.zip",
				Look: func(context.Context, Entry) (string, bool, error) { return "ignored", true, tc.err },
				Do: func(context.Context) (string, error) {
					t.Error("an effect is made though nobody knows whether it is there")
					return "", nil
				},
			})
			require.ErrorIs(t, err, tc.err)
			require.ErrorContains(t, err, "look for the thumbnail model.zip: ")
			kind, _ := job.Classify(err)
			require.Equal(t, tc.kind, kind)
			require.Empty(t, l.Entries())
			require.Empty(t, writes)
		})
	}
}

func TestAnEffectOfUnknownOutcomeStaysPendingWhereTheLookFails(t *testing.T) {
	t.Parallel()
	lost := job.Unknown(errors.New("the answer was lost"))
	for name, look := range map[string]func(context.Context, Entry) (string, bool, error){
		"nothing is found":    func(context.Context, Entry) (string, bool, error) { return "", false, nil },
		"the look fails":      func(context.Context, Entry) (string, bool, error) { return "", false, errors.New("503") },
		"the look is too old": func(context.Context, Entry) (string, bool, error) { return "x", true, errors.New("503") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var writes []string
			l := memory(t, "", &writes, nil)
			l.Fresh()
			made := 0
			step := Step{Kind: KindFile, Name: "a", SHA256: "1", Size: 5, Look: look}
			step.Do = func(context.Context) (string, error) { made++; return "half", lost }
			_, err := l.Do(t.Context(), step)
			require.EqualError(t, err, "make the file a: the answer was lost", "the caller hears of the effect, not of the look")
			kind, _ := job.Classify(err)
			require.Equal(t, job.KindUnknown, kind)
			require.Equal(t, 1, made, "it is not repeated within the same call")
			require.Equal(t, []Entry{{Kind: KindFile, Name: "a", SHA256: "1", Size: 5, State: StatePending}}, l.Entries())

			again := memory(t, writes[len(writes)-1], &writes, nil)
			step.Look = func(_ context.Context, prior Entry) (string, bool, error) {
				require.Equal(t, StatePending, prior.State, "a later process knows that it may have happened")
				return "found", true, nil
			}
			id, err := again.Do(t.Context(), step)
			require.NoError(t, err)
			require.Equal(t, "found", id)
			require.Equal(t, 1, made)
			require.False(t, again.Made(KindFile, "a"))
		})
	}
}

func TestAPlanThatIsNotOnDiskIsNoPlan(t *testing.T) {
	t.Parallel()
	var writes []string
	full := true
	l := memory(t, "", &writes, &full)
	plan := []Entry{{Kind: KindFile, Name: "a", ID: "forged", State: StateDone}, {Kind: KindFolder, Name: "a"}, {Kind: KindFile, Name: "a"}}
	err := l.Plan(plan)
	require.ErrorIs(t, err, errDiskFull)
	require.EqualError(t, err, "save the ledger of the delivery: no space left on the disk")
	require.Empty(t, l.Entries())

	full = false
	require.NoError(t, l.Plan(plan))
	require.Len(t, writes, 1)
	require.Equal(t, []Entry{{Kind: KindFile, Name: "a", State: StatePending}, {Kind: KindFolder, Name: "a", State: StatePending}}, l.Entries(),
		"an effect is known by its kind and name, and a plan cannot say that it has happened")
	require.NoError(t, l.Plan(nil))
	require.Len(t, writes, 1)
}

func TestAForgottenEffectIsMadeAgainAndTheOthersAreNot(t *testing.T) {
	t.Parallel()
	var writes []string
	full := false
	const doc = `[{"kind":"file","name":"a","sha256":"1","state":"done","id":"f1"},{"kind":"thumbnail","name":"a","state":"done","id":"t1"}]`
	l := memory(t, doc, &writes, &full)
	full = true
	require.ErrorIs(t, l.Forget(KindFile, "a"), errDiskFull)
	require.Len(t, l.Entries(), 2, "what is still on disk is not forgotten")
	full = false
	require.NoError(t, l.Forget(KindFile, "a"))
	require.NoError(t, l.Forget(KindFile, "never known"))
	require.Equal(t, []Entry{{Kind: KindThumbnail, Name: "a", State: StateDone, ID: "t1"}}, l.Entries())

	id, err := l.Do(t.Context(), Step{
		Kind: KindFile, Name: "a", SHA256: "1",
		Look: func(context.Context, Entry) (string, bool, error) { return "", false, nil },
		Do:   func(context.Context) (string, error) { return "f2", nil },
	})
	require.NoError(t, err)
	require.Equal(t, "f2", id)
	id, err = l.Do(t.Context(), Step{Kind: KindThumbnail, Name: "a", Look: neverLook(t)})
	require.NoError(t, err)
	require.Equal(t, "t1", id)
}

func TestIDsComeInTheOrderOfTheirSteps(t *testing.T) {
	t.Parallel()
	var writes []string
	l := memory(t, "", &writes, nil)
	l.Fresh()
	steps := make([]Step, 3*atOnce)
	release := make(chan struct{})
	for i := range steps {
		steps[i] = Step{Kind: KindFile, Name: strconv.Itoa(i), Look: neverLook(t), Do: func(context.Context) (string, error) {
			if i == 0 {
				<-release // the first one ends after one that began later
			}
			if i == 1 {
				close(release)
			}
			return fmt.Sprintf("id %d", i), nil
		}}
	}
	ids, err := l.DoAll(t.Context(), steps)
	require.NoError(t, err)
	for i, id := range ids {
		require.Equal(t, fmt.Sprintf("id %d", i), id)
		require.True(t, l.Made(KindFile, strconv.Itoa(i)))
	}
	doc, err := l.Encode()
	require.NoError(t, err)
	again := memory(t, string(doc), &writes, nil)
	for i := range steps {
		require.False(t, again.Made(KindFile, strconv.Itoa(i)), "a later process did not make it")
		steps[i].Do = nil
	}
	read, err := again.DoAll(t.Context(), steps)
	require.NoError(t, err)
	require.Equal(t, ids, read, "what is done is not looked for")
}

func TestOfSeveralFailuresThatOfTheFirstStepIsReported(t *testing.T) {
	t.Parallel()
	var writes []string
	l := memory(t, "", &writes, nil)
	l.Fresh()
	second := make(chan struct{})
	step := func(name string, do func() error) Step {
		return Step{Kind: KindFile, Name: name, Look: neverLook(t), Do: func(context.Context) (string, error) { return "id", do() }}
	}
	ids, err := l.DoAll(t.Context(), []Step{
		step("a", func() error { <-second; return job.Permanent(errors.New("refused")) }),
		step("b", func() error { defer close(second); return job.Retryable(errors.New("503")) }),
		step("c", func() error { return nil }),
	})
	require.Nil(t, ids)
	require.EqualError(t, err, "make the file a: refused", "the same failures give the same sentence, whichever comes first")
	kind, _ := job.Classify(err)
	require.Equal(t, job.KindPermanent, kind)
}

func TestALedgerHandsOutCopies(t *testing.T) {
	t.Parallel()
	var writes []string
	l := memory(t, `[{"kind":"file","name":"a","state":"done","id":"f1"}]`, &writes, nil)
	l.Entries()[0].ID = "forged"
	require.Equal(t, "f1", l.Entries()[0].ID)
}
