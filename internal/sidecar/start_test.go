package sidecar

import (
	"context"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
)

// starts counts the starts of a process whose script appends a line for each.
func starts(t *testing.T, l *Local) int {
	t.Helper()
	doc, err := os.ReadFile(l.cfg.Python + ".starts")
	if os.IsNotExist(err) {
		return 0
	}
	require.NoError(t, err)
	return strings.Count(string(doc), "\n")
}

func TestAllWhoAskAtTheSameTimeGetTheSameProcess(t *testing.T) {
	t.Parallel()
	l := local(t, `echo x >> "$0.starts"; echo '{"port": 4711}'; exec cat`, time.Minute)
	places := make([]Endpoint, 8)
	var all sync.WaitGroup
	for i := range places {
		all.Go(func() {
			var err error
			if places[i], err = l.At(t.Context(), ""); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for _, place := range places {
		require.Equal(t, places[0].URL, place.URL)
		require.Equal(t, places[0].Token, place.Token)
	}
	require.Equal(t, 1, starts(t, l))
}

func TestAVisitorWhoLeavesDoesNotEndTheStart(t *testing.T) {
	t.Parallel()
	l := local(t, `echo x >> "$0.starts"; echo '{"port": 4711}'; exec cat`, time.Minute)
	gone, leave := context.WithCancel(t.Context())
	leave()
	_, err := l.At(gone, "")
	require.NoError(t, err)
	place, err := l.At(t.Context(), "")
	require.NoError(t, err)
	require.False(t, place.Woken, "the next visitor finds it")
	require.Equal(t, 1, starts(t, l))
}

func TestAProcessThatEndedByItselfIsStartedAgain(t *testing.T) {
	t.Parallel()
	l := local(t, `echo x >> "$0.starts"; echo '{"port": 4711}'`, time.Minute)
	first, err := l.At(t.Context(), "")
	require.NoError(t, err)
	<-l.running.ended // a time without requests has passed
	second, err := l.At(t.Context(), "")
	require.NoError(t, err)
	require.True(t, second.Woken)
	require.NotEqual(t, first.Token, second.Token)
	require.Equal(t, 2, starts(t, l))
}

func TestAnotherStartIsTriedAfterARest(t *testing.T) {
	t.Parallel()
	l := local(t, `echo x >> "$0.starts"; test -e "$0.repaired" && echo '{"port": 4711}' && exec cat`, time.Minute)
	_, failure := l.At(t.Context(), "")
	require.ErrorIs(t, failure, ErrNotSetUp)
	require.NoError(t, os.WriteFile(l.cfg.Python+".repaired", nil, 0o600))
	_, err := l.At(t.Context(), "")
	require.Equal(t, failure, err)
	require.Equal(t, 1, starts(t, l))
	l.failed = l.failed.Add(-restAfterFailure)
	place, err := l.At(t.Context(), "")
	require.NoError(t, err)
	require.Equal(t, "http://127.0.0.1:4711", place.URL)
	l.running.end()
	require.NoError(t, os.Remove(l.cfg.Python+".repaired"))
	_, err = l.At(t.Context(), "")
	require.ErrorIs(t, err, ErrNotSetUp)
	require.Equal(t, 3, starts(t, l), "a start that succeeded ends the rest after the one that failed")
}

func TestAProcessThatPrintsMuchIsNotHeldUp(t *testing.T) {
	t.Parallel()
	l := local(t, `echo '{"port": 4711}'; head -c 1000000 /dev/zero; echo done > "$0.done"; exec cat`, time.Minute)
	_, err := l.At(t.Context(), "")
	require.NoError(t, err)
	require.NoError(t, l.Close())
	require.FileExists(t, l.cfg.Python+".done", "a full pipe would have stopped it")
	require.NoError(t, l.Close(), "closing twice is no error")
}

func TestTheLogSaysWhyAProcessWasNotStartedAndTheVisitorDoesNot(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ body, want string }{
		"it says why": {
			`echo "Traceback:" >&2; echo "  ImportError: /opt/secret/lib.so" >&2; exit 3`,
			"it ended before it was ready: Traceback: ImportError: /opt/secret/lib.so",
		},
		"it says nothing": {`exit 3`, "it ended before it was ready: it said nothing"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			core, logs := observer.New(zap.WarnLevel)
			l := local(t, tc.body, time.Minute)
			l.cfg.Log = zap.New(core)
			_, err := l.At(t.Context(), "")
			require.EqualError(t, err, "this is not set up on this service: the process cannot be started, the log of the service says why")
			said := logs.FilterMessage("cannot start the process").All()
			require.Len(t, said, 1)
			require.Equal(t, tc.want, said[0].ContextMap()["error"])
		})
	}
}

func TestTheTrainerIsRunFromItsFolderWithTheArgumentsOfItsProcess(t *testing.T) {
	t.Parallel()
	l := local(t, `{ echo "$@"; echo "$PYTHONPATH"; pwd; } > "$0.seen"; echo '{"port": 4711}'; exec cat`, time.Minute)
	l.cfg.Arguments = []string{"serve", "--idle", "a b"}
	_, err := l.At(t.Context(), "")
	require.NoError(t, err)
	doc, err := os.ReadFile(l.cfg.Python + ".seen")
	require.NoError(t, err)
	seen := strings.Split(string(doc), "\n")
	require.Equal(t, []string{"-B -m trainer serve --idle a b", "/trainer"}, seen[:2])
	require.NotContains(t, string(doc), l.running.place.Token.Reveal(), "every user of the machine can read the arguments")
	require.DirExists(t, seen[2])
	here, err := os.Getwd()
	require.NoError(t, err)
	require.NotEqual(t, here, seen[2], "Python would import files of this folder")
}
