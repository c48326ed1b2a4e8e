//go:build integration

// Package e2e runs the main job with nothing played but Clowder: a real RabbitMQ, a real Ray, the real training program,
// and the service as a process that is killed in the middle.
package e2e

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/rayjob/raylocal"
	"github.com/ncsa/clowder-ray/internal/rayjob/raytest"
	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/test/broker"
	"github.com/ncsa/clowder-ray/test/stack"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(broker.Main(m)) }

// testTimeout is for a whole training beside other tests on a small machine.
const testTimeout = 5 * time.Minute

func TestAServiceKilledInTheMiddleOfATrainingDeliversItOnce(t *testing.T) {
	python := raytest.Python(t)
	files := map[string]string{}
	for _, name := range []string{"train.csv", "test.csv"} {
		body, err := os.ReadFile(filepath.Join(stack.Root(), "test", "dataset", "reviews", name))
		require.NoError(t, err)
		files[name] = string(body)
	}
	w := stack.NewFixture(t, stack.Program(t), files)
	ray, err := raylocal.Start(t.Context(), raylocal.Config{Python: python, Dir: t.TempDir()})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, ray.Stop()) })
	w.Env["RAY_ADDRESS"], w.Env["RAY_AUTH_TOKEN_PATH"], w.Env["RAY_PYTHON"] = ray.Address, ray.TokenFile, python

	first := w.Start(t, nil)
	id := w.Submit(t, w.Dataset, map[string]any{"model": "bert-tiny"}) // the default is done before it can be killed
	require.Eventually(t, func() bool {                                // an epoch is over, and two are to come
		logs, err := filepath.Glob(filepath.Join(w.Env["SHARED_DIR"], "runs", "*", results.EventsFile))
		if err != nil || len(logs) == 0 {
			return false
		}
		events, err := results.ReadEvents(disk.Folder{Volume: filepath.Dir(logs[0])})
		return err == nil && slices.ContainsFunc(events, func(e results.Event) bool { return e.Kind == results.KindEval })
	}, testTimeout, 20*time.Millisecond)
	first.Kill()
	require.Equal(t, job.Running, w.Records(t)[0].State)

	second := w.Start(t, nil)
	last, updates := w.AwaitJob(t, id)
	require.Equal(t, "SUCCEEDED", last.Status, "%s\n%s", last.Message, second.Log())
	records := w.AwaitRecords(t, 1)
	require.Equal(t, job.Done, records[0].State)
	require.Equal(t, 1, records[0].Attempt, "the training was found again and not begun again")
	told := slices.Collect(func(yield func(string) bool) {
		for _, u := range updates {
			if strings.Contains(u.Text, "held-out ") && !yield(u.Text) {
				return
			}
		}
	})
	require.Len(t, told, 1, "one last word")

	uploaded, err := w.Session.Files(t.Context(), w.Dataset)
	require.NoError(t, err)
	names := map[string]int{}
	for _, f := range uploaded {
		if strings.HasPrefix(f.Path, "finetune/") {
			names[path.Base(f.Path)]++
		}
	}
	for _, name := range []string{"model.zip", "metrics.json", "predictions.csv", "report.html", "loss.png", "model_card.md", "manifest.json", "log.txt"} {
		require.Equal(t, 1, names[name], name)
	}
	require.Regexp(t, `(?i)accuracy 0\.`, last.Message, "the sentence has the score")
	w.RequireNoKey(t, first.Log(), second.Log(), last.Message)
}
